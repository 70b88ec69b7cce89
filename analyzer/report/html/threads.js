// SPDX-License-Identifier: MIT
"use strict";

const NAMED = 10; // those that the line of a group names

// The element of each thread and fiber that is on the page, and how to make one that is not yet.
const places = new Map(), makers = new Map();

function placed(id, details) {
	places.set(id, details);
	return details;
}

function badge(text, className) {
	return make("span", { class: "badge " + (className || "") }, text);
}

// For whom it works: its context, and the request or job that its frames tell.
function purpose(fiber) {
	const line = (kind, pairs, from) => make("p", { class: "context" }, make("b", {}, kind, " "), pairs.map(([key, value]) => [make("code", {}, `${key}=${value}`), " "]).flat(), from && make("small", {}, ` (${from})`));
	const pairs = contextOf(fiber);
	const { problem: why, difference } = fiber.context || {};
	return [pairs.length ? line("context", pairs) : null, ...worksOf(fiber).map((work) => line(work.kind, work.fields, work.from)), problem(why), difference ? make("p", { class: "quiet" }, difference) : null].filter(Boolean);
}

function exceptions(fiber) {
	return (fiber.exceptions || []).map((each) => foldable({ class: "more" },
		[make("b", {}, "handles "), `${each.class || "an exception"}: ${each.message || ""}`],
		() => [make("ol", { class: "stack" }, (each.backtrace || []).map((line) => make("li", { class: "ruby" },
			make("span", { class: "label" }, line.label || line.text || line.problem), " ", make("span", { class: "place" }, at(line.path, line.line))))),
			each.backtrace_left_out && make("p", { class: "quiet" }, `${count(each.backtrace_left_out, "more line")} of its backtrace`),
			(each.causes || []).map((cause) => [make("p", {}, `caused by ${cause.class || "an exception"}: ${cause.message || ""}`), problem(cause.problem)]).flat(),
			problem(each.problem)].flat()));
}

function storage(name, list, why) {
	return [list && list.length ? foldable({ class: "more" }, `${name} (${list.length})`, () => [variables("", list)]) : null, problem(why && `${name}: ${why}`)];
}

function addresses(fiber) {
	const thread = threads.get(fiber.thread) || {};
	return foldable({ class: "more" }, "addresses", () => [facts([
		["Fiber", fiber.object], ["rb_fiber_t", fiber.address], ["rb_execution_context_t", fiber.ec],
		["VM stack", fiber.vm_stack && `${fiber.vm_stack}, ${fiber.vm_stack_size} bytes`],
		["machine stack", fiber.machine_stack && `${fiber.machine_stack}, ${fiber.machine_stack_size} bytes`],
		["Thread", fiber.current && thread.object], ["rb_thread_t", fiber.current && thread.address],
	])]);
}

function fiberBody(fiber) {
	const waiters = blocked.get(fiber.id) || [];
	const thread = threads.get(fiber.thread) || {};
	return [
		fiber.wait && make("p", { class: "wait" }, sentence(fiber.wait.text)),
		fiber.late && make("p", { class: "problem" }, "Read after the stop."),
		fiber.stack_age_ns && make("p", { class: "aged" }, `As of ${(fiber.stack_age_ns / 1e6).toFixed(1)} ms before the stop.`),
		waiters.length ? make("p", { class: "wait" }, `${count(waiters.length, "fiber")} ${waiters.length === 1 ? "waits" : "wait"} for it: `, waiters.slice(0, 20).map((id) => [link(id), " "]).flat(), waiters.length > 20 ? "\u2026" : "") : null,
		...purpose(fiber), ...exceptions(fiber), ...stack(fiber),
		...storage("fiber storage", fiber.storage, fiber.storage_problem), ...storage("fiber-local variables", fiber.fiber_locals, fiber.fiber_locals_problem),
		...(fiber.current ? storage("thread variables", thread.variables, thread.variables_problem) : []),
		addresses(fiber),
	].filter(Boolean);
}

// What a closed section shows of a fiber: what it waits for, where it is, and what it works on. A group has
// one line for all of its fibers, so it shows no work.
function outline(fiber, isGroup) {
	if (!fiber) return [];
	const [label, place] = placeOf(fiber);
	const waits = fiber.wait && fiber.wait.text || "";
	const work = isGroup ? "" : worksOf(fiber).map((each) => [each.kind, ...each.fields.map(([, value]) => value).slice(0, 3)].join(" "))[0];
	return [["what", isGroup && waits.startsWith("waits") ? "each " + waits : waits], ["label", label], ["place", place], ["work", work]]
		.filter(([, text]) => text).map(([name, text]) => [make("span", { class: name }, text), " "]).flat();
}

function fiberSummary(fiber, shownId) {
	return [make("span", { class: "id" }, shownId || fiber.id), " ", fiber.current ? null : [badge(fiber.status), " "], outline(fiber)].flat();
}

function fiberDetails(fiber) {
	return placed(fiber.id, foldable({ id: fiber.id, class: "fiber" }, fiberSummary(fiber), () => fiberBody(fiber)));
}

function threadSummary(thread) {
	return [make("span", { class: "id" }, thread.id), " ", thread.name && [make("b", {}, thread.name), " "], thread.main && [badge("main"), " "],
		thread.crashed && [badge("died here", "bad"), " "], thread.ended && [badge("ended"), " "],
		badge(thread.status || "unknown", thread.status === "run" ? "good" : ""), " ", thread.gvl === "holder" && [badge("has the GVL", "good"), " "],
		outline(currentOf(thread))].flat();
}

// The thread's own line, then the fiber that it runs. Its parked fibers have a part of the page of their own.
function threadDetails(thread) {
	const fiber = currentOf(thread);
	const parked = (thread.fibers || []).filter((id) => id !== thread.current_fiber).length;
	const details = foldable({ id: thread.id, class: "thread" }, threadSummary(thread), () => [
		facts([["kernel thread", thread.outer_tid || thread.tid], ["parked fibers", parked || undefined], ["ractor", thread.ractor > 1 ? thread.ractor : undefined],
			["held the GVL", thread.gvl_held_ns && `for at least ${Math.round(thread.gvl_held_ns / 1e6)} ms`]]),
		problem(thread.problem),
		...(fiber ? fiberBody(fiber) : [make("p", { class: "quiet" }, thread.current_fiber ? `It runs ${thread.current_fiber}, which is not in this report.` : "It runs no fiber.")]),
	]);
	places.set(thread.id, details);
	if (fiber) {
		details.firstChild.id = fiber.id;
		places.set(fiber.id, details);
	}
	return details;
}

// "with the same stack", and which others are nearly so.
function alike(entry) {
	return entry.differs ? "with similar stacks" : "with the same stack";
}

function similar(entry) {
	if (!entry.similar.length) return null;
	const left = entry.similarCount - entry.similar.length;
	return make("p", { class: "quiet" }, "Similar, except for the line of the innermost frame or the depth of a recursion: ", entry.similar.map((id) => [link(id), " "]).flat(), left > 0 ? `and ${left.toLocaleString("en")} more` : "");
}

// One entry for several members with the same stack: it shows the first one, and lists all of them.
function groupDetails(entry, members, summary, element) {
	let list;
	const details = foldable({ class: "group" }, summary, () => {
		list = chunks(members, element);
		unfoldDetails(list.box.querySelector("details"));
		return [similar(entry), list.box];
	});
	members.forEach((member, index) => {
		const reach = () => {
			unfoldDetails(details);
			list.show(index);
		};
		makers.set(member.id, reach);
		if (member.current_fiber) makers.set(member.current_fiber, reach);
	});
	return details;
}

function groupTitle(text, members) {
	return [make("b", {}, text), " ", make("span", { class: "ids" }, members.slice(0, NAMED).map(({ id }) => id).join(" "), members.length > NAMED ? " \u2026" : ""), " "];
}

function threadEntry(entry) {
	const [first] = entry.threads;
	if (entry.threads.length === 1 && !entry.similar.length) return threadDetails(first);
	const title = entry.idle ? count(entry.threads.length, "idle thread") : `${count(entry.threads.length, "thread")} ${alike(entry)}`;
	return groupDetails(entry, entry.threads, [...groupTitle(title, entry.threads), ...outline(currentOf(first), true)], threadDetails);
}

function fiberEntry(entry) {
	const [first] = entry.fibers;
	if (entry.fibers.length === 1 && !entry.similar.length) return fiberDetails(first);
	return groupDetails(entry, entry.fibers, [...groupTitle(`${count(entry.fibers.length, "fiber")} ${alike(entry)}`, entry.fibers), ...outline(first, true)], fiberDetails);
}
