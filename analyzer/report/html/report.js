// SPDX-License-Identifier: MIT
"use strict";

const FOUND = 200; // fibers that a search lists
const PRINTED = 300; // sections that are opened to be printed

// A link to the frame that is to blame: the innermost that has its name and line.
function blamed() {
	const blame = report.blame;
	if (!blame || !blame.name) return null;
	const fiber = fibers.get(blame.fiber);
	const index = fiber ? (fiber.frames || []).findIndex((frame) => frame.label === blame.name && frame.line === blame.line) : -1;
	const place = blame.path ? ` (${at(blame.path, blame.line)})` : "";
	return ["Look first at ", index >= 0 ? link(`${fiber.id}.${index}`, blame.name) : fiber ? link(fiber.id, blame.name) : make("b", {}, blame.name), place,
		blame.gem ? ` of ${blame.gem}` : "", blame.native ? `, in ${blame.native}` : "", blame.why ? `: ${blame.why}` : "", "."];
}

// Why it died, and why nothing of Ruby could be decoded.
function headlines() {
	const cause = report.cause && report.cause.text;
	const lines = [cause && make("p", { class: "cause bad" }, sentence(cause)), report.failure && make("p", { class: "cause bad" }, report.failure)].filter(Boolean);
	return lines.length ? lines : [make("p", { class: "cause" }, report.live ? "Alive: one moment of a running process" : "No signal killed it.")];
}

function header() {
	const cause = report.cause || {}, state = report.facts || {};
	const exception = cause.exception && `${cause.exception.class}: ${cause.exception.message || ""}`;
	const live = report.live && report.live.stopped && report.live.pause_ns !== undefined && `for ${(report.live.pause_ns / 1e6).toFixed(1)} ms, to be read`;
	const ages = report.fibers.map((fiber) => fiber.stack_age_ns || 0).filter(Boolean);
	const aged = ages.length && `of ${count(ages.length, "parked fiber")}: as of ${(ages.reduce((a, b) => Math.max(a, b)) / 1e6).toFixed(1)} ms before the stop`;
	return make("header", {}, make("h1", {}, report.source || "rcore"), headlines(),
		report.blame && report.cause && make("p", { class: "blame" }, blamed()),
		!report.complete && make("p", { class: "problem" }, "Some parts could not be read; see ", make("a", { href: "#problems" }, "what and why"), "."),
		facts([
			["Ruby", state.description || (report.ruby || {}).description || (report.ruby || {}).version], ["command", report.arguments],
			["exception", exception], ["[BUG]", cause.bug], ["abort message", cause.abort_message], ["address", cause.fault && cause.fault.text],
			["garbage collector", state.gc && state.gc.phase !== "none" && state.gc.phase],
			["was stopped", live], ["stacks", aged], ["layout", (report.layout || {}).source === "approximate" && `approximate: ${report.layout.name}`],
			["redacted", report.redaction && report.redaction.mode],
		].filter(([, value]) => value)));
}

function summary() {
	const items = [...report.deadlocks.map((deadlock) => make("li", { class: "bad" }, "Deadlock: ", sentence(deadlock.text))),
		...report.summary.map((line) => make("li", {}, sentence(line.text)))];
	return section("summary", "Summary", items.length && make("ul", {}, items));
}

function others() {
	return report.other_threads.map((thread) => placed(`K${thread.tid}`, foldable({ class: "thread", id: `K${thread.tid}` },
		[make("span", { class: "id" }, String(thread.outer_tid || thread.tid)), " ", make("span", { class: "label" }, ((thread.native || [])[0] || {}).function || "no stack")],
		() => stack({ id: `K${thread.tid}`, native: thread.native, native_problem: thread.native_problem, stack: (thread.native || []).map((_, native) => ({ native })) }))));
}

function locks() {
	return report.locks.length && table(["lock", "held by", "waited for by"], report.locks.map((lock) => [
		[(lock.kind || "").replace(/_/g, " "), " ", make("code", {}, lock.object || lock.lock || ""), problem(lock.problem)],
		lock.owner ? lock.owner.gone ? "a fiber that has ended" : link(lock.owner.fiber || lock.owner.thread) : "",
		(lock.waiters || []).slice(0, 50).map((id) => [link(id), " "]).flat()]));
}

// Parents come before their children.
function tasks() {
	const depths = [];
	return report.tasks.length && table(["task", "status", "fiber", "annotation"], report.tasks.map((task, index) => {
		depths[index] = task.parent === undefined ? 0 : depths[task.parent] + 1;
		return ["\u2003".repeat(Math.min(depths[index], 20)) + (task.class || "task"), task.status || "", task.fiber ? link(task.fiber) : "", task.annotation || task.problem || ""];
	}));
}

function modules() {
	return foldable({ class: "more" }, count(report.modules.length, "file"), () => [table(["file", "status", "build-id", "address"], report.modules.map((module) =>
		[[module.path, module.fix && make("small", {}, ` ${module.lost || ""}: ${module.fix}`)], module.status, make("code", {}, module.build_id || ""), [module.start, module.end].filter(Boolean).join("\u2013")]))]);
}

function ruby() {
	const { gems = [], argv = [], rubyopt } = report.facts || {};
	return [facts([["ARGV", argv.map((each) => each.text).join(" ")], ["RUBYOPT", rubyopt]]),
		gems.length && foldable({ class: "more" }, count(gems.length, "gem"), () => [make("p", {}, gems.map((gem) => [gem.name, gem.version].filter(Boolean).join(" ")).join(", "))]),
		problem((report.facts || {}).problem),
		report.modules.length && modules(),
		report.signature && facts([["signature", report.signature.loose], ["strict signature", report.signature.strict]])];
}

function problems() {
	const failed = report.proofs.filter((proof) => !proof.passed);
	return [report.problems.length && make("ul", {}, report.problems.map((text) => make("li", { class: "problem" }, sentence(text)))),
		failed.length && make("ul", {}, failed.map((proof) => make("li", { class: "problem" }, [proof.text || proof.name || "a check", proof.detail || "it failed"].join(": ")))),
		problem(report.wait_problem),
		!report.complete && make("p", {}, "Frames and values that could not be read are marked in their places.")];
}

// What is above the stacks: a search, and which frames are shown.
function toolbar() {
	const toggle = (name, text, on) => make("label", {}, make("input", { type: "checkbox", checked: on, change: (event) => document.body.classList.toggle("no-" + name, !event.target.checked) }), " ", text);
	const field = make("input", { type: "search", id: "search", placeholder: "method, file, thread, context \u2026", "aria-label": "Search in all stacks", autocomplete: "off", input: () => search(field.value) });
	return make("div", { class: "toolbar", role: "search" }, field, toggle("native", "native frames", true), toggle("interpreter", "interpreter frames", false),
		make("span", { id: "found", role: "status" }));
}

// Lists the fibers that contain all words, in place of the sections.
function search(text) {
	const words = text.toLowerCase().split(/\s+/).filter(Boolean);
	const box = document.getElementById("results"), all = document.getElementById("all");
	const status = document.getElementById("found");
	box.replaceChildren();
	box.hidden = !words.length;
	all.hidden = words.length > 0;
	status.textContent = "";
	if (!words.length) return;
	const found = report.fibers.filter((fiber) => words.every((word) => haystackOf(fiber).includes(word)));
	status.textContent = found.length > FOUND ? `${count(found.length, "fiber")}, of which ${FOUND} are shown` : count(found.length, "fiber");
	box.append(...found.slice(0, FOUND).map((fiber) => foldable({ class: "fiber" }, fiberSummary(fiber, fiber.current ? fiber.thread : fiber.id), () => {
		const body = make("div", {}, fiberBody(fiber));
		// The sections have the same ids, and links must lead there.
		body.querySelectorAll("[id]").forEach((each) => each.removeAttribute("id"));
		body.querySelectorAll("li").forEach((item) => {
			const line = item.textContent.toLowerCase();
			item.classList.toggle("hit", words.some((word) => line.includes(word)));
		});
		return body;
	})));
	const first = box.querySelector("details");
	if (first && found.length <= 3) unfoldDetails(first);
}

// Opens what contains a thread, fiber or frame, and scrolls there.
function reveal(hash) {
	const [, id, frame] = /^#?([TE]\d+(?:\.F\d+)?|K\d+)(\.n?\d+)?$/.exec(hash) || [];
	if (!id) return;
	const field = document.getElementById("search");
	if (field && field.value) search(field.value = "");
	if (makers.has(id)) makers.get(id)();
	const details = places.get(id);
	if (!details) return;
	for (let up = details.parentElement.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
	unfoldDetails(details);
	const item = frame && document.getElementById(id + frame);
	if (item) unfold(item);
	if (item && item.classList.contains("native") && document.body.classList.contains("no-native")) document.querySelector(".toolbar input[type=checkbox]").click();
	const target = item || details;
	document.querySelectorAll(".target").forEach((each) => each.classList.remove("target"));
	target.classList.add("target");
	target.scrollIntoView({ block: item ? "center" : "start" });
	const focus = item ? item.querySelector("a") : details.querySelector("summary");
	if (focus) focus.focus({ preventScroll: true });
}

function build() {
	const entries = threadEntries(), parked = fiberEntries();
	const fiberCount = parked.reduce((sum, entry) => sum + entry.fibers.length, 0);
	const elements = entries.map(threadEntry);
	const list = parked.length ? chunks(parked, fiberEntry) : null;
	// Most entries are not drawn yet. To reach a fiber of such an entry, draw the entry first.
	parked.forEach((entry, index) => entry.fibers.forEach(({ id }) => {
		if (places.has(id) || makers.has(id)) return;
		makers.set(id, function draw() {
			list.show(index);
			const then = makers.get(id);
			if (then !== draw) then();
		});
	}));
	const graph = waitGraph();
	document.body.classList.add("no-interpreter");
	document.body.append(header(), make("main", {}, ...[
		summary(), graph && section("waits", "Who waits for whom", graph),
		report.threads.length || report.fibers.length ? make("section", { id: "threads" }, make("h2", {}, `${count(report.threads.length, "thread")}, ${count(report.fibers.length, "fiber")}`), toolbar(),
			make("div", { id: "results", hidden: true }), make("div", { id: "all" }, elements,
				list && [make("h3", {}, `Parked: ${count(fiberCount, "fiber")}`), list.box])) : null,
		section("tasks", "Tasks of Async", tasks()), section("locks", "Locks", locks()),
		section("other", "Kernel threads without Ruby", others()), section("ruby", "The program", ruby()), section("problems", "Problems", problems()),
	].filter(Boolean)), make("footer", {}, writtenBy(), "The data is rcore\u2019s JSON, ",
		make("a", { href: "#", id: "save", click: saveData }, "which you can save"), "."));
	const first = elements[0];
	if (first) unfoldDetails(first);
}

function saveData(event) {
	event.preventDefault();
	const anchor = make("a", { download: "report.json" });
	anchor.href = URL.createObjectURL(new Blob([source], { type: "application/json" }));
	anchor.click();
	setTimeout(() => URL.revokeObjectURL(anchor.href), 60000);
}

// Opens closed sections for printing, but only the first ones, to save paper.
function openAll() {
	let left = PRINTED;
	for (const details of document.querySelectorAll("#all > details, #all > .members > details"))
		if (left-- > 0) unfoldDetails(details);
}

addEventListener("hashchange", () => reveal(location.hash));
// A click on a link to the current address causes no event hashchange.
addEventListener("click", (event) => {
	const anchor = event.target.closest("a[href^='#']");
	if (anchor && anchor.getAttribute("href") === location.hash) reveal(location.hash);
});
addEventListener("beforeprint", openAll);
searchKeys(search);

start((text) => {
	read(text);
	build();
	reveal(location.hash);
});
