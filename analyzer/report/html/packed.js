// SPDX-License-Identifier: MIT
"use strict";

// The text of the page's data, which is JSON.
async function unpack() {
	const packed = atob(document.getElementById("data").textContent);
	const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Response(stream).text();
}

// Shows the page: calls `build` with the text of its data.
function start(build) {
	unpack().then((source) => {
		build(source);
		document.documentElement.dataset.ready = String(Math.round(performance.now()));
	}).catch((error) => {
		const old = typeof DecompressionStream === "undefined" ? "It needs Chrome 80, Firefox 113 or Safari 16.4, or newer. " : "";
		document.body.append(make("p", { class: "cause bad" }, `This browser cannot show the page (${error.message}). ${old}rcore prints the same as text.`));
	});
}

function writtenBy() {
	return ["Written by ", document.querySelector("meta[name=generator]").content, ". "];
}

// "/" goes to the search, and Escape there clears it; calls `search` with the text.
function searchKeys(search) {
	addEventListener("keydown", (event) => {
		const field = document.getElementById("search");
		if (!field || event.ctrlKey || event.metaKey || event.altKey) return;
		if (event.key === "/" && document.activeElement !== field) {
			event.preventDefault();
			field.focus();
		} else if (event.key === "Escape" && document.activeElement === field) {
			search(field.value = "");
		}
	});
}
