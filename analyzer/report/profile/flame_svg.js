// SPDX-License-Identifier: MIT
"use strict";

// Searches a flame graph that is an image of its own, with a button and a prompt.
(function () {
	const byId = (id) => document.getElementById(id);
	const button = byId("search");
	const graph = flameGraph({
		canvas: byId("frames"), details: byId("details"), reset: byId("reset"), found: byId("found"),
		onChange(wanted) { button.textContent = wanted ? "Stop searching" : "Search"; },
	});

	function search() {
		if (graph.searched()) graph.search(null);
		else graph.search(prompt("Search for a name, or a part of it (a regular expression)", ""));
	}

	button.addEventListener("click", search);
	addEventListener("keydown", (event) => {
		if (!(event.ctrlKey || event.metaKey) || event.key !== "f") return;
		event.preventDefault();
		search();
	});
})();
