// SPDX-License-Identifier: MIT
"use strict";

// Text of the target is never markup: it only becomes text nodes, and titles. Characters that one cannot
// see, or that reverse the order of what follows, are shown in Ruby's notation, as in the text report (see
// rcore_unsafe_character() of base/text.c).
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff]|\ud834[\udd73-\udd7a]|\udb40[\udc00-\udc7f]|[\ud800-\udbff](?![\udc00-\udfff])/g;
const LETTERS = { 7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 27: "e" };

function safe(text) {
	return String(text).replace(UNSAFE, (found) => {
		const code = found.codePointAt(0), hex = code.toString(16).toUpperCase();
		return LETTERS[code] ? "\\" + LETTERS[code] : code < 0x80 ? "\\x" + hex.padStart(2, "0") : `\\u{${hex}}`;
	});
}

// "app/order.rb:3"; without a line the path alone, and "" without a path.
function at(path, line) {
	return path ? line ? `${path}:${line}` : path : "";
}

// null without content.
function section(id, title, ...content) {
	const shown = content.flat().filter(Boolean);
	return shown.length ? make("section", { id }, make("h2", {}, title), shown) : null;
}

function problem(text) {
	return text ? make("p", { class: "problem" }, text) : null;
}

// An element: make("a", { href: "#T1", class: "id" }, "T1", " ", other). Members that are undefined or
// false are left out; so are children.
function make(name, members, ...children) {
	const space = SVG.has(name) ? "http://www.w3.org/2000/svg" : "http://www.w3.org/1999/xhtml";
	const element = document.createElementNS(space, name);
	for (const [key, value] of Object.entries(members || {})) {
		if (value === undefined || value === false || value === null) continue;
		else if (typeof value === "function") element.addEventListener(key, value);
		else element.setAttribute(key, value === true ? "" : safe(value));
	}
	for (const child of children.flat()) {
		if (child === undefined || child === false || child === null || child === "") continue;
		element.append(child instanceof Node ? child : safe(child));
	}
	return element;
}

const SVG = new Set(["svg", "g", "rect", "path", "text", "title", "marker", "defs"]);

function count(number, noun) {
	return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

// A link to the place of a thread, fiber or frame on the page.
function link(id, text) {
	return make("a", { href: "#" + id, class: "id" }, text || id);
}

const IDS = /\b([TE]\d+(?:\.F\d+)?)\b/;

// A sentence of rcore's, in which ids of threads and fibers become links.
function sentence(text) {
	return String(text || "").split(IDS).map((part, index) => index % 2 && isKnown(part) ? link(part) : part);
}

// A section of details. `fill` makes its content when it is opened for the first time: reports have
// thousands of stacks, of which a reader looks at a few.
function foldable(members, summary, fill) {
	const details = make("details", members, make("summary", {}, summary));
	let isFilled = false;
	details.fill = () => {
		if (isFilled) return;
		isFilled = true;
		details.append(...[fill()].flat().filter(Boolean));
	};
	details.addEventListener("toggle", () => details.open && details.fill());
	return details;
}

function unfoldDetails(details) {
	details.fill();
	details.open = true;
	return details;
}

// Rows of a table of two columns; those without a value are left out.
function facts(rows) {
	const shown = rows.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "" && !(Array.isArray(value) && !value.length));
	return shown.length ? make("dl", { class: "facts" }, shown.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])) : null;
}

function table(heads, rows) {
	return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": heads.join(", ") },
		make("table", {},
			make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
			make("tbody", {}, rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, cell)))))));
}

const CHUNK = 200; // members of a list that are shown at a time

// Elements for many members, CHUNK of them at a time. `show(index)` makes sure that one of them is there.
function chunks(members, element) {
	const box = make("div", { class: "members" });
	let shown = 0;
	const more = make("button", { type: "button", click: () => show(shown) }, "");
	function show(index) {
		while (shown < members.length && shown <= index) {
			const next = members.slice(shown, shown + CHUNK).map(element);
			shown += next.length;
			more.remove();
			box.append(...next);
		}
		more.textContent = `${(members.length - shown).toLocaleString("en")} more`;
		if (shown < members.length) box.append(more);
	}
	show(0);
	return { box, show };
}
