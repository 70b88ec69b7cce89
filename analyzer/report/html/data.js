// SPDX-License-Identifier: MIT
"use strict";

// The report as rcore's JSON has it (docs/json.md), and what is looked up in it.
let report, source;
const threads = new Map(), fibers = new Map();
// For each lock's holder and each thread that is joined: the ids of the fibers that wait for it.
const blocked = new Map();

function read(text) {
	source = text;
	report = JSON.parse(source);
	for (const list of ["threads", "fibers", "other_threads", "thread_groups", "groups", "locks", "pools", "deadlocks", "summary",
		"problems", "proofs", "modules", "tasks"])
		report[list] = report[list] || [];
	for (const thread of report.threads) threads.set(thread.id, thread);
	for (const fiber of report.fibers) fibers.set(fiber.id, fiber);
	for (const fiber of report.fibers) {
		const holder = holderOf(fiber);
		if (!holder) continue;
		if (!blocked.has(holder)) blocked.set(holder, []);
		blocked.get(holder).push(fiber.id);
	}
}

function isKnown(id) {
	return threads.has(id) || fibers.has(id);
}

// The fiber that a thread runs.
function currentOf(thread) {
	return fibers.get(thread.current_fiber);
}

// The id of the fiber that another one waits for, if rcore knows which.
function holderOf(fiber) {
	const wait = fiber.wait;
	if (!wait || wait.kind === "gvl") return undefined;
	if (wait.owner && !wait.owner.gone) return wait.owner.fiber || (threads.get(wait.owner.thread) || {}).current_fiber;
	return wait.thread && (threads.get(wait.thread) || {}).current_fiber;
}

function contextOf(fiber) {
	return (fiber.context && fiber.context.pairs || []).map((pair) => [pair.name || "?", pair.text !== undefined ? pair.text : pair.problem]);
}

function worksOf(fiber) {
	return (fiber.works_on || []).map((work) => ({ kind: work.kind, from: work.recognizer,
		fields: (work.fields || []).map((field) => [field.name, field.text !== undefined ? field.text : field.problem]) }));
}

// Where the innermost code with a line is: "Order#total  app/order.rb:3".
function placeOf(fiber) {
	const frame = (fiber.frames || []).find((each) => each.kind === "ruby" && each.path);
	return frame ? [frame.label, at(frame.path, frame.line)] : [];
}

// How soon a reader wants to see a thread, the first first.
function rankOf(thread) {
	const fiber = currentOf(thread);
	if (thread.crashed) return 0;
	if (report.blame && fiber && report.blame.fiber === fiber.id && report.cause) return 1;
	if (thread.ended) return 9;
	if (thread.gvl === "holder" || thread.status === "run") return 2;
	if (fiber && blocked.has(fiber.id)) return 3;
	if (fiber && holderOf(fiber)) return 4;
	return thread.main ? 5 : 6;
}

// [{threads, idle, differs, similar}], the most interesting first. Threads with equal stacks are one entry.
function threadEntries() {
	const grouped = new Map();
	for (const group of report.thread_groups)
		for (const id of group.threads) grouped.set(id, group);
	const seen = new Set(), entries = [];
	for (const thread of report.threads) {
		const group = grouped.get(thread.id);
		if (group && seen.has(group)) continue;
		if (group) seen.add(group);
		const members = group ? group.threads.map((id) => threads.get(id)).filter(Boolean) : [thread];
		if (!members.length) continue;
		const { idle, differs, similar = [], similar_count } = group || {};
		const rank = idle ? 8 : members.reduce((least, member) => Math.min(least, rankOf(member)), Infinity);
		entries.push({ threads: members, idle, differs, similar, similarCount: similar_count || similar.length, rank });
	}
	return entries.sort((a, b) => a.rank - b.rank);
}

// The same for fibers that no thread of the report runs.
function fiberEntries() {
	const grouped = new Map();
	for (const group of report.groups)
		for (const id of group.fibers) grouped.set(id, group);
	const seen = new Set(), entries = [];
	const running = new Set(report.threads.map((thread) => thread.current_fiber));
	for (const fiber of report.fibers) {
		if (running.has(fiber.id)) continue;
		const group = grouped.get(fiber.id);
		if (group && seen.has(group)) continue;
		if (group) seen.add(group);
		const members = group ? group.fibers.map((id) => fibers.get(id)).filter((each) => each && !running.has(each.id)) : [fiber];
		const { differs, similar = [], similar_count } = group || {};
		entries.push({ fibers: members, differs, similar, similarCount: similar_count || similar.length });
	}
	return entries.sort((a, b) => b.fibers.length - a.fibers.length);
}

// All text of a fiber that is worth searching, in lower case. Made when it is searched first.
const haystacks = new Map();
function haystackOf(fiber) {
	let text = haystacks.get(fiber.id);
	if (text !== undefined) return text;
	const thread = threads.get(fiber.thread) || {};
	const parts = [fiber.id, thread.name, thread.outer_tid || thread.tid, thread.status, fiber.status, fiber.wait && fiber.wait.text, fiber.object, thread.object];
	for (const frame of fiber.frames || []) parts.push(frame.label, at(frame.path, frame.line));
	for (const frame of fiber.native || []) parts.push(frame.function, frame.module, frame.gem);
	for (const [key, value] of contextOf(fiber)) parts.push(`${key}=${value}`);
	for (const work of worksOf(fiber)) parts.push(work.kind, ...work.fields.map(([key, value]) => `${key}=${value}`));
	text = parts.filter((part) => part !== undefined).join("\n").toLowerCase();
	haystacks.set(fiber.id, text);
	return text;
}
