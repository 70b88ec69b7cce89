// SPDX-License-Identifier: MIT
"use strict";

// The graph of who waits for whom: an arrow goes from a fiber that waits to the one that holds what it wants.
// Fibers that wait for the same, and for which nobody waits, are one node.
const NODE = { width: 250, height: 44, gapX: 90, gapY: 14, most: 150 };

function shorten(text, most) {
	const shown = safe(text || "");
	return shown.length <= most ? shown : shown.slice(0, most - 1) + "\u2026";
}

// The number of the deadlock that each fiber is in.
function deadlocked() {
	return new Map(report.deadlocks.flatMap((deadlock, index) => (deadlock.fibers || []).map((id) => [id, index])));
}

function wantedOf(wait) {
	return [(wait.kind || "").replace(/_/g, " "), wait.object].filter(Boolean).join(" ");
}

function graphOf() {
	const nodes = new Map(), edges = [], merged = new Map(), dead = deadlocked();
	const node = (id, members, extra) => {
		if (!nodes.has(id)) nodes.set(id, { id, members, ...extra });
		return nodes.get(id);
	};
	for (const fiber of report.fibers) {
		const holder = holderOf(fiber);
		if (!holder || !fibers.has(holder)) continue;
		const wanted = wantedOf(fiber.wait), bad = dead.has(fiber.id) && dead.get(fiber.id) === dead.get(holder);
		const key = blocked.has(fiber.id) || bad ? fiber.id : `${holder} ${wanted}`;
		node(holder, [holder]);
		if (merged.has(key)) merged.get(key).members.push(fiber.id);
		else {
			merged.set(key, node(key, [fiber.id]));
			edges.push({ from: key, to: holder, wanted, bad });
		}
	}
	for (const [number, pool] of report.pools.entries()) {
		if (!pool.waiters || !pool.waiters.length) continue;
		const first = fibers.get(pool.waiters[0]);
		const used = pool.used !== undefined && pool.size !== undefined ? `${pool.used} of ${pool.size} in use` : "";
		const kind = first && first.wait && ["semaphore", "interlock"].includes(first.wait.kind) ? first.wait.kind : "connection";
		const title = kind === "interlock" ? "Rails interlock" : `Pool of ${pool.library || "connections"}`;
		const id = node(`pool ${number}`, [], { title, line: used }).id;
		edges.push({ from: node(`waiters of ${id}`, pool.waiters).id, to: id, wanted: kind });
		if (pool.holders && pool.holders.length) edges.push({ from: id, to: node(`holders of ${id}`, pool.holders, { verb: "hold" }).id, wanted: "held by", about: `${title}, held by ${idsOf(pool.holders)}` });
	}
	return { nodes, edges };
}

// A node is one column before what it waits for; where they wait in a circle, somewhere.
function placeNodes({ nodes, edges }) {
	const next = new Map();
	for (const edge of edges) next.set(edge.from, [...(next.get(edge.from) || []), edge.to]);
	for (const each of nodes.values()) each.column = 0;
	for (let round = 0, moved = true; moved && round < nodes.size; round++) {
		moved = false;
		for (const [from, targets] of next) {
			const column = Math.min(nodes.size - 1, 1 + Math.max(...targets.map((to) => nodes.get(to).column)));
			if (column <= nodes.get(from).column || edges.some((edge) => edge.from === from && edge.bad)) continue;
			nodes.get(from).column = column;
			moved = true;
		}
	}
	// The members of a deadlock are below each other, in the last column.
	const last = Math.max(...[...nodes.values()].map((each) => each.column));
	const rows = new Map();
	const ordered = [...nodes.values()].sort((a, b) => a.column - b.column);
	for (const each of ordered) {
		const wanted = (next.get(each.id) || []).map((to) => nodes.get(to).y).filter((y) => y !== undefined);
		const free = rows.get(each.column) || 0;
		const row = Math.max(free, wanted.length ? Math.floor(Math.min(...wanted) / (NODE.height + NODE.gapY)) : 0);
		rows.set(each.column, row + 1);
		each.x = (last - each.column) * (NODE.width + NODE.gapX) + 1;
		each.y = row * (NODE.height + NODE.gapY) + 1;
	}
	return { width: (last + 1) * (NODE.width + NODE.gapX) - NODE.gapX + 2 + NODE.gapX / 2, height: Math.max(...rows.values()) * (NODE.height + NODE.gapY) + 2 };
}

// A thread's id stands for the fiber that it runs.
function idsOf(members) {
	return members.map((id) => (fibers.get(id) || {}).current ? fibers.get(id).thread : id).join(" ");
}

function describe(node) {
	if (node.title) return [node.title, node.line];
	const fiber = fibers.get(node.members[0]);
	const thread = fiber && threads.get(fiber.thread);
	const [label, path = ""] = fiber ? placeOf(fiber) : [];
	const place = path.split("/").pop();
	const ids = idsOf(node.members);
	if (node.members.length > 1) return [`${node.members.length} ${node.verb || "wait"}: ${ids}`, label && `${label} ${place}`];
	return [[ids, thread && thread.name].filter(Boolean).join(" "), label ? `${label} ${place}` : ""];
}

function drawNode(node) {
	const [title, line] = describe(node);
	const target = node.members[0];
	const shape = make("g", { class: "node" },
		make("title", {}, [title, line].filter(Boolean).join("\n")),
		make("rect", { x: node.x, y: node.y, width: NODE.width, height: NODE.height, rx: 5 }),
		make("text", { x: node.x + 8, y: node.y + 18, class: "strong" }, shorten(title, 32)),
		make("text", { x: node.x + 8, y: node.y + 35 }, shorten(line, 36)));
	if (!target) return shape;
	const anchor = document.createElementNS("http://www.w3.org/2000/svg", "a");
	anchor.setAttribute("href", "#" + target);
	anchor.setAttribute("aria-label", safe(title));
	anchor.append(shape);
	return anchor;
}

// Within a column, the line goes around at the right.
function drawEdge(edge, nodes) {
	const from = nodes.get(edge.from), to = nodes.get(edge.to);
	const x1 = from.x + NODE.width, y1 = from.y + NODE.height / 2, y2 = to.y + NODE.height / 2;
	const isBeside = from.column > to.column;
	const x2 = isBeside ? to.x - 4 : to.x + NODE.width + 4;
	const bend = NODE.gapX * (isBeside || y2 > y1 ? 0.5 : 0.8);
	const path = isBeside ? `M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
		: `M${x1} ${y1 + 6} C${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2} ${y2 - 6}`;
	// The label is shown to whoever points at the line, taps it, or goes there with the keyboard.
	const label = make("text", { x: isBeside ? (x1 + x2) / 2 : x2 + bend * 0.75 + 6, y: (y1 + y2) / 2 + (isBeside ? -6 : 4), "text-anchor": isBeside ? "middle" : "start" }, edge.wanted);
	const about = edge.about || (from.members.length > 1 ? `${idsOf(from.members)} wait: ${edge.wanted}` : `${describe(from)[0]} waits: ${edge.wanted}`);
	return make("g", { class: edge.bad ? "edge bad" : "edge", tabindex: "0", role: "img", "aria-label": about, click: (event) => event.currentTarget.focus() },
		make("path", { class: "near", d: path }), make("path", { d: path, "marker-end": edge.bad ? "url(#bad-arrow)" : "url(#arrow)" }), label);
}

function arrow(id) {
	return make("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, make("path", { d: "M0 0 L8 4 L0 8 z" }));
}

// null if nobody waits for anybody.
function waitGraph() {
	const graph = graphOf();
	if (!graph.edges.length) return null;
	if (graph.nodes.size > NODE.most) return make("p", { class: "quiet" }, `The graph has ${graph.nodes.size} nodes, too many to draw: see \u201cwaits for\u201d of each thread.`);
	const size = placeNodes(graph);
	// Room for the labels of lines that go around at the right.
	const around = graph.edges.filter((edge) => graph.nodes.get(edge.from).column <= graph.nodes.get(edge.to).column).map((edge) => edge.wanted.length);
	size.width += around.length ? Math.min(60, Math.max(...around)) * 7.5 + NODE.gapX / 2 : 0;
	const label = report.deadlocks.length ? "Who waits for whom, with a deadlock" : "Who waits for whom";
	return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label },
		make("svg", { role: "group", "aria-label": label, width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}` },
			make("defs", {}, arrow("arrow"), arrow("bad-arrow")), [...graph.nodes.values()].map(drawNode), graph.edges.map((edge) => drawEdge(edge, graph.nodes))));
}
