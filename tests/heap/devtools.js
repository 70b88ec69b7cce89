// SPDX-License-Identifier: MIT
//
// Opens a heapsnapshot in the Memory panel of Chromium's DevTools, and prints what these make of it.
//
//	node devtools.js FOLDER SNAPSHOT
//
// FOLDER has node_modules. Prints JSON: {total, classes: {name: {count, bytes, retained}}, largest: [[class, bytes, retained]],
// rows: [text]}, where rows is what the panel shows. The front end is part of Chromium, below devtools://devtools.
"use strict";
const path = require("path");
const [, , folder, snapshot] = process.argv;
const puppeteer = require(path.join(folder, "node_modules/puppeteer-core"));
const LIMIT = 120000, LARGEST = 50;
const BUNDLED = "devtools://devtools/bundled/";

// Runs in the front end, with its own modules. The class of its aggregates is a key; a nodes' provider lists its objects.
async function read(bundled, most) {
	const { HeapProfilerPanel } = await import(`${bundled}panels/profiler/profiler.js`);
	const panel = HeapProfilerPanel.HeapProfilerPanel.instance();
	const [profile] = panel.findProfileTypeByExtension("x.heapsnapshot").getProfiles();
	const snapshot = await profile.loadPromise;
	panel.showProfile(profile);
	const aggregates = await snapshot.aggregatesWithFilter({});
	const classes = {}, objects = [];
	for (const [key, { name, count, self, maxRet }] of Object.entries(aggregates)) {
		classes[name] = { count, bytes: self, retained: maxRet };
		const provider = snapshot.createNodesProviderForClass(key, {});
		await provider.sortAndRewind({ fieldName1: "retainedSize", ascending1: false, fieldName2: "id", ascending2: true });
		const { items } = await provider.serializeItemsRange(0, most);
		objects.push(...items.map((item) => [name, item.selfSize, item.retainedSize]));
		provider.dispose();
	}
	objects.sort((a, b) => b[2] - a[2]);
	return { total: snapshot.totalSize, classes, largest: objects.slice(0, most) };
}

// The rows of the panel's table, which is drawn later.
function rows() {
	const found = [];
	const walk = (node) => {
		if (node.matches && node.matches("tr.data-grid-data-grid-node")) found.push(node.textContent);
		for (const child of [...(node.shadowRoot ? [node.shadowRoot] : []), ...node.children || []]) walk(child);
	};
	walk(document.body);
	return found;
}

(async () => {
	const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", headless: true, args: ["--no-sandbox", "--disable-gpu"], protocolTimeout: LIMIT });
	try {
		const page = await browser.newPage();
		await page.setViewport({ width: 1600, height: 1000 });
		await page.goto(`${BUNDLED}js_app.html?panel=heap-profiler`, { timeout: LIMIT });
		const input = await page.waitForSelector("pierce/input[type=file]", { timeout: LIMIT });
		await input.uploadFile(snapshot);
		await page.waitForFunction(async (bundled) => {
			const { HeapProfilerPanel } = await import(`${bundled}panels/profiler/profiler.js`);
			return HeapProfilerPanel.HeapProfilerPanel.instance().findProfileTypeByExtension("x.heapsnapshot").getProfiles().length === 1;
		}, { timeout: LIMIT, polling: 100 }, BUNDLED);
		const found = await page.evaluate(read, BUNDLED, LARGEST);
		await page.waitForFunction(`(${rows})().length > 5`, { timeout: LIMIT, polling: 100 });
		found.rows = await page.evaluate(rows);
		console.log(JSON.stringify(found));
	} finally {
		await browser.close();
	}
})();
