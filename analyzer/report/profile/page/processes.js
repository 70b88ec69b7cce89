// SPDX-License-Identifier: MIT
"use strict";

// The processes, those that did the most first; nothing if there is only one.
function processTable() {
	const { title, whole, has_gvl, count: all, rows } = profile.processes;
	if (all < 2) return [];
	const columns = [
		{ title: "process", value: (row) => row.id, show: (row) => [make("span", { class: "label" }, [row.id, row.role].filter(Boolean).join(" ")), row.title && make("small", {}, ` ${row.title}`)] },
		{ title, value: (row) => row.amount, show: (row) => amount(row.amount), number: true },
		{ title: "share", show: (row) => percent(row.amount, whole), number: true },
		...profile.is_diff ? [{ title: "change", value: (row) => row.amount - row.old, show: (row) => changed(row.amount, row.old), number: true }] : [],
		...has_gvl ? [{ title: "waiting for the GVL", value: (row) => row.threads && row.gvl / row.threads, show: (row) => percent(row.gvl, row.threads), number: true }] : [],
		{ title: "samples", value: (row) => row.samples, show: (row) => row.samples.toLocaleString("en"), number: true },
		...rows.some((row) => row.ended) ? [{ title: "ended after", value: (row) => row.ended, show: (row) => row.ended ? `${(row.ended / 1e9).toFixed(1)} s` : "", number: true }] : [],
	];
	const left = all - rows.length;
	return [sortable("Processes", columns, rows).box, left > 0 && make("p", { class: "quiet" }, `${left.toLocaleString("en")} that did less ${left === 1 ? "is" : "are"} left out.`)];
}
