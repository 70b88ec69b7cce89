// SPDX-License-Identifier: MIT
//
// Zooms and searches a flame graph, which is an image of its own or part of a page.
// Without this script, the graph is complete, but cannot be zoomed or searched. Each
// frame is a <g>; its data-x and data-w are its position and width as shares of the
// whole. The state is in the fragment of the address, so a view can be linked and the
// browser's back button works: #zoom=12&search=render
"use strict";

// canvas: the element with the frames; details: describes the frame under the pointer
// or with the focus; reset: ends the zoom; found: shows how much the search found. Calls
// onChange(text, pattern) after each change: what is searched for, and its RegExp.
function flameGraph({ canvas, details, reset, found, onChange }) {
	const CHARACTER = 7; // of a 12 px font, on average
	const LEAST = 3; // characters: a shorter text says nothing
	const frames = Array.from(canvas.querySelectorAll("g")).map((group) => ({
		group,
		rect: group.querySelector("rect"),
		text: group.querySelector("text"),
		about: group.querySelector("title").textContent,
		name: group.dataset.name,
		x: Number(group.dataset.x),
		w: Number(group.dataset.w),
		depth: Number(group.dataset.depth),
	}));
	const number = new Map(frames.map((frame, index) => [frame.group, index]));

	function state() {
		return new URLSearchParams(location.hash.slice(1));
	}

	// An empty fragment would scroll to the top of the page. Typing a search adds no
	// steps to the browser's history.
	function change(key, value) {
		const next = state();
		next.delete("all");
		if (value) next.set(key, value);
		else next.delete(key);
		const hash = "#" + (next.toString() || "all");
		if (key === "search") location.replace(hash);
		else location.hash = hash;
	}

	// Returns as much of a name as fits into `width` pixels.
	function fit(name, width) {
		const room = Math.floor((width - 6) / CHARACTER);
		if (room < LEAST) return "";
		return name.length <= room ? name : name.slice(0, room - 1) + "\u2026";
	}

	function place(frame, x, w, width) {
		frame.rect.setAttribute("x", 100 * x + "%");
		frame.rect.setAttribute("width", 100 * w + "%");
		frame.text.setAttribute("x", 100 * x + "%");
		frame.text.textContent = fit(frame.name, w * width);
	}

	// Shows `zoomed` and what it calls over the whole width, below its callers.
	function draw() {
		const zoomed = frames[Number(state().get("zoom"))] || frames[0];
		const width = canvas.getBoundingClientRect().width;
		const end = zoomed.x + zoomed.w;
		const slack = 1e-7; // places are rounded; a frame has 8e-5 at least
		for (const frame of frames) {
			const passed = frame.depth < zoomed.depth && frame.x <= zoomed.x + slack && frame.x + frame.w >= end - slack;
			const inside = frame.depth >= zoomed.depth && frame.x >= zoomed.x - slack && frame.x + frame.w <= end + slack;
			frame.group.classList.toggle("hidden", !passed && !inside);
			frame.group.classList.toggle("passed", passed);
			if (passed) place(frame, 0, 1, width);
			else if (inside) place(frame, (frame.x - zoomed.x) / zoomed.w, frame.w / zoomed.w, width);
		}
		reset.classList.toggle("hidden", zoomed === frames[0]);
		if (current.group.classList.contains("hidden")) move(zoomed);
		mark();
	}

	// Returns a RegExp of `text`, or of its plain characters if it is not a valid one.
	function matcher(text) {
		try {
			return new RegExp(text, "i");
		} catch (error) {
			return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
		}
	}

	// Marks the frames that match the search, and shows their share of the total. A
	// match within another match is not counted again.
	function mark() {
		const wanted = state().get("search");
		const pattern = wanted && matcher(wanted);
		let end = -1, share = 0;
		const marked = frames.filter((frame) => {
			const matches = Boolean(pattern) && frame.depth > 0 && pattern.test(frame.name);
			frame.group.classList.toggle("found", matches);
			return matches;
		});
		for (const frame of marked.sort((a, b) => a.x - b.x || b.w - a.w)) {
			if (frame.x + frame.w / 2 < end) continue;
			share += frame.w;
			end = frame.x + frame.w;
		}
		found.textContent = wanted ? "found in " + (100 * share).toFixed(2) + "%" : "";
		onChange(wanted, pattern);
	}

	// The frame for the keyboard: of thousands, the Tab key stops only at this one.
	let current = frames[0];

	function move(frame) {
		const hasFocus = current.group === document.activeElement;
		current.group.removeAttribute("tabindex");
		current = frame;
		describe(frame);
		if (hasFocus) frame.group.focus();
	}

	// Returns where an arrow key leads. Frames are in depth-first order, callers before
	// callees.
	function neighbor(key) {
		const shown = (frame) => !frame.group.classList.contains("hidden");
		const at = frames.indexOf(current);
		const rest = key === "ArrowLeft" || key === "ArrowUp" ? frames.slice(0, at).reverse() : frames.slice(at + 1);
		if (key === "ArrowUp") return rest.find((frame) => frame.depth === current.depth - 1 && shown(frame));
		if (key === "ArrowDown") return rest[0] && rest[0].depth === current.depth + 1 && shown(rest[0]) ? rest[0] : undefined;
		return rest.find((frame) => frame.depth === current.depth && shown(frame));
	}

	// A frame gets a role and a name for screen readers only when it becomes current.
	function describe(frame) {
		frame.group.setAttribute("tabindex", "0");
		frame.group.setAttribute("role", "button");
		frame.group.setAttribute("aria-label", frame.about);
	}

	function frameOf(event) {
		const group = event.target.closest("g");
		return group && frames[number.get(group)];
	}

	canvas.addEventListener("click", (event) => {
		const frame = frameOf(event);
		if (!frame) return;
		change("zoom", number.get(frame.group) || null);
		details.textContent = frame.about;
	});
	for (const name of ["mouseover", "focusin"]) {
		canvas.addEventListener(name, (event) => {
			const frame = frameOf(event);
			if (frame) details.textContent = frame.about;
		});
	}
	canvas.addEventListener("mouseout", () => { details.textContent = ""; });
	canvas.addEventListener("keydown", (event) => {
		if (event.key.startsWith("Arrow")) move(neighbor(event.key) || current);
		else if (event.key === "Enter" || event.key === " ") change("zoom", frames.indexOf(current) || null);
		else return;
		event.preventDefault();
	});
	reset.addEventListener("click", () => change("zoom", null));
	addEventListener("keydown", (event) => {
		if (event.key === "Escape" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName || "")) change("zoom", null);
	});
	addEventListener("hashchange", draw);
	addEventListener("resize", draw);
	describe(current);
	draw();
	return { searched: () => state().get("search") || "", search: (text) => change("search", text) };
}
