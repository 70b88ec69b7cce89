// SPDX-License-Identifier: MIT
"use strict";

// Makes the list item of a frame: its number, what runs, and where. Ruby frames have the numbers of
// the text report, so the link "#T1.F3.4" leads to frame 4 of T1.F3. In links to native frames, the
// number follows an "n".
function frameItem(fiber, id, number, className, label, place, title, more) {
	return make("li", { id: `${fiber.id}.${id}`, class: className, title },
		make("a", { class: "number", href: `#${fiber.id}.${id}`, "aria-label": `Link to frame ${number || id}` }, number || "\u00b7"),
		make("span", { class: "label" }, label), " ", make("span", { class: "place" }, place), more);
}

function valueText(value) {
	return value.text !== undefined ? value.text : value.problem || value.value;
}

function variables(name, list) {
	if (!list || !list.length) return null;
	return make("div", { class: "values" }, make("b", {}, name), facts(list.map((each) => [each.name || "?", [valueText(each), each.class && make("small", {}, " ", each.class)]])));
}

// Shows the variables of a frame, if the report has them (--args, --locals, --self).
function values(frame) {
	if (!frame.self_value && !frame.arguments && !frame.locals && !frame.values_problem) return null;
	const self = frame.self_value && [{ ...frame.self_value, name: "self" }];
	return foldable({ class: "more" }, "values", () => [variables("", self), variables("arguments", frame.arguments), variables("locals", frame.locals),
		problem(frame.values_problem)]);
}

function rubyFrame(fiber, index) {
	const frame = fiber.frames[index];
	const place = at(frame.path, frame.line) || (frame.kind === "cfunc" || frame.kind === "ifunc" ? "[C]" : "");
	const notes = [frame.under_construction && "being entered", frame.pc_stale && "JIT-compiled: its line is unknown", frame.problem].filter(Boolean);
	const title = [["pc", frame.pc], ["iseq", frame.iseq], ["self", frame.self], ["cfp", frame.cfp]].filter((each) => each[1]).map((each) => each.join(" ")).join(", ");
	return frameItem(fiber, index, String(index), "ruby", frame.label || (frame.kind ? `(${frame.kind})` : "?"), place, title,
		[notes.length ? make("span", { class: "problem" }, " ", notes.join("; ")) : null, values(frame)]);
}

function nativeFrame(fiber, index, isStart) {
	const frame = fiber.native[index];
	const name = frame.function ? frame.function + (frame.offset !== undefined ? `+0x${frame.offset.toString(16)}` : "")
		: frame.module && frame.module_offset !== undefined ? `${frame.module}+0x${frame.module_offset.toString(16)}` : frame.pc || "?";
	const place = [frame.gem || (frame.function && frame.module), at(frame.file, frame.line)].filter(Boolean).join(" ");
	const notes = [frame.inlined && "inlined", frame.signal && "signal handler", frame.trust === "scanned" && "found on the stack"].filter(Boolean);
	return frameItem(fiber, "n" + index, "", frame.interpreter || isStart ? "native interpreter" : "native", name, place, frame.pc && `pc ${frame.pc}`,
		notes.length ? make("small", {}, ` (${notes.join(", ")})`) : null);
}

// [{ruby}, {native}, {gap}], innermost first.
function partsOf(fiber) {
	if (fiber.stack && fiber.stack.length) return fiber.stack;
	return (fiber.frames || []).map((_, index) => ({ frame: index }));
}

// Inserts a button before each run of hidden frames. It says how many there are, and shows them.
function foldRuns(items) {
	const list = make("ol", { class: "stack" });
	for (let i = 0; i < items.length; i++) {
		const isInner = (item) => item.classList.contains("interpreter");
		if (isInner(items[i]) && (i === 0 || !isInner(items[i - 1]))) {
			let end = i;
			while (end < items.length && isInner(items[end])) end++;
			const run = items.slice(i, end);
			const button = make("button", { type: "button", click: () => {
				run.forEach((item) => item.classList.remove("interpreter"));
				button.parentNode.remove();
			} }, end === items.length ? `${count(run.length, "frame")} that started it` : count(run.length, "interpreter frame"));
			list.append(make("li", { class: "fold" }, button));
		}
		list.append(items[i]);
	}
	return list;
}

function stack(fiber) {
	const parts = partsOf(fiber);
	const lastRuby = parts.reduce((last, part, index) => part.frame !== undefined ? index : last, -1);
	const items = parts.map((part, index) => part.frame !== undefined ? rubyFrame(fiber, part.frame)
		: part.native !== undefined ? nativeFrame(fiber, part.native, lastRuby >= 0 && index > lastRuby)
		: make("li", { class: "gap problem" }, part.gap || "frames that could not be put in order"));
	const notes = [fiber.problem, fiber.native_problem, fiber.frames_truncated && "It has more frames than rcore reads."].filter(Boolean);
	return [notes.map(problem),
		items.length ? foldRuns(items) : make("p", { class: "quiet" }, "No frames.")].flat();
}

// Shows the run of hidden frames that this one belongs to.
function unfold(item) {
	if (!item.classList.contains("interpreter")) return;
	let before = item.previousElementSibling;
	while (before && !before.classList.contains("fold")) before = before.previousElementSibling;
	if (before) before.querySelector("button").click();
}
