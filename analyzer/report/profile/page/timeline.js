// SPDX-License-Identifier: MIT
"use strict";

// The states of a thread and what they are called, in the order in which they are
// drawn, from the bottom up.
const STATES = [
	["running", "running"], ["gc", "collecting garbage"], ["gvl", "waiting for the GVL"], ["blocked", "blocked"], ["unknown", "in unknown states"],
];
const LANE = 26; // height of a thread

function stateTime(states, name) {
	return states[profile.state_names.indexOf(name)] || 0;
}

// Draws one shape for each state: bars on top of each other, each as high as the share
// of the state in its part of the time.
function lane(thread) {
	const full = profile.end / profile.bin_count;
	const heights = new Array(profile.bin_count).fill(0);
	const shapes = STATES.map(([name]) => {
		const bins = (thread.bins || [])[profile.state_names.indexOf(name)] || [];
		let path = "";
		for (let i = 0; i < bins.length; i += 2) {
			const height = Math.min(1 - heights[bins[i]], bins[i + 1] / full);
			path += `M${bins[i]} ${(LANE * (1 - heights[bins[i]])).toFixed(2)}v${(-LANE * height).toFixed(2)}h1v${(LANE * height).toFixed(2)}z`;
			heights[bins[i]] += height;
		}
		return path && make("path", { class: `state-${name}`, d: path });
	});
	const told = STATES.filter(([name]) => stateTime(thread.states, name)).map(([name, text]) => `${text} ${amount(stateTime(thread.states, name))}`);
	return make("svg", { class: "lane", role: "img", "aria-label": `${nameOfThread(thread)}: ${told.join(", ")}`, viewBox: `0 0 ${profile.bin_count} ${LANE}`, preserveAspectRatio: "none" }, shapes);
}

function nameOfThread(thread) {
	return [thread.id, thread.name].filter(Boolean).join(" ") || (thread.tid ? `thread ${thread.tid}` : "no thread");
}

function legend(states) {
	return make("p", { class: "legend" }, states.map(([name, text]) => [make("svg", { class: "swatch", "aria-hidden": "true", viewBox: "0 0 1 1" }, make("rect", { class: `state-${name}`, width: 1, height: 1 })), ` ${text} `]).flat());
}

// The threads, the busiest first. A recording of system calls has no states.
function threadTable() {
	const sum = (thread) => thread.states.reduce((a, b) => a + b, 0);
	const used = STATES.filter(([name]) => stateTime(profile.states, name));
	const several = new Set(profile.threads.map((thread) => thread.pid)).size > 1;
	const column = (title, value) => ({ title, value, show: (thread) => value(thread) ? amount(value(thread)) : "", number: true });
	const columns = [{ title: "thread", show: (thread) => [make("span", { class: "label" }, nameOfThread(thread)), several && make("small", {}, ` pid ${thread.pid} ${thread.title || ""}`)] }];
	if (profile.is_time) {
		columns.push({ title: `0 to ${amount(profile.end)}`, show: lane });
		columns.push(...used.map(([name, text]) => column(text, (thread) => stateTime(thread.states, name))));
		if (stateTime(profile.states, "parked")) columns.push(column("parked fibers", (thread) => stateTime(thread.states, "parked")));
	} else {
		columns.push(column(profile.title, sum));
	}
	const table = sortable("Threads", columns, profile.threads);
	const left = profile.thread_count - profile.threads.length;
	return [profile.is_time && legend(used), table.box, left > 0 && make("p", { class: "quiet" }, `${count(left, "thread")} that did less ${left === 1 ? "is" : "are"} left out.`)];
}
