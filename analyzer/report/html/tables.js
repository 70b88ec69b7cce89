// SPDX-License-Identifier: MIT
"use strict";

const ROWS = 25; // rows of a table that are shown at first

// A table whose columns sort it. columns: [{title, show(row), value(row), number}]; a column without a
// value does not sort. It starts in the order of `rows`. more(row), if given, is the content of a row that
// opens below it. filter(keep) shows only some of the rows.
function sortable(label, columns, rows, more) {
	const body = make("tbody", {}), box = make("div", {});
	const button = make("button", { type: "button", click: () => show(Infinity) });
	let order = rows, shown = ROWS, kept = rows;
	const heads = columns.map((column) => {
		const head = make("th", { scope: "col", class: column.number && "number" });
		head.append(column.value ? make("button", { type: "button", click: () => sort(column, head) }, column.title) : safe(column.title));
		return head;
	});

	function rowOf(row) {
		const cells = columns.map((column, index) => make(index ? "td" : "th", { scope: !index && "row", class: column.number && "number" }, column.show(row)));
		return [make("tr", {}, cells), more && more(row) ? make("tr", { class: "more" }, make("td", { colspan: columns.length }, more(row))) : null].filter(Boolean);
	}

	function draw() {
		body.replaceChildren(...kept.slice(0, shown).flatMap(rowOf));
		button.textContent = `${(kept.length - shown).toLocaleString("en")} more`;
		button.hidden = kept.length <= shown;
	}

	function show(most) {
		shown = most;
		draw();
	}

	let keep = () => true;
	function filter(wanted) {
		keep = wanted;
		kept = order.filter(keep);
		draw();
	}

	// Numbers begin with the largest; the second time, the other way around.
	function sort(column, head) {
		const isUp = head.getAttribute("aria-sort") === (column.number ? "descending" : undefined) || (!column.number && head.getAttribute("aria-sort") !== "ascending");
		const compare = (a, b) => (column.value(a) > column.value(b)) - (column.value(a) < column.value(b));
		order = [...rows].sort((a, b) => isUp ? compare(a, b) : compare(b, a));
		for (const each of heads) each.removeAttribute("aria-sort");
		head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
		filter(keep);
	}

	box.append(make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": label },
		make("table", {}, make("thead", {}, make("tr", {}, heads)), body)), button);
	draw();
	return { box, filter, showAll: () => show(Infinity) };
}

// A share of a whole as a percentage.
function percent(part, whole) {
	return whole ? (100 * part / whole).toFixed(1) + "%" : "";
}
