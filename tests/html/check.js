// SPDX-License-Identifier: MIT
//
// Compares what a browser shows of pages with rcore's JSON of the same moment.
// Reads the names of the pages' files from its input.
//
//	node check.js FOLDER < PAGES
"use strict";
const fs = require("fs");
const path = require("path");
const zlib = require("zlib");
const puppeteer = require("puppeteer-core");
const { plain, same, go, accessible, phone } = require("./shared");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const [, , folder] = process.argv;
const MOST = 60; // stacks of a page that are compared; the others are like them
const LIMIT = 120000;

// The pages of the program `wanted` must have what a test looks for.
const needs = (name, wanted, has) => !name.startsWith(wanted) || has ? [] : ["the page has none of these"];

// Writes a page of the same program with other data, and returns its URL.
function pageOf(files, data, path) {
	const page = fs.readFileSync(files.html, "utf8");
	const start = page.indexOf('<script id="data" type="text/plain">') + 36;
	fs.writeFileSync(path, page.slice(0, start) + zlib.gzipSync(JSON.stringify(data)).toString("base64") + page.slice(page.indexOf("<", start)));
	return "file://" + path;
}

// Every field of the JSON is optional, and none can be trusted.
const SPARSE = {
	failure: { schema: "rcore/1", complete: false, failure: "nothing of Ruby", cause: { text: "Killed by SIGSEGV" } },
	empty: {
		schema: "rcore/1", threads: [{ id: "T2", current_fiber: "T2.F0" }, { id: "T3" }], problems: ["p"], proofs: [{}],
		fibers: [{ id: "T1.F0", thread: "T1", current: true, frames: [{}, { kind: "ruby" }], native: [{}], stack: [{ frame: 0 }, { native: 0 }, { frame: 1 }, { gap: "g" }], wait: { kind: "mutex", owner: {} } }],
		locks: [{}], pools: [{ waiters: ["T1.F0"] }], deadlocks: [{}], summary: [{}], other_threads: [{ tid: 5, native: [{}] }], modules: [{}], tasks: [{}],
		thread_groups: [{ threads: ["T9", "T8"] }], groups: [{ fibers: ["T9.F1"] }], blame: { name: "x" }, facts: { gems: [{}] },
	},
	groups: {
		schema: "rcore/1", complete: true, threads: [{ id: "T1" }],
		fibers: Array.from({ length: 600 }, (_, i) => ({ id: `T1.F${i}`, thread: "T1", status: "suspended", frames: [{ kind: "ruby", label: `group${i >> 1}`, path: "a.rb", line: i }] })),
		groups: Array.from({ length: 300 }, (_, i) => ({ fibers: [`T1.F${2 * i}`, `T1.F${2 * i + 1}`] })),
	},
};
const SHOWN = { failure: ["#failure", ["Killed by SIGSEGV", "nothing of Ruby"]], empty: ["#K5.n0", ["T1.F0", "It runs T2.F0, which is not in this report."]], groups: ["#T1.F599.0", ["group299"]] };

async function sparse(browser, files) {
	const results = {};
	for (const [name, data] of Object.entries(SPARSE)) {
		const page = await browser.newPage();
		const events = [];
		page.on("pageerror", (error) => events.push(`error: ${error.message}`));
		const [hash, texts] = SHOWN[name];
		await page.goto(pageOf(files, data, path.join(folder, `${name}.html`)) + hash);
		await page.waitForSelector("html[data-ready]", { timeout: LIMIT });
		for (const odd of ["%", "T999", "T1.F0.77", hash.slice(1)]) await go(page, odd);
		await page.evaluate(() => document.querySelectorAll("main details").forEach((details) => { details.open = true; }));
		await page.evaluate(() => new Promise((done) => setTimeout(done, 100)));
		const text = await page.evaluate(() => document.body.innerText);
		const lost = texts.filter((each) => !text.includes(each));
		const invented = text.match(/.*\b(?:undefined|null|NaN|\[object).*/) || [];
		const reached = await page.evaluate(() => document.querySelectorAll(".target").length);
		results[`sparse ${name}`] = [...events, ...same("lost", lost, []), ...same("invented", invented, []), ...same("reached", reached, name === "failure" ? 0 : 1)];
		await page.close();
	}
	return results;
}

// Returns the rows of a fiber's stack: [what runs, where].
function rowsOf(fiber) {
	const parts = fiber.stack && fiber.stack.length ? fiber.stack : fiber.frames.map((_, frame) => ({ frame }));
	return parts.map((part) => {
		if (part.gap !== undefined) return [plain(part.gap)];
		if (part.frame !== undefined) {
			const frame = fiber.frames[part.frame];
			const native = frame.kind === "cfunc" || frame.kind === "ifunc" ? "[C]" : "";
			return [plain(frame.label || `(${frame.kind})`), plain(frame.path ? frame.path + (frame.line ? ":" + frame.line : "") : native)];
		}
		const frame = fiber.native[part.native];
		const offset = frame.offset === undefined ? "" : "+0x" + frame.offset.toString(16);
		const name = frame.function ? frame.function + offset : frame.module ? `${frame.module}+0x${frame.module_offset.toString(16)}` : frame.pc;
		return [plain(name)];
	});
}

// The label of each arrow appears when the arrow has the focus and after a tap,
// and not before.
async function labels(page, waiting, report) {
	const found = await page.evaluate(() => [...document.querySelectorAll("#waits .edge")].map((edge) => {
		const text = edge.querySelector("text"), shown = () => getComputedStyle(text).visibility;
		document.activeElement.blur();
		const before = shown();
		edge.focus();
		const after = shown();
		document.activeElement.blur();
		edge.dispatchEvent(new MouseEvent("click", { bubbles: true }));
		return [text.textContent, edge.getAttribute("aria-label"), before, after, shown()];
	}));
	const known = new Set([...waiting.map(({ wait }) => plain([wait.kind.replace(/_/g, " "), wait.object].filter(Boolean).join(" "))), ...report.pools.length ? ["connection", "semaphore", "held by"] : []]);
	// Fibers and threads wait, one or several of them; a pool is held.
	const one = /^[TE]\S+ (.* )?waits: /s, several = /^[TE]\S+( [TE]\S+)+ wait: /, held = /^Pool of .*, held by [TE]/s;
	return found.flatMap(([text, about, ...states]) => [...same(`arrow ${text}`, states, ["hidden", "visible", "visible"]), ...same(`a reason ${text}`, known.has(text), true),
		...same(`name ${about}`, text === "held by" ? held.test(about) : about.endsWith(`: ${text}`) && (one.test(about) || several.test(about)), true)]);
}

// The tests run in this order: the first ones look at the page as it opens.
const TESTS = {
	// The keyboard alone reaches the search, and the first thread, which it
	// closes and opens.
	async keyboard(page) {
		await page.evaluate(() => document.activeElement && document.activeElement.blur());
		await page.keyboard.press("/");
		const differences = same("after /", await page.evaluate(() => document.activeElement.id), "search");
		for (let i = 0; i < 10 && await page.evaluate(() => document.activeElement.tagName) !== "SUMMARY"; i++) await page.keyboard.press("Tab");
		const state = () => page.evaluate(() => document.activeElement.tagName === "SUMMARY" && document.activeElement.parentNode.open);
		const before = await state();
		await page.keyboard.press("Enter");
		differences.push(...same("after Enter", await state(), !before));
		await page.keyboard.press("Enter");
		return differences;
	},
	accessible, phone,
	// Each frame of each fiber is at the place that its link leads to.
	async stacks(page, { report }) {
		const differences = [];
		const some = report.fibers.length <= MOST ? report.fibers : Array.from({ length: MOST }, () => report.fibers[Math.floor(Math.random() * report.fibers.length)]);
		for (const fiber of some) {
			await go(page, fiber.id);
			const found = await page.evaluate((id) => {
				const element = document.getElementById(id);
				if (!element || !element.closest("details").open) return null;
				const list = element.closest("details").querySelector(":scope > .stack");
				return list ? [...list.children].filter((item) => !item.classList.contains("fold")).map((item) => item.classList.contains("gap") ? [item.textContent]
					: item.classList.contains("ruby") ? [item.querySelector(".label").textContent, item.querySelector(".place").textContent] : [item.querySelector(".label").textContent]) : [];
			}, fiber.id);
			differences.push(...same(fiber.id, found, rowsOf(fiber)));
		}
		return differences;
	},
	async links(page, { report }) {
		const fiber = report.fibers.filter((each) => each.frames.length > 1).pop();
		if (!fiber) return ["no fiber has two frames"];
		const index = fiber.frames.length - 1;
		await go(page, `${fiber.id}.${index}`);
		const found = await page.evaluate(() => [...document.querySelectorAll(".target")].map((item) => [item.querySelector(".label").textContent, item.checkVisibility(), item.getBoundingClientRect().top >= 0 && item.getBoundingClientRect().bottom <= innerHeight]));
		return same(`#${fiber.id}.${index}`, found, [[plain(fiber.frames[index].label || `(${fiber.frames[index].kind})`), true, true]]);
	},
	async search(page, { report }) {
		const fiber = report.fibers.find((each) => each.frames.some((frame) => frame.path));
		if (!fiber) return ["no fiber has a line"];
		const frame = fiber.frames.find((each) => each.path);
		const word = `${frame.path}:${frame.line}`.split(/\s/)[0].toLowerCase();
		await page.focus("#search");
		await page.evaluate((text) => { const field = document.getElementById("search"); field.value = text; field.dispatchEvent(new Event("input")); }, word);
		const [told, shown] = await page.evaluate(() => [document.getElementById("found").textContent, document.querySelectorAll("#results > details").length]);
		const wanted = report.fibers.filter((each) => JSON.stringify([each.frames.map((one) => `${one.path || ""}:${one.line || ""}`), each.frames.map((one) => one.label || "")]).toLowerCase().includes(JSON.stringify(word).slice(1, -1))).length;
		await page.keyboard.press("Escape");
		const hidden = await page.evaluate(() => [document.getElementById("results").hidden, document.getElementById("all").hidden]);
		return [...same("found", Number(told.replace(/,/g, "").match(/\d+/)[0]), wanted), ...same("shown", shown, Math.min(wanted, 200)), ...same("after Escape", hidden, [true, false])];
	},
	// Interpreter frames are folded until somebody asks for them. Native
	// frames can be hidden.
	async toggles(page, { report, name }) {
		const fiber = report.fibers.find((each) => (each.native || []).some((frame) => frame.interpreter) && each.frames.length) || null;
		if (!fiber) return needs(name, "stuck", false);
		await go(page, fiber.id);
		const visible = () => page.evaluate((id) => [...document.getElementById(id).closest("details").querySelectorAll(":scope > .stack > li")].filter((item) => item.checkVisibility()).map((item) => item.className.split(" ")[0]), fiber.id);
		const boxes = await page.$$(".toolbar input[type=checkbox]");
		const differences = [];
		const rows = rowsOf(fiber).length;
		if ((await visible()).length >= rows) differences.push("nothing is folded");
		await boxes[1].click();
		differences.push(...same("with interpreter frames", (await visible()).length, rows));
		await boxes[0].click();
		const left = (await visible()).filter((name) => name !== "ruby" && name !== "gap");
		differences.push(...same("without native frames", left, []));
		await boxes[0].click();
		await boxes[1].click();
		return differences;
	},
	// Each fiber that waits for another one has an arrow. Those of a
	// deadlock are red.
	async graph(page, { report, name }) {
		const current = new Map(report.threads.map((thread) => [thread.id, thread.current_fiber]));
		const known = new Set(report.fibers.map((fiber) => fiber.id));
		const holder = ({ wait }) => !wait || wait.kind === "gvl" ? undefined : wait.owner && !wait.owner.gone ? wait.owner.fiber || current.get(wait.owner.thread) : wait.thread && current.get(wait.thread);
		const waiting = report.fibers.filter((fiber) => known.has(holder(fiber)));
		const [edges, bad, members] = await page.evaluate(() => [document.querySelectorAll("#waits .edge").length, document.querySelectorAll("#waits .edge.bad").length,
			[...document.querySelectorAll("#waits .node title")].map((title) => title.textContent.split("\n")[0])]);
		const targets = new Set(waiting.map(holder));
		const isBad = (fiber) => report.deadlocks.some((each) => each.fibers.includes(fiber.id) && each.fibers.includes(holder(fiber)));
		const alone = waiting.filter((fiber) => targets.has(fiber.id) || isBad(fiber));
		const merged = new Set(waiting.filter((fiber) => !alone.includes(fiber)).map((fiber) => `${holder(fiber)} ${fiber.wait.kind} ${fiber.wait.object}`));
		const pools = report.pools.filter((pool) => pool.waiters && pool.waiters.length).reduce((sum, pool) => sum + 1 + (pool.holders && pool.holders.length ? 1 : 0), 0);
		const wantedBad = waiting.filter(isBad).length;
		const seen = needs(name, "stuck", wantedBad === 2 && merged.size && report.summary.length);
		const missing = [...targets].filter((id) => { const thread = report.fibers.find((fiber) => fiber.id === id).thread; return !members.some((text) => text.split(" ").includes(thread) || text.split(" ").includes(id)); });
		return [...seen, ...same("arrows", edges, alone.length + merged.size + pools), ...same("red ones", bad, wantedBad), ...await labels(page, waiting, report), ...same("holders that are not drawn", missing, [])];
	},
	async summary(page, { report }) {
		const found = await page.evaluate(() => [...document.querySelectorAll("#summary li")].map((item) => item.textContent));
		return same("summary", found, [...report.deadlocks.map((line) => "Deadlock: " + plain(line.text)), ...report.summary.map((line) => plain(line.text))]);
	},
	// The values of a frame appear when somebody asks for them.
	async values(page, { report, name }) {
		for (const fiber of report.fibers) {
			const index = fiber.frames.findIndex((frame) => frame.locals && frame.locals.length);
			if (index < 0) continue;
			await go(page, `${fiber.id}.${index}`);
			const found = await page.evaluate((id) => {
				const details = document.getElementById(id).querySelector("details");
				details.querySelector("summary").click();
				return new Promise((done) => setTimeout(() => done([...details.querySelectorAll(".values:last-of-type dt")].map((name) => name.textContent))));
			}, `${fiber.id}.${index}`);
			return same(`${fiber.id}.${index}`, found, fiber.frames[index].locals.map((local) => plain(local.name || "?")));
		}
		return needs(name, "stuck", false);
	},
	// Skips pages of thousands of fibers, which take minutes on a busy
	// machine.
	async paper(page, { report }) {
		if (report.fibers.length > 200) return [];
		const pdf = await page.pdf();
		const closed = await page.evaluate(() => document.querySelectorAll("#all > details:not([open])").length);
		return [...same("starts with", Buffer.from(pdf.slice(0, 5)).toString(), "%PDF-"), ...same("closed threads", closed, 0)];
	},
};

// Without scripts, the page shows the text report.
async function withoutScripts(browser, files) {
	const page = await browser.newPage();
	await page.setJavaScriptEnabled(false);
	await page.goto("file://" + files.html);
	const found = await page.$eval("noscript pre", (element) => element.textContent);
	await page.close();
	// How much is redacted depends on how much else the page shows.
	const lines = (text) => text.split("\n").filter((line) => !(files.kind === "heap" && line.startsWith("Redacted (")));
	return same("text", lines(found), lines(fs.readFileSync(files.text, "utf8")));
}

// The tests by what a page is about. This file has those of reports.
const KINDS = { report: { TESTS, contextOf: () => ({}) }, profile: require("./profile"), heap: require("./heap") };

// Returns the data in a page.
function dataOf(file) {
	const page = fs.readFileSync(file, "utf8");
	return JSON.parse(zlib.gunzipSync(Buffer.from(page.match(/<script id="data" type="text\/plain">([^<]*)/)[1], "base64")));
}

async function check(browser, files) {
	const { TESTS: tests, contextOf } = KINDS[files.kind || "report"];
	const report = JSON.parse(fs.readFileSync(files.json, "utf8"));
	const context = { name: files.name, report, data: dataOf(files.html), ...contextOf(report, files) };
	const page = await browser.newPage();
	const events = [];
	page.on("pageerror", (error) => events.push(`error: ${error.message}`));
	page.on("console", (message) => ["error", "warn"].includes(message.type()) && events.push(`console: ${message.text()}`));
	page.on("dialog", (dialog) => { events.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
	page.on("request", (request) => /^(file|blob):/.test(request.url()) || events.push(`request: ${request.url()}`));
	page.setDefaultTimeout(LIMIT);
	await page.setViewport({ width: 1200, height: 900 });
	await page.goto("file://" + files.html);
	await page.waitForSelector("html[data-ready]");
	const results = { opens: events.splice(0) };
	for (const [name, test] of Object.entries(tests)) {
		// The content security policy allows no script except the
		// page's. It does not apply to what the debugger evaluates.
		if (name === "accessible") await page.evaluate(axe);
		const begin = Date.now();
		try {
			results[name] = await test(page, context);
		} catch (error) {
			results[name] = [`exception: ${error.stack}`];
		}
		if (process.env.TIMES) console.error(`${files.name}: ${name}: ${Date.now() - begin} ms`);
	}
	results.quiet = events;
	results.elements = same("elements of the target's", await page.evaluate(() => document.querySelectorAll("img, iframe, object, embed, link, main b b, main i, main script, #frames svg, main style").length), 0);
	await page.close();
	results["without scripts"] = await withoutScripts(browser, files);
	if (files.name.startsWith("stuck")) Object.assign(results, await sparse(browser, files));
	const size = fs.statSync(files.html).size;
	results.size = size < 5e6 ? [] : [`${size} bytes`];
	return results;
}

(async () => {
	const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", headless: true, userDataDir: path.join(folder, "browser"), protocolTimeout: LIMIT, args: ["--no-sandbox", "--disable-gpu"] });
	for (const files of JSON.parse(fs.readFileSync(0, "utf8"))) {
		for (const [name, differences] of Object.entries(await check(browser, files))) {
			console.log(`${differences.length ? "FAIL " : "ok   "} ${files.name}: ${name}`);
			differences.slice(0, 5).forEach((line) => console.log(`      ${line}`));
		}
	}
	await browser.close();
})();
