// SPDX-License-Identifier: MIT
"use strict";

// The data that page.c writes.
let profile;

function amount(value) {
	return profile.is_time ? (value / 1e9).toFixed(3) + " s" : `${value.toLocaleString("en")} ${profile.title}`;
}

function changed(value, old) {
	const change = value - old;
	return (change < 0 ? "\u2212" : "+") + (profile.is_time ? (Math.abs(change) / 1e9).toFixed(3) + " s" : Math.abs(change).toLocaleString("en"));
}

// Number 0 is the whole profile, "all". So a function's number is its index plus one.
function functionAt(number) {
	const [kind, label, path, line] = number ? profile.functions[number - 1] : ["none", "all", "", 0];
	return { kind, label, place: path ? at(path, line) : kind === "c" ? "[C]" : "" };
}

function named(number) {
	const { label, place } = functionAt(number);
	return [make("span", { class: "label" }, label), " ", make("span", { class: "place" }, place)];
}

// Takes seconds since 1970. In a damaged recording, they may not be a valid date.
function dateOf(seconds) {
	const date = new Date(1000 * seconds);
	return date.getTime() > 0 && date.toISOString();
}

function header() {
	const { facts: known, samples, wall, cpu, duration, whose } = profile.new;
	const event = known.event || "";
	const recorded = `${(duration / 1e9).toFixed(2)} s recorded`;
	const what = profile.title === "off-CPU time" ? `threads left their processors ${samples.toLocaleString("en")} times, for ${amount(wall)} in all`
		: profile.is_time ? `${count(samples, "sample")}${known.rate ? ` at ${known.rate} Hz` : ""}, ${(wall / 1e9).toFixed(3)} s wall time of ${whose}, ${(cpu / 1e9).toFixed(3)} s CPU time`
			: `${count(samples, "call")}${event ? ` of ${event}` : ""}${event.startsWith("syscalls:") ? `, which moved ${count(wall, "byte")}` : ""}`;
	return make("header", {}, make("h1", {}, known.command || "Recording"), make("p", { class: "cause" }, `${recorded}: ${what}`),
		facts([["Ruby", known.ruby], ["process", known.pid], ["engine", known.engine], ["event", event], ["started", dateOf(known.started)], ["read again", known.rejected], ["threads waited for a processor", known.queued && `${known.queued} % of the time: CPU times of methods may be wrong`],
			["redacted", profile.redacted], ["compared with", profile.old && `${(profile.old.duration / 1e9).toFixed(2)} s of ${profile.old.facts.command || "a recording"}, scaled to the same length`]]),
		profile.notes.map((note) => make("p", { class: "problem" }, note)));
}

// Parked fibers wait while threads do something else, so they are not part of
// the threads' time.
function summary() {
	const whole = profile.states.reduce((a, b) => a + b, 0) - stateTime(profile.states, "parked");
	const times = STATES.map(([name, text]) => [text, stateTime(profile.states, name)]).filter(([, time]) => time);
	const parked = stateTime(profile.states, "parked");
	const top = profile.methods.filter(([, self]) => self).sort(([, a], [, b]) => b - a).slice(0, 3);
	const named = (rows) => rows.map(([number, cost], index) => [index ? ", " : "", make("span", { class: "label" }, functionAt(number).label), ` ${amount(cost)} (${percent(cost, profile.new.whole)})`]).flat();
	const keys = profile.labels.filter((key) => key.count > 1).slice(0, 3);
	const items = [
		profile.is_time && times.length && make("li", {}, `Of ${amount(whole)}, threads spent ${times.map(([text, time]) => `${amount(time)} ${text} (${percent(time, whole)})`).join(", ")}.`),
		profile.is_time && parked > 0 && make("li", {}, `Meanwhile, parked fibers waited for ${amount(parked)}.`),
		profile.application.length > 0 && make("li", {}, "Innermost methods of the application: ", named(profile.application), "."),
		top.length && make("li", {}, `Most ${profile.title} of their own: `, named(top), "."),
		...keys.map((key) => make("li", {}, "Busiest ", make("span", { class: "label" }, key.key), " of ", key.count.toLocaleString("en"), ": ", make("span", { class: "label" }, key.values[0].value), ` ${amount(key.values[0].amount)} (${percent(key.values[0].amount, profile.new.whole)})`, ".")),
		profile.old && make("li", {}, `${amount(profile.new.whole)}, before ${amount(profile.old.whole)}: ${changed(profile.new.whole, profile.old.whole)}.`),
	].filter(Boolean);
	return section("summary", "Summary", items.length && make("ul", {}, items));
}

const ROW = 18; // height of a row of the flame graph, in pixels

function drawFrame([depth, number, x, total, self, fill, oldTotal]) {
	const { label, place } = functionAt(number);
	const width = profile.new.whole ? total / profile.new.whole : 0;
	const before = oldTotal === undefined ? "" : `; before ${amount(oldTotal)}, ${changed(total, oldTotal)}`;
	const about = `${label}${place ? `, ${place}` : ""}: ${amount(total)}, ${(100 * width).toFixed(2)}%, itself ${amount(self)}${before}`;
	return make("g", { "data-x": x, "data-w": width, "data-depth": depth, "data-ns": total, "data-name": label },
		make("title", {}, about), make("rect", { x: `${100 * x}%`, y: depth * ROW, width: `${100 * width}%`, height: ROW - 1, fill }),
		make("text", { x: `${100 * x}%`, y: depth * ROW + 13, dx: 3 }));
}

const KINDS = [["Ruby", "hsl(20,85%,70%)"], ["C", "hsl(48,75%,70%)"], ["native", "hsl(205,55%,70%)"], ["kernel", "hsl(150,35%,70%)"], ["garbage collector", "hsl(290,45%,70%)"]];

function flame() {
	const canvas = make("svg", { id: "frames", role: "group", "aria-label": "Flame graph: callers above callees", width: "100%", height: (profile.depth + 1) * ROW }, profile.frames.map(drawFrame));
	const narrow = profile.narrow ? ` ${count(profile.narrow, "frame")} too narrow to be drawn ${profile.narrow === 1 ? "is" : "are"} left out.` : "";
	const how = profile.is_diff ? "Red took more than before, blue less." : KINDS.map(([name, fill]) => [make("svg", { class: "swatch", "aria-hidden": "true", viewBox: "0 0 1 1" }, make("rect", { width: 1, height: 1, fill })), ` ${name} `]).flat();
	return [make("p", { class: "legend" }, how), make("p", { class: "quiet" }, `Each frame is as wide as its ${profile.title}; callers are above callees. Click or press Enter to zoom, use the arrow keys to move, and press Escape to show all.${narrow}`),
		make("p", { id: "details", role: "status" }), canvas];
}

function labelTables() {
	const left = profile.key_count - profile.labels.length;
	const tables = profile.labels.map((key) => {
		const columns = [
			{ title: key.key, value: (row) => row.value, show: (row) => make("span", { class: "label" }, row.value) },
			{ title: profile.title, value: (row) => row.amount, show: (row) => amount(row.amount), number: true },
			{ title: "share", show: (row) => percent(row.amount, profile.new.whole), number: true },
			...profile.is_diff ? [{ title: "change", value: (row) => row.amount - row.old, show: (row) => changed(row.amount, row.old), number: true }] : [],
			...profile.title === "wall time" ? [{ title: "CPU time", value: (row) => row.cpu, show: (row) => amount(row.cpu), number: true }] : [],
			{ title: "samples", value: (row) => row.samples, show: (row) => row.samples.toLocaleString("en"), number: true },
		];
		const table = sortable(`Label ${key.key}`, columns, key.values, (row) => row.methods && foldable({ class: "more" }, `methods of ${key.key}=${row.value}`, () => methodsOf(row)));
		const rest = key.count - key.values.length;
		return [table.box, rest > 0 && make("p", { class: "quiet" }, `${count(rest, "more value")} took less, together ${amount(key.amount - key.values.reduce((sum, row) => sum + row.amount, 0))}.`)];
	});
	return [tables.flat(), left > 0 && make("p", { class: "quiet" }, `${count(left, "more key")} ${left === 1 ? "is" : "are"} left out.`)].flat();
}

function methodsOf(row) {
	const rest = row.method_count - row.methods.length;
	return [table(["itself", "in all", "method"], row.methods.map(([number, self, total]) => [amount(self), amount(total), named(number)])),
		rest > 0 && make("p", { class: "quiet" }, count(rest, "more method"))];
}

function methodTable() {
	const whole = profile.new.whole;
	const columns = [
		{ title: "method", value: ([number]) => functionAt(number).label, show: ([number]) => named(number) },
		{ title: "itself", value: ([, self]) => self, show: ([, self]) => amount(self), number: true },
		{ title: "share", show: ([, self]) => percent(self, whole), number: true },
		{ title: "in all", value: ([, , total]) => total, show: ([, , total]) => amount(total), number: true },
		{ title: "of the whole", show: ([, , total]) => percent(total, whole), number: true },
		{ title: "residency", value: ([, , , samples]) => samples, show: ([, , , samples]) => percent(samples, profile.new.samples), number: true },
		...profile.is_diff ? [
			{ title: "change itself", value: ([, self, , , old]) => self - old, show: ([, self, , , old]) => changed(self, old), number: true },
			{ title: "change in all", value: ([, , total, , , old]) => total - old, show: ([, , total, , , old]) => changed(total, old), number: true },
		] : [],
	];
	return sortable("Methods", columns, profile.methods);
}

function build(text) {
	profile = JSON.parse(text);
	const methods = methodTable(), left = profile.method_count - profile.methods.length;
	const field = make("input", { type: "search", id: "search", placeholder: "method \u2026", "aria-label": "Search in the flame graph and the methods", autocomplete: "off", input: () => graph.search(field.value) });
	const found = make("span", { id: "found", role: "status" }), reset = make("button", { type: "button", id: "reset" }, "Reset zoom");
	document.body.append(header(), make("main", {}, ...[
		summary(), make("div", { class: "toolbar", role: "search" }, field, found, reset),
		section("flame", "Flame graph", flame()), section("processes", "Processes", processTable()), section("threads", "Threads", threadTable()), section("labels", "By label", labelTables()),
		section("methods", "Methods", methods.box, left > 0 && make("p", { class: "quiet" }, `${count(left, "more method")} took less.`)),
	].filter(Boolean)), make("footer", {}, writtenBy(), "`rcore report FILE -o x.json` writes all of the recording\u2019s totals."));
	const graph = flameGraph({
		canvas: document.getElementById("frames"), details: document.getElementById("details"), reset, found,
		onChange(wanted, pattern) {
			if (document.activeElement !== field) field.value = wanted || "";
			methods.filter(([number]) => {
				const { label, place } = functionAt(number);
				return !pattern || pattern.test(label) || pattern.test(place);
			});
		},
	});
	searchKeys((wanted) => graph.search(wanted));
	addEventListener("beforeprint", methods.showAll);
}

start(build);
