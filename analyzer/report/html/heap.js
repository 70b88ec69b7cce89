// SPDX-License-Identifier: MIT
"use strict";

// The data that heap_page.c writes.
let heap;

function bytes(number) {
	const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0, value = number;
	for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
	return unit ? `${value.toFixed(1)} ${units[unit]}` : count(number, "byte");
}

function header() {
	const reachable = heap.reachable && `${count(heap.reachable.count, "object")}, ${bytes(heap.reachable.bytes)}`;
	return make("header", {}, make("h1", {}, heap.source || "Heap"), make("p", { class: "cause" }, `${count(heap.objects, "object")} of ${count(heap.class_count, "class").replace(/classs$/, "classes")}, ${bytes(heap.bytes)}`),
		heap.retained_problem && make("p", { class: "problem" }, `What is retained is not known: ${heap.retained_problem}`), heap.gap && make("p", { class: "problem" }, heap.gap),
		facts([["reachable", reachable], ["C memory in use", heap.c_memory && `${bytes(heap.c_memory.bytes)}; ${bytes(heap.c_memory.free_bytes)} free`],
			["garbage not freed yet", heap.unswept > 0 && count(heap.unswept, "object")], ["sizes not known", heap.unknown_sizes > 0 && `${count(heap.unknown_sizes, "object")} whose size only C code knows, mostly of extensions`],
			["references not known", heap.opaque > 0 && `of ${count(heap.opaque, "object")} of extensions`], ["could not be read", [heap.absent_pages > 0 && count(heap.absent_pages, "page"), heap.partial > 0 && `references of ${count(heap.partial, "object")}`].filter(Boolean).join(", ")],
			["redacted", heap.redaction && heap.redaction.mode]]));
}

function objectName(object) {
	return [make("span", { class: "label" }, object.class || "?", object.name && ` ${object.name}`, object.thread_name && ` "${object.thread_name}"`), " ", make("span", { class: "place" }, object.address), object.opaque && make("small", {}, " (only its extension knows all that it refers to)")];
}

// From the root to the object, a line for each step.
function route(object) {
	if (!object.root) return make("p", { class: "quiet" }, "no path from a root was found");
	const maybe = (link) => link.conservative && make("small", {}, " (the word may be another number)");
	const items = (object.links || []).map((link) => make("li", { class: "ruby" }, link.how && `${link.how}: `, objectName(link), maybe(link)));
	if (object.omitted) items.splice(object.omitted_at, 0, make("li", { class: "gap" }, count(object.omitted, "more object")));
	return make("ol", { class: "stack" }, make("li", {}, make("b", {}, object.root), maybe(object)), items);
}

function summary() {
	const whole = heap.reachable ? heap.reachable.bytes : heap.bytes;
	const [object] = heap.largest || [], [klass] = heap.retaining_classes || [], [root] = heap.roots || [], [most] = heap.classes;
	const named = (text) => make("span", { class: "label" }, text);
	const items = [
		most && make("li", {}, "Most bytes: ", count(most.count, "object"), " of ", named(most.name), `, ${bytes(most.bytes)} (${percent(most.bytes, heap.bytes)}).`),
		object && make("li", {}, "The object that retains most: ", objectName(object), `, ${bytes(object.retained)} (${percent(object.retained, whole)})`, object.root && [", alive because of ", named(object.root)], "."),
		klass && make("li", {}, "The class that retains most: ", named(klass.name), `, ${bytes(klass.retained)} (${percent(klass.retained, whole)}).`),
		root && make("li", {}, "The root that retains most: ", named(root.name), `, ${bytes(root.retained)} (${percent(root.retained, whole)}).`),
	].filter(Boolean);
	return section("summary", "Summary", items.length && make("ul", {}, items));
}

const amounts = (whole) => [
	{ title: "retained", value: (row) => row.retained, show: (row) => bytes(row.retained), number: true },
	{ title: "share", show: (row) => percent(row.retained, whole), number: true },
];
const NAME = { title: "name", value: (row) => row.name, show: (row) => make("span", { class: "label" }, row.name) };
const COUNT = { title: "objects", value: (row) => row.count, show: (row) => row.count.toLocaleString("en"), number: true };
const BYTES = { title: "bytes", value: (row) => row.bytes, show: (row) => bytes(row.bytes), number: true };

function left(number, noun) {
	return number > 0 && make("p", { class: "quiet" }, `${number.toLocaleString("en")} ${noun} left out.`);
}

// Below the map, what is in it: also what is too small to be drawn.
function retainedMap() {
	if (!heap.nodes || !heap.nodes.length) return null;
	const whole = heap.nodes[0].retained, list = make("div", {});
	const nodes = heap.nodes.map((node, index) => {
		const size = bytes(node.retained), what = index && !node.is_root ? `${count(node.count, "object")}, ` : "";
		return { above: node.above, title: node.title, value: node.retained, size, text: `${what}retains ${size} (${percent(node.retained, whole)})` };
	});
	const map = treemap(nodes, (index, below) => {
		const rest = heap.nodes[index].retained - heap.nodes[index].bytes - below.reduce((sum, each) => sum + heap.nodes[each].retained, 0);
		const rows = below.map((each) => ({ ...heap.nodes[each], name: heap.nodes[each].title, index: each }));
		list.replaceChildren(...[sortable("What is in the map", [{ ...NAME, show: (row) => make("a", { href: `#node=${row.index}`, class: "label" }, row.name) }, ...amounts(whole), { ...COUNT, show: (row) => row.is_root ? "" : row.count.toLocaleString("en") }, BYTES], rows).box,
			make("p", { class: "quiet" }, [heap.nodes[index].bytes > 0 && `${bytes(heap.nodes[index].bytes)} of its own. `, rest > 0 && `${bytes(rest)} of what is smaller.`])].filter(Boolean));
	});
	return { parts: [make("p", { class: "quiet" }, "An area is what would be freed with the objects of a class, or without a root. A click, a tap or Enter goes into it; Escape goes back."), ...map.parts, list, left(heap.nodes_left_out, "smaller areas are")], draw: map.draw };
}

function build(text) {
	heap = JSON.parse(text);
	const whole = heap.reachable ? heap.reachable.bytes : heap.bytes, map = retainedMap();
	const objects = (caption, rows) => rows && sortable(caption, [{ title: "object", value: (row) => row.class, show: objectName }, ...amounts(whole), BYTES], rows, (row) => foldable({ class: "more" }, `path from ${row.root || "a root"}`, () => route(row)));
	const largest = objects("The largest objects", heap.largest), parts = objects("Ractors, threads, classes and modules", heap.parts);
	const classes = heap.retaining_classes && sortable("Classes by what they retain", [NAME, ...amounts(whole), COUNT, BYTES], heap.retaining_classes);
	const roots = heap.roots && sortable("Roots", [NAME, ...amounts(whole), { ...COUNT, title: "references" }], heap.roots);
	const census = sortable("Classes", [NAME, BYTES, { title: "share", show: (row) => percent(row.bytes, heap.bytes), number: true }, COUNT], heap.classes);
	const pools = table(["slot size", "pages", "slots", "free", "sparse pages"], heap.pools.map((pool) => [pool.slot_size, pool.pages, pool.slots, pool.free, pool.sparse_pages].map((number) => number.toLocaleString("en"))));
	const field = make("input", { type: "search", id: "search", placeholder: "class, root \u2026", "aria-label": "Search in all tables", autocomplete: "off", input: () => search(field.value) });
	function search(words) {
		const has = (...texts) => texts.join("\n").toLowerCase().includes(words.toLowerCase());
		for (const each of [classes, roots, census]) if (each) each.filter((row) => has(row.name));
		for (const each of [largest, parts]) if (each) each.filter((row) => has(row.class, row.name, row.thread_name, row.address, row.root));
	}
	document.body.append(header(), make("main", {}, ...[
		summary(), map && section("retained", "What is retained", map.parts), make("div", { class: "toolbar", role: "search" }, field),
		largest && section("largest", "Largest objects", largest.box), parts && section("parts", "Ractors, threads, classes and modules", parts.box), classes && section("holders", "Classes by what they retain", classes.box, left(heap.all_classes - heap.retaining_classes.length, "classes that retain less are")),
		roots && section("roots", "Roots", roots.box, left(heap.all_roots - heap.roots.length, "roots that retain less are")),
		section("census", "All objects", census.box, left(heap.class_count - heap.classes.length, "classes are")), section("pools", "Pages", pools),
	].filter(Boolean)), make("footer", {}, writtenBy(), "`rcore heap --json` and `rcore heap retained --json` print the same."));
	if (map) map.draw();
	searchKeys(search);
	addEventListener("beforeprint", () => [largest, parts, classes, roots, census].forEach((each) => each && each.showAll()));
}

start(build);
