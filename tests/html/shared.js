// SPDX-License-Identifier: MIT
//
// Functions that the tests of all pages use.
"use strict";

// Prints invisible characters as Ruby's inspect does. They are the Unicode
// category \p{C}, except two that join letters.
const plain = (text) => [...String(text)].map((c) => {
	if (!/[\p{C}\u2028\u2029]/u.test(c) || /[\u200c\u200d]/.test(c)) return c;
	const known = { "\n": "\\n", "\t": "\\t", "\r": "\\r", "\u001b": "\\e", "\u0007": "\\a", "\b": "\\b", "\v": "\\v", "\f": "\\f" }[c];
	const hex = c.codePointAt(0).toString(16).toUpperCase();
	return known || (c < "\u0080" ? "\\x" + hex.padStart(2, "0") : `\\u{${hex}}`);
}).join("");

function same(name, found, wanted) {
	const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
	return a === b ? [] : [`${name}: ${(a || "").slice(0, 300)}, not ${(b || "").slice(0, 300)}`];
}

// Requires that both have the same elements, in any order.
function sameSet(name, found, wanted) {
	const [a, b] = [found, wanted].map((list) => list.map((each) => JSON.stringify(each)).sort());
	const index = Array.from({ length: Math.max(a.length, b.length) }).findIndex((_, at) => a[at] !== b[at]);
	return index < 0 ? [] : [`${name}: of ${a.length} and ${b.length}, ${String(a[index]).slice(0, 300)}, not ${String(b[index]).slice(0, 300)}`];
}

async function go(page, hash) {
	await page.evaluate((to) => { location.hash = to; }, hash);
	await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
}

// Like same(), but waits until the page shows what is wanted. It draws after
// its address has changed, which takes a while.
async function becomes(page, name, look, wanted) {
	let found;
	for (const end = Date.now() + 60000; Date.now() < end; await new Promise((done) => setTimeout(done, 20))) {
		found = await page.evaluate(look);
		if (JSON.stringify(found) === JSON.stringify(wanted)) break;
	}
	return same(name, found, wanted);
}

// Checks the light and the dark scheme with axe, which must be in the page.
async function accessible(page) {
	const differences = [];
	for (const value of ["light", "dark"]) {
		await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
		const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
		differences.push(...violations.map((each) => `${value}: ${each.id}: ${each.help}: ${each.nodes.slice(0, 2).map((node) => node.html.slice(0, 120)).join(" ")}`));
	}
	await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
	return differences;
}

async function phone(page) {
	await page.setViewport({ width: 360, height: 740 });
	const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
	await page.setViewport({ width: 1200, height: 900 });
	return width <= room ? [] : [`it is ${width} pixels wide, of ${room}`];
}

// Returns all rows of a section's tables: [[text of each cell] ...] for each
// table. First clicks the buttons for more rows.
async function tables(page, id) {
	return page.evaluate((section) => {
		const root = document.getElementById(section);
		if (!root) return [];
		for (const button of root.querySelectorAll(".wide + button")) if (!button.hidden) button.click();
		return [...root.querySelectorAll(".wide > table")].filter((table) => !table.closest("details")).map((table) => [...table.querySelectorAll(":scope > tbody > tr:not(.more)")].map((row) => [...row.cells].map((cell) => cell.textContent)));
	}, id);
}

module.exports = { plain, same, sameSet, becomes, go, accessible, phone, tables };
