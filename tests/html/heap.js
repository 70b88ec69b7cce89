// SPDX-License-Identifier: MIT
//
// Compares pages about heaps with what `rcore heap --json` and `rcore heap
// retained --json` print for the same core.
"use strict";
const fs = require("fs");
const { plain, same, sameSet, becomes, accessible, phone, tables } = require("./shared");

const TEXT_MAX = 120; // bytes of a name
const CLASSES = 1000; // of the census

function cut(text) {
	const buffer = Buffer.from(text);
	let length = TEXT_MAX;
	if (buffer.length <= TEXT_MAX) return plain(text);
	while ((buffer[length] & 0xc0) === 0x80) length--;
	return plain(buffer.subarray(0, length).toString() + "...");
}

function bytes(number) {
	const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
	const unit = number < 1024 ? 0 : Math.min(4, Math.floor(Math.log(number) / Math.log(1024)));
	return unit ? `${(number / 1024 ** unit).toFixed(1)} ${units[unit]}` : number === 1 ? "1 byte" : `${number.toLocaleString("en")} bytes`;
}

const percent = (part, whole) => whole ? (100 * part / whole).toFixed(1) + "%" : "";
const number = (value) => value.toLocaleString("en");
const shown = (object) => `${[cut(object.class || "?"), object.name && cut(object.name), object.thread_name && `"${cut(object.thread_name)}"`].filter(Boolean).join(" ")} ${object.address}${object.opaque ? " (only its extension knows all that it refers to)" : ""}`;

const TESTS = {
	accessible: async (page, { name }) => name.includes("3.1") && !name.includes("redacted") ? accessible(page) : [],
	phone,
	async summary(page, { census, retained }) {
		const found = (await page.evaluate(() => [...document.querySelectorAll("#summary li")].map((item) => item.textContent))).join("\n");
		const [klass] = census.classes, [object] = retained.objects, [row] = retained.classes, whole = retained.reachable.bytes;
		const wanted = [`${number(klass.count)} object`, ` of ${cut(klass.class)}, ${bytes(klass.bytes)} (${percent(klass.bytes, census.bytes)}).`, `${shown(object)}, ${bytes(object.retained)}`, `${cut(row.class)}, ${bytes(row.retained)} (${percent(row.retained, whole)}).`];
		return same("lacks", wanted.filter((text) => !found.includes(text)), []);
	},
	async census(page, { census }) {
		const [found] = await tables(page, "census");
		return sameSet("rows", found, census.classes.slice(0, CLASSES).map((row) => [cut(row.class), bytes(row.bytes), percent(row.bytes, census.bytes), number(row.count)]));
	},
	async pools(page, { census }) {
		return same("rows", (await tables(page, "pools"))[0], census.pools.map((pool) => [pool.slot_size, pool.pages, pool.slots, pool.free, pool.sparse_pages].map(number)));
	},
	async "classes by what they retain"(page, { retained }) {
		const [found] = await tables(page, "holders");
		return sameSet("rows", found, retained.classes.map((row) => [cut(row.class), bytes(row.retained), percent(row.retained, retained.reachable.bytes), number(row.count), bytes(row.bytes || 0)]));
	},
	async roots(page, { retained }) {
		const [found] = await tables(page, "roots");
		return sameSet("rows", found, retained.roots.map((row) => [cut(row.root), bytes(row.retained), percent(row.retained, retained.reachable.bytes), number(row.count)]));
	},
	async "largest objects"(page, { retained }) {
		const differences = [];
		for (const [id, rows] of [["largest", retained.objects], ["parts", retained.holders]]) {
			const [found] = await tables(page, id);
			differences.push(...sameSet(id, found, rows.map((row) => [shown(row), bytes(row.retained), percent(row.retained, retained.reachable.bytes), bytes(row.bytes)])));
		}
		return differences;
	},
	// Each step of each path.
	async paths(page, { retained }) {
		const found = await page.evaluate(() => [...document.querySelectorAll("#largest details, #parts details")].map((details) => {
			details.fill();
			return [...details.querySelectorAll(".stack > li")].map((item) => item.textContent);
		}));
		const maybe = (link) => link.conservative ? " (the word may be another number)" : "";
		const wanted = [...retained.objects, ...retained.holders].map(({ path }) => {
			if (!path) return [];
			const steps = path.links.map((link) => `${link.how ? `${cut(link.how)}: ` : ""}${shown(link)}${maybe(link)}`);
			if (path.omitted) steps.splice(path.omitted_at, 0, `${number(path.omitted)} more object${path.omitted === 1 ? "" : "s"}`);
			return [cut(path.root) + maybe(path), ...steps];
		});
		return same("paths", found, wanted);
	},
	// A node retains its own bytes and what the nodes in it retain. All
	// nodes together are all reachable objects.
	async "what is retained"(page, { data, retained, name }) {
		const { nodes } = data, inside = nodes.map((node) => node.bytes), differences = same("all", nodes[0].retained, retained.reachable.bytes);
		nodes.slice(1).forEach((node) => { inside[node.above] += node.retained; });
		const lost = nodes.reduce((sum, node, index) => sum + node.retained - inside[index], 0);
		nodes.forEach((node, index) => { if (inside[index] > node.retained || (!data.nodes_left_out && inside[index] !== node.retained)) differences.push(`${node.title} has ${inside[index]} of ${node.retained}`); });
		const all = nodes.reduce((sum, node) => sum + node.bytes, 0), counted = nodes.reduce((sum, node) => sum + node.count, 0);
		differences.push(...same("bytes", all + lost, retained.reachable.bytes));
		if (!data.nodes_left_out) differences.push(...same("objects", counted, retained.reachable.count));
		// The node of all roots of a kind has the same title as a root
		// of this kind that has no name. Redacted names are equal.
		const roots = new Map();
		for (const row of retained.roots) roots.set(cut(row.root), [...(roots.get(cut(row.root)) || []), row.retained]);
		const odd = name.includes("redacted") ? [] : nodes.filter((node, index) => index && node.is_root && node.title !== nodes[node.above].title && roots.has(plain(node.title)) && !roots.get(plain(node.title)).includes(node.retained));
		return [...differences, ...same("roots that retain something else", odd.map((node) => node.title), [])];
	},
	// The areas of the map are in proportion to what is retained. None
	// covers another one, and a click opens one.
	async map(page, { data }) {
		const differences = [];
		for (const at of [0, data.nodes.findIndex((node, index) => index && data.nodes.some((other) => other.above === index))]) {
			await page.evaluate((index) => { location.hash = `node=${index}`; }, at);
			differences.push(...await becomes(page, "path", () => [...document.querySelectorAll("nav b")].map((name) => name.textContent), [plain(data.nodes[at].title)]));
			const cells = await page.evaluate(() => [...document.querySelectorAll("#map g")].map((group) => [Number(group.dataset.node), ...["x", "y", "width", "height"].map((name) => Number(group.querySelector("rect").getAttribute(name)))]));
			const width = await page.evaluate(() => document.getElementById("map").getBoundingClientRect().width);
			for (const [index, x, y, w, h] of cells) {
				const area = (w + 1) * (h + 1), wanted = data.nodes[index].retained / data.nodes[at].retained * width * 420;
				if (data.nodes[index].above !== at || Math.abs(area - wanted) > 0.01 * wanted + w + h + 4) differences.push(`node ${index} has ${area}, not ${wanted}`);
				if (x < -1e-6 || y < -1e-6 || x + w > width + 1e-6 || y + h > 420 + 1e-6) differences.push(`node ${index} is outside`);
				const over = cells.find(([other, x2, y2, w2, h2]) => other !== index && x < x2 + w2 - 1e-3 && x2 < x + w - 1e-3 && y < y2 + h2 - 1e-3 && y2 < y + h - 1e-3);
				if (over) differences.push(`node ${index} is over node ${over[0]}`);
			}
			const [rows] = await tables(page, "retained");
			const below = data.nodes.filter((node, index) => index && node.above === at);
			differences.push(...same("an empty map", cells.length > 0, true), ...sameSet("rows", rows, below.map((node) => [plain(node.title), bytes(node.retained), percent(node.retained, data.nodes[0].retained), node.is_root ? "" : number(node.count), bytes(node.bytes)])));
		}
		return differences;
	},
	// The keyboard alone opens an area and returns, and reaches and leaves
	// the search.
	async keyboard(page, { census }) {
		await page.evaluate(() => { location.hash = ""; document.activeElement.blur(); });
		const path = () => document.querySelectorAll("nav a, nav b").length;
		const differences = await becomes(page, "at first", path, 1);
		for (let i = 0; i < 10 && await page.evaluate(() => document.activeElement.tagName.toLowerCase()) !== "g"; i++) await page.keyboard.press("Tab");
		differences.push(...same("details", await page.evaluate(() => document.getElementById("details").textContent === document.activeElement.getAttribute("aria-label")), true));
		await page.keyboard.press("Enter");
		differences.push(...await becomes(page, "after Enter", path, 2));
		differences.push(...same("the focus is lost", await page.evaluate(() => document.activeElement === document.body), false));
		await page.keyboard.press("Escape");
		differences.push(...await becomes(page, "after Escape", path, 1));
		await page.keyboard.press("/");
		await page.keyboard.type("string");
		const wanted = census.classes.slice(0, CLASSES).filter((row) => cut(row.class).toLowerCase().includes("string")).length;
		differences.push(...await becomes(page, "found", () => {
			const rows = [...document.querySelectorAll("#census tbody tr")];
			return [rows.length, rows.filter((row) => !row.cells[0].textContent.toLowerCase().includes("string")).length];
		}, [Math.min(wanted, 25), 0]));
		await page.keyboard.press("Escape");
		return [...differences, ...await becomes(page, "after the search", () => document.getElementById("search").value, "")];
	},
	// The map is as wide as the paper.
	async paper(page) {
		const [box, width] = await page.evaluate(() => [document.getElementById("map").getAttribute("viewBox"), document.getElementById("map").getBoundingClientRect().width]);
		return [...same("map", box, `0 0 ${width} 420`), ...same("starts with", Buffer.from((await page.pdf()).slice(0, 5)).toString(), "%PDF-")];
	},
};

function contextOf(report, files) {
	const retained = JSON.parse(fs.readFileSync(files.retained, "utf8"));
	return { census: report, retained: { ...retained, reachable: { count: retained.reachable_objects, bytes: retained.reachable_bytes } } };
}

module.exports = { TESTS, contextOf };
