// SPDX-License-Identifier: MIT
//
// Checks pages about recordings: computes all of their values again from the
// JSON of the same recording.
"use strict";
const { same, sameSet, becomes, go, accessible, phone, tables } = require("./shared");

const TEXT_MAX = 240; // bytes of a name
const TOP = 500; // methods by time of their own, and as many by total time
const [KEYS, VALUES, DETAILED, LABEL_METHODS] = [12, 40, 5, 10];
const LEAST = 0.1 / 1200, FRAMES = 3000; // of the flame graph
const STATES = [["running", "running"], ["gc", "collecting garbage"], ["gvl", "waiting for the GVL"], ["blocked", "blocked"], ["unknown", "in unknown states"]];

function cut(text) {
	const bytes = Buffer.from(text);
	let length = TEXT_MAX;
	if (bytes.length <= TEXT_MAX) return text;
	while ((bytes[length] & 0xc0) === 0x80) length--;
	return bytes.subarray(0, length).toString() + "...";
}

// Adds up what `rcore report -o x.json` writes.
class Sums {
	constructor(report, mode) {
		this.report = report;
		this.isCalls = (report.facts.event || "").startsWith("syscalls:");
		this.isOffCpu = report.facts.event === "off-cpu";
		this.title = this.isCalls ? "calls" : this.isOffCpu ? "off-CPU time" : mode === "cpu" ? "CPU time" : "wall time";
		this.key = this.isCalls ? "samples" : mode === "cpu" ? "cpu" : "wall";
		this.whole = report.sums[this.key];
		this.isDiff = "old_samples" in report.sums;
	}

	text(value) {
		return this.isCalls ? `${value.toLocaleString("en")} calls` : (value / 1e9).toFixed(3) + " s";
	}

	change(value, old) {
		return (value < old ? "\u2212" : "+") + (this.isCalls ? Math.abs(value - old).toLocaleString("en") : (Math.abs(value - old) / 1e9).toFixed(3) + " s");
	}

	percent(part, whole = this.whole) {
		return whole ? (100 * part / whole).toFixed(1) + "%" : "";
	}

	label(number) {
		return cut(this.report.functions[number].label || (number ? "(unknown)" : "(no frames)"));
	}

	place(number) {
		const { kind, path, line } = this.report.functions[number];
		return path ? cut(path) + (line ? `:${line}` : "") : kind === "c" ? "[C]" : "";
	}

	// Returns the functions of a stack, the outermost first.
	stack(total) {
		const stack = [];
		for (let { node } = total; node; node = this.report.nodes[node].parent) stack.unshift(this.report.nodes[node].function);
		return stack;
	}

	methods(totals) {
		const methods = new Map();
		for (const total of totals) {
			const stack = this.stack(total);
			const self = stack.length ? stack[stack.length - 1] : 0;
			for (const number of new Set(stack.length ? stack : [0])) {
				if (!methods.has(number)) methods.set(number, { number, self: 0, total: 0, samples: 0, oldSelf: 0, oldTotal: 0 });
				const method = methods.get(number);
				method.total += total[this.key];
				method.samples += total.samples;
				method.oldTotal += total[`old_${this.key}`] || 0;
				if (number !== self) continue;
				method.self += total[this.key];
				method.oldSelf += total[`old_${this.key}`] || 0;
			}
		}
		return [...methods.values()].filter((method) => method.samples || method.oldTotal);
	}

	// Returns the time by the labels of all callers: "all", then those of
	// the stack.
	paths() {
		const paths = new Map();
		for (const total of this.report.totals) {
			const labels = ["all", ...this.stack(total).map((number) => this.label(number))];
			labels.forEach((_, index) => {
				const key = labels.slice(0, index + 1).join("\0");
				paths.set(key, (paths.get(key) || 0) + total[this.key]);
			});
		}
		return paths;
	}

	states(totals) {
		const sums = {};
		for (const total of totals) sums[total.state] = (sums[total.state] || 0) + total[this.key];
		return sums;
	}

	// What the innermost methods of the application took, the most first. See "gems" of tests/profile/write.
	application() {
		const { functions, nodes, totals } = this.report, amounts = new Map();
		for (const total of totals) {
			let node = total.node;
			const isOwn = ({ kind, path }) => kind === "ruby" && path && !path.includes("/gems/") && path !== "/usr/bin/rackup";
			while (node && !isOwn(functions[nodes[node].function])) node = nodes[node].parent;
			if (node) amounts.set(nodes[node].function, (amounts.get(nodes[node].function) || 0) + total[this.key]);
		}
		return [...amounts.values()].filter(Boolean).sort((a, b) => b - a);
	}

	// key => value => {amount, cpu, samples, totals}
	labels() {
		const keys = new Map();
		for (const total of this.report.totals) {
			for (const [key, value] of Object.entries(total.labels || {})) {
				if (!keys.has(key)) keys.set(key, new Map());
				const values = keys.get(key);
				if (!values.has(value)) values.set(value, { value, amount: 0, cpu: 0, samples: 0, old: 0, totals: [] });
				const sum = values.get(value);
				sum.amount += total[this.key];
				sum.old += total[`old_${this.key}`] || 0;
				sum.cpu += total.cpu;
				sum.samples += total.samples;
				sum.totals.push(total);
			}
		}
		return [...keys].map(([key, values]) => ({ key, values: [...values.values()].sort((a, b) => b.amount - a.amount) })).map((each) => ({ ...each, amount: each.values.reduce((sum, { amount }) => sum + amount, 0) }))
			.sort((a, b) => b.amount - a.amount || a.values.length - b.values.length);
	}
}

const TESTS = {
	// The result depends only on the kind of page, and a check takes ten
	// seconds.
	accessible: async (page, { name }) => /short|compared/.test(name) ? accessible(page) : [],
	phone,
	async summary(page, { sums }) {
		const found = await page.evaluate(() => [...document.querySelectorAll("#summary li")].map((item) => item.textContent));
		const states = sums.states(sums.report.totals);
		const whole = STATES.reduce((sum, [name]) => sum + (states[name] || 0), 0);
		const spent = STATES.filter(([name]) => states[name]).map(([name, text]) => `${sums.text(states[name])} ${text} (${sums.percent(states[name], whole)})`);
		const selves = sums.methods(sums.report.totals).filter((method) => method.self).map((method) => method.self).sort((a, b) => b - a).slice(0, 3);
		const wanted = [];
		if (!sums.isCalls && spent.length) wanted.push(`Of ${sums.text(whole)}, threads spent ${spent.join(", ")}.`);
		if (!sums.isCalls && states.parked) wanted.push(`Meanwhile, parked fibers waited for ${sums.text(states.parked)}.`);
		const differences = same("states", found.slice(0, wanted.length), wanted);
		const own = sums.application().slice(0, 3), ours = own.length ? found.splice(wanted.length, 1)[0] : "";
		differences.push(...same("methods of the application", ours.startsWith("Innermost methods of the application: ") || !own.length, true));
		differences.push(...own.filter((time) => !ours.includes(`${sums.text(time)} (${sums.percent(time)})`)).map((time) => `${ours} lacks ${sums.text(time)}`));
		const tops = found[wanted.length] || "";
		differences.push(...same("top methods", tops.startsWith(`Most ${sums.title} of their own: `), true));
		differences.push(...selves.filter((self) => !tops.includes(`${sums.text(self)} (${sums.percent(self)})`)).map((self) => `${tops} lacks ${sums.text(self)}`));
		const busiest = sums.labels().filter((key) => key.values.length > 1).slice(0, 3).map(({ key, values }) => [`Busiest ${cut(key)} of ${values.length.toLocaleString("en")}: `, ` ${sums.text(values[0].amount)} (${sums.percent(values[0].amount)}).`]);
		const told = found.slice(wanted.length + 1);
		differences.push(...same("busiest labels", told.filter((line) => line.startsWith("Busiest")).length, busiest.length));
		return [...differences, ...busiest.filter((parts) => !told.some((line) => parts.every((part) => line.includes(part)))).map((parts) => `no line has ${parts.join("\u2026")}`)];
	},
	// Each frame has the time of its stack, and is within its caller. Only
	// narrower frames are left out.
	async flame(page, { sums, name }) {
		const frames = await page.evaluate(() => [...document.querySelectorAll("#frames > g")].map((group) => [Number(group.dataset.depth), group.dataset.name, Number(group.dataset.ns), parseFloat(group.querySelector("rect").getAttribute("x")), parseFloat(group.querySelector("rect").getAttribute("width"))]));
		const found = new Map(), expected = sums.paths(), ends = [], differences = [];
		let stack = [], least = Infinity;
		for (const [depth, name, time, x, width] of frames) {
			stack = [...stack.slice(0, depth), name];
			const key = stack.join("\0");
			found.set(key, (found.get(key) || 0) + time);
			least = Math.min(least, time);
			ends[depth] = x + width;
			if (Math.abs(width - 100 * time / sums.whole) > 1e-6 || (depth && x + width > ends[depth - 1] + 1e-5)) differences.push(`${key} is at ${x}%, ${width}% wide`);
		}
		for (const [key, time] of expected) {
			// Redacted names are equal, and some frames with such
			// names are left out.
			if (found.has(key) ? found.get(key) !== time && !(name.includes("redacted") && found.get(key) < time) : time > least && time >= LEAST * sums.whole) differences.push(`${JSON.stringify(key)} has ${found.get(key)}, not ${time}`);
		}
		const wide = [...expected.values()].filter((time) => time >= LEAST * sums.whole).length;
		if (frames.length < Math.min(FRAMES, wide) || frames.length > FRAMES) differences.push(`${frames.length} frames are shown, of ${wide}`);
		return [...differences, ...same("invented", [...found.keys()].filter((key) => !expected.has(key)), [])];
	},
	async methods(page, { sums }) {
		const [found] = await tables(page, "methods");
		const methods = sums.methods(sums.report.totals);
		const both = (method) => method.self + method.oldSelf;
		methods.sort((a, b) => both(b) - both(a));
		const rows = methods.slice(0, 2 * TOP).map(({ number, self, total, samples, oldSelf, oldTotal }) => [[sums.label(number), sums.place(number)].join(" "), sums.text(self), sums.percent(self), sums.text(total), sums.percent(total), sums.percent(samples, sums.report.sums.samples),
			...sums.isDiff ? [sums.change(self, oldSelf), sums.change(total, oldTotal)] : []]);
		if (methods.length <= 2 * TOP) return sameSet("rows", found, rows);
		return same("rows", found.length, 2 * TOP);
	},
	// Only a recording of several processes has the table.
	async processes(page, { sums }) {
		const [found = []] = await tables(page, "processes");
		const { processes, totals, threads, facts } = sums.report, used = processes.filter((process) => process.samples);
		if (used.length < 2 || facts.event) return same("rows", found, []);
		const whole = used.reduce((sum, { cpu }) => sum + cpu, 0), ended = used.some((process) => process.ended);
		const wanted = used.map((process) => {
			const own = totals.filter((total) => processes[threads[total.thread || 0].process || 0] === process && total.state !== "parked");
			const [wall, gvl] = [own, own.filter((total) => total.state === "gvl")].map((list) => list.reduce((sum, total) => sum + total.wall, 0));
			return [`${process.pid} ${process.role} ${process.title}`, sums.text(process.cpu), sums.percent(process.cpu, whole), sums.percent(gvl, wall), process.samples.toLocaleString("en"),
				...ended ? [process.ended ? `${(process.ended / 1e9).toFixed(1)} s` : ""] : []];
		});
		return sameSet("rows", found, wanted);
	},
	async threads(page, { sums }) {
		const [found] = await tables(page, "threads");
		const { report } = sums, all = sums.states(report.totals);
		const shown = [...STATES.map(([name]) => name), "parked"].filter((name) => all[name]);
		const wanted = report.threads.map((thread, index) => [thread, report.totals.filter((total) => (total.thread || 0) === index && total.samples)]).filter(([, totals]) => totals.length).map(([thread, totals]) => {
			const states = sums.states(totals), process = report.processes.length > 2 ? ` pid ${thread.pid} ${thread.title || ""}` : "";
			const name = ([thread.id, thread.name].filter(Boolean).join(" ") || "no thread") + process;
			if (sums.isCalls) return [name, sums.text(totals.reduce((sum, total) => sum + total.samples, 0))];
			return [name, "", ...shown.map((state) => states[state] ? sums.text(states[state]) : "")];
		});
		return sameSet("rows", found, wanted);
	},
	// The heights of a thread's bars are its time in each state. Their
	// areas are equal to the sums in the table.
	async lanes(page, { sums, data }) {
		const differences = [];
		const areas = await page.evaluate(() => [...document.querySelectorAll(".lane")].map((lane) => Object.fromEntries([...lane.querySelectorAll("path")].map((path) => [path.getAttribute("class").replace("state-", ""),
			[...path.getAttribute("d").matchAll(/v-([\d.]+)h1/g)].reduce((sum, [, height]) => sum + Number(height), 0)]))));
		if (sums.isCalls) return same("lanes", areas.length, 0);
		areas.forEach((area, index) => {
			const thread = data.threads[index], bins = data.bin_count;
			for (const [name] of STATES) {
				const wanted = thread.states[data.state_names.indexOf(name)] / data.end * bins * 26;
				// Bars that overlap are cut off at the top.
				if ((area[name] || 0) > wanted + 0.01 * bins || (area[name] || 0) < 0.9 * wanted - 0.01 * bins) differences.push(`${thread.id} ${name}: ${area[name]}, not ${wanted}`);
			}
		});
		return differences;
	},
	async labels(page, { sums }) {
		const found = await tables(page, "labels");
		const keys = sums.labels();
		const differences = same("tables", found.length, Math.min(keys.length, KEYS));
		keys.slice(0, KEYS).forEach(({ key, values }, index) => {
			const rows = values.map((value) => [cut(value.value), sums.text(value.amount), sums.percent(value.amount), ...sums.isDiff ? [sums.change(value.amount, value.old)] : [], ...sums.title === "wall time" ? [sums.text(value.cpu)] : [], value.samples.toLocaleString("en")]);
			if (values.length <= VALUES) differences.push(...sameSet(key, found[index], rows));
			else differences.push(...same(`rows of ${key}`, found[index].length, VALUES), ...same(`first of ${key}`, found[index][0].slice(1), rows[0].slice(1)));
		});
		return differences;
	},
	// The methods of the first values of each key have their own time and
	// the time in all.
	async "methods of labels"(page, { sums }) {
		const found = await page.evaluate(() => [...document.querySelectorAll("#labels details")].map((details) => {
			details.fill();
			return [details.querySelector("summary").textContent, [...details.querySelector("table").tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))];
		}));
		const wanted = sums.labels().slice(0, KEYS).flatMap(({ key, values }) => values.slice(0, DETAILED).map((value) => {
			const methods = sums.methods(value.totals).sort((a, b) => b.self - a.self || b.total - a.total).slice(0, LABEL_METHODS);
			return [`methods of ${cut(key)}=${cut(value.value)}`, methods.map(({ number, self, total }) => [sums.text(self), sums.text(total), [sums.label(number), sums.place(number)].join(" ")])];
		}));
		// Of values and of methods with equal times, the page may show
		// any.
		return sameSet("methods", found.map(([, rows]) => rows.map((row) => row.slice(0, 2))), wanted.map(([, rows]) => rows.map((row) => row.slice(0, 2))));
	},
	// The keyboard alone reaches the search and the graph, zooms in, and
	// leaves the graph.
	async keyboard(page, { sums }) {
		await page.evaluate(() => document.activeElement && document.activeElement.blur());
		const visited = await page.evaluate(() => history.length);
		await page.keyboard.press("/");
		const differences = same("after /", await page.evaluate(() => document.activeElement.id), "search");
		const methods = sums.methods(sums.report.totals), word = sums.label(methods[methods.length - 1].number);
		await page.keyboard.type(word.slice(0, 40).replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
		// After the last letter, the page has searched for all that was
		// typed, and marks only that.
		differences.push(...await becomes(page, "found", () => {
			const text = document.getElementById("search").value, names = [...document.querySelectorAll("#frames .found")].map((group) => group.dataset.name);
			return [new URLSearchParams(location.hash.slice(1)).get("search") === text, names.filter((name) => !new RegExp(text, "i").test(name)), /^found in [\d.]+%$/.test(document.getElementById("found").textContent)];
		}, [true, [], true]));
		differences.push(...same("history", await page.evaluate(() => history.length), visited));
		await page.keyboard.press("Escape");
		differences.push(...await becomes(page, "after Escape", () => [document.getElementById("search").value, document.querySelectorAll("#frames .found").length], ["", 0]));
		for (let i = 0; i < 10 && await page.evaluate(() => document.activeElement.tagName.toLowerCase()) !== "g"; i++) await page.keyboard.press("Tab");
		await page.keyboard.press("ArrowDown");
		differences.push(...await becomes(page, "after an arrow", () => [document.activeElement.dataset.depth, document.activeElement.getAttribute("aria-label") === document.getElementById("details").textContent], ["1", true]));
		await page.keyboard.press("Enter");
		differences.push(...await becomes(page, "after Enter", () => [/zoom=\d/.test(location.hash), document.activeElement.querySelector("rect").getAttribute("width")], [true, "100%"]));
		// The Tab key leads to a frame that is shown, whichever was
		// current before the zoom.
		await page.evaluate(() => { location.hash = `zoom=${document.querySelectorAll("#frames > g").length - 1}`; });
		differences.push(...await becomes(page, "with the last frame", () => [...document.querySelectorAll("#frames [tabindex]")].map((group) => [group.classList.contains("hidden"), group === document.activeElement]), [[false, true]]));
		await page.keyboard.press("Escape");
		return [...differences, ...await becomes(page, "after the last Escape", () => [location.hash, document.querySelectorAll("#frames .hidden").length], ["#all", 0])];
	},
	// A search filters the methods, and a column sorts them.
	async search(page, { sums }) {
		const methods = sums.methods(sums.report.totals), word = sums.label(methods[0].number).slice(0, 20);
		const line = ({ number }) => `${sums.label(number)}\n${sums.place(number)}`.toLowerCase();
		await go(page, new URLSearchParams({ search: word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") }).toString());
		const wanted = methods.filter((method) => line(method).includes(word.toLowerCase())).length;
		const differences = methods.length > 2 * TOP ? [] : await becomes(page, "rows", () => document.getElementById("methods").querySelectorAll("tbody tr").length, wanted);
		await go(page, "");
		await page.evaluate(() => [...document.querySelectorAll("#methods thead button")].find((button) => button.textContent === "in all").click());
		const order = await page.evaluate(() => [...document.querySelectorAll("#methods tbody tr")].map((row) => parseFloat(row.cells[3].textContent.replace(/,/g, ""))));
		return [...differences, ...same("sorted", order, [...order].sort((a, b) => b - a))];
	},
	async paper(page, { small }) {
		return small ? same("starts with", Buffer.from((await page.pdf()).slice(0, 5)).toString(), "%PDF-") : [];
	},
};

module.exports = { TESTS, contextOf: (report, files) => ({ sums: new Sums(report, files.mode), small: report.sums.samples < 1000 }) };
