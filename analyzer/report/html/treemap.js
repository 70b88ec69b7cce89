// SPDX-License-Identifier: MIT
"use strict";

// A map of a tree: the areas of rectangles are what their nodes retain. nodes: [{above, title, text, value, own}],
// each after the one above it. Shows one node with what is below it; a click, a tap or Enter goes into a
// rectangle, Escape or a link above the map goes back. The node is in the address: #node=12. show(index) is
// called with the node that is shown.
function treemap(nodes, show) {
	const HEIGHT = 420, LEAST = 90, MOST = 80; // square pixels of a rectangle that is drawn; rectangles
	const below = nodes.map(() => []);
	nodes.forEach((node, index) => index && below[node.above].push(index));
	for (const list of below) list.sort((a, b) => nodes[b].value - nodes[a].value);
	const path = make("nav", { "aria-label": "Where the map is" }), told = make("p", { id: "details", role: "status" });
	const canvas = make("svg", { id: "map", role: "group", "aria-label": "Map of what is retained", width: "100%", height: HEIGHT, preserveAspectRatio: "none" });
	let current = 0;

	// "Squarified": Bruls, Huizing, van Wijk, 2000. Rows of rectangles that are as square as they can be.
	function place(list, box, draw) {
		let { x, y, width, height } = box, sum = list.reduce((all, index) => all + nodes[index].value, 0), at = 0;
		const room = box.whole;
		while (at < list.length && sum > 0 && width > 1 && height > 1) {
			const side = Math.min(width, height), scale = box.width * box.height / room;
			const worst = (total, least, most) => Math.max(side * side * most / (total * total), total * total / (side * side * least));
			let end = at, total = 0, ratio = Infinity;
			for (; end < list.length; end++) {
				const area = nodes[list[end]].value * scale, next = worst(total + area, area, nodes[list[at]].value * scale);
				if (end > at && next > ratio) break;
				total += area;
				ratio = next;
			}
			const depth = total / side;
			let offset = 0;
			for (let i = at; i < end; i++) {
				const length = nodes[list[i]].value * scale / depth;
				draw(list[i], width >= height ? { x, y: y + offset, width: depth, height: length } : { x: x + offset, y, width: length, height: depth });
				offset += length;
				sum -= nodes[list[i]].value;
			}
			if (width >= height) [x, width] = [x + depth, width - depth];
			else [y, height] = [y + depth, height - depth];
			at = end;
		}
	}

	function color(title) {
		let hash = 7;
		for (const character of title) hash = (hash * 31 + character.codePointAt(0)) % 360;
		return `hsl(${hash},45%,78%)`;
	}

	// What one reads without opening it: as much of its name as fits, and its size.
	function cell(index, { x, y, width, height }) {
		const node = nodes[index], letters = Math.floor((width - 8) / 7);
		const fit = (text) => letters < 3 ? "" : text.length <= letters ? text : text.slice(0, letters - 1) + "\u2026";
		const about = `${node.title}: ${node.text}`;
		return make("g", { "data-node": index, role: "button", tabindex: "0", "aria-label": about }, make("title", {}, about),
			make("rect", { x, y, width: Math.max(0, width - 1), height: Math.max(0, height - 1), fill: color(node.title) }),
			height > 16 && make("text", { x: x + 4, y: y + 13 }, fit(node.title)), height > 32 && make("text", { x: x + 4, y: y + 28 }, fit(node.size)));
	}

	function drawPath() {
		const ids = [];
		for (let index = current; ; index = nodes[index].above) {
			ids.unshift(index);
			if (!index) break;
		}
		path.replaceChildren(...ids.map((index, at) => [at ? " \u203a " : "", index === current ? make("b", {}, nodes[index].title) : make("a", { href: `#node=${index}` }, nodes[index].title)]).flat().filter(Boolean).map((part) => part instanceof Node ? part : document.createTextNode(part)));
	}

	// Replaces the cells. The focus goes to the same one again, otherwise to the first one, or to the path.
	function drawCells() {
		const focused = canvas.contains(document.activeElement) && document.activeElement.dataset.node;
		const width = canvas.getBoundingClientRect().width || 800, whole = nodes[current].value || 1;
		const list = below[current].filter((index) => nodes[index].value * width * HEIGHT / whole >= LEAST).slice(0, MOST);
		const cells = [];
		place(list, { x: 0, y: 0, width, height: HEIGHT, whole }, (index, box) => cells.push(cell(index, box)));
		canvas.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`); // paper has another width
		canvas.replaceChildren(...cells);
		const next = focused && (cells.find((each) => each.dataset.node === focused) || cells[0] || path.querySelector("a:last-of-type"));
		if (next) next.focus();
	}

	function draw() {
		const wanted = Number(new URLSearchParams(location.hash.slice(1)).get("node"));
		current = Number.isInteger(wanted) && wanted > 0 && wanted < nodes.length ? wanted : 0;
		drawPath();
		told.textContent = nodes[current].text;
		drawCells();
		show(current, below[current]);
	}

	function enter(event) {
		const group = event.target.closest("g");
		if (group) location.hash = `node=${group.dataset.node}`;
	}

	canvas.addEventListener("click", enter);
	canvas.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" && event.key !== " ") return;
		event.preventDefault();
		enter(event);
	});
	for (const name of ["mouseover", "focusin"]) {
		canvas.addEventListener(name, (event) => {
			const group = event.target.closest("g");
			if (group) told.textContent = group.getAttribute("aria-label");
		});
	}
	addEventListener("keydown", (event) => {
		if (event.key === "Escape" && current && event.target.tagName !== "INPUT") location.hash = `node=${nodes[current].above}`;
	});
	addEventListener("hashchange", draw);
	addEventListener("resize", drawCells);
	return { parts: [path, told, canvas], draw };
}
