/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/ci/markup.h"
#include "report/profile/facts.h"
#include "report/profile/measures.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * A flame graph: one SVG file that loads nothing. Frames are rectangles as wide
 * as their time, with callers above callees. Positions are percentages, so the
 * image can have any width. flame.js adds zooming and searching.
 */

/* generated from flame.js and flame.css */
extern const char rcore_flame_script[], rcore_flame_style[];

enum { ROW = 18, HEAD = 62, MARGIN = 10, WIDTH = 1200 };

/*
 * Narrower frames are left out. It is a share of the whole: a tenth of a pixel.
 */
#define LEAST (0.1 / WIDTH)

struct flame {
	const struct rcore_profile_report *report;
	const struct rcore_tree *tree;
	FILE *out;
	double *left; /* where each node begins, as a share */
	bool *is_shown;
	uint64_t whole; /* the total width */
	uint64_t most;  /* the largest change of a node, with --diff */
	uint32_t depth; /* of the visible frames */
	size_t narrow;  /* number of frames that are left out */
};

/* The amount that determines the width of a node. */
static uint64_t width_of(const struct flame *flame, uint32_t node)
{
	return flame->tree->items[node].total[RCORE_SIDE_NEW];
}

static double share_of(const struct flame *flame, uint32_t node)
{
	return flame->whole ? (double)width_of(flame, node) / (double)flame->whole : 0;
}

static int64_t change_of(const struct flame *flame, uint32_t node)
{
	const uint64_t *total = flame->tree->items[node].total;
	return (int64_t)(total[RCORE_SIDE_NEW] - total[RCORE_SIDE_OLD]);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* Callees are side by side, from the start of their caller. */
static void lay_out(struct flame *flame)
{
	const struct rcore_tree_node *nodes = flame->tree->items;
	uint32_t node = 0;
	flame->is_shown[0] = true;
	do {
		double at = flame->left[node];
		uint64_t change = magnitude(change_of(flame, node));
		if (node && change > flame->most)
			flame->most = change;
		if (flame->is_shown[node] && nodes[node].depth > flame->depth)
			flame->depth = nodes[node].depth;
		for (uint32_t child = nodes[node].first_child; child;
		     child = nodes[child].next_sibling) {
			flame->left[child] = at;
			at += share_of(flame, child);
			flame->is_shown[child] =
				flame->is_shown[node] && share_of(flame, child) >= LEAST;
			flame->narrow += !flame->is_shown[child];
		}
	} while ((node = rcore_tree_next(flame->tree, node)));
}

/* A name has the same shade in each graph. */
static unsigned shade(const char *name)
{
	uint32_t hash = 2166136261u;
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

/*
 * By kind: Ruby red to yellow, C orange, native blue, the GC violet, rcore's
 * own notes grey.
 */
static void write_color(const struct flame *flame, uint32_t node)
{
	static const struct {
		unsigned hue, hues, saturation;
	} colors[] = {
		[RCORE_FUNCTION_NONE] = {0, 1, 0},   [RCORE_FUNCTION_RUBY] = {5, 35, 85},
		[RCORE_FUNCTION_C] = {42, 14, 75},   [RCORE_FUNCTION_NATIVE] = {195, 20, 55},
		[RCORE_FUNCTION_GC] = {285, 10, 45}, [RCORE_FUNCTION_NOTE] = {0, 1, 0},
	};
	const struct rcore_profile_function *function = rcore_profile_function_at(
		flame->tree->profile, flame->tree->items[node].function);
	uint32_t kind = node && function->kind < RCORE_FUNCTION_KINDS ? function->kind : 0;
	unsigned hash = shade(rcore_tree_label(flame->tree, node));
	fprintf(flame->out, "hsl(%u,%u%%,%u%%)", colors[kind].hue + hash % colors[kind].hues,
		colors[kind].saturation, kind ? 68 + hash / 64 % 8 : 85);
}

/* Red: slower than before; blue: faster. */
static void write_change_color(const struct flame *flame, uint32_t node)
{
	int64_t change = change_of(flame, node);
	double share = flame->most ? (double)magnitude(change) / (double)flame->most : 0;
	fprintf(flame->out, "hsl(%d,%d%%,%d%%)", change < 0 ? 215 : 5, change ? 80 : 0,
		(int)(92 - 37 * (share > 1 ? 1 : share)));
}

static const char *name_of(const struct flame *flame, uint32_t node)
{
	return node ? rcore_tree_label(flame->tree, node) : "all";
}

/* "Foo#bar, app.rb:12: 1.234 s, 12.3%, itself 0.500 s" */
static void write_about(const struct flame *flame, uint32_t node)
{
	const struct rcore_tree_node *at = &flame->tree->items[node];
	const struct rcore_profile_function *function =
		rcore_profile_function_at(flame->tree->profile, at->function);
	const char *path = rcore_profile_text(flame->tree->profile, function->path);
	rcore_markup_xml(flame->out, name_of(flame, node));
	if (path[0]) {
		fputs(", ", flame->out);
		rcore_markup_xml(flame->out, path);
	}
	if (function->first_line)
		fprintf(flame->out, ":%" PRIu32, function->first_line);
	enum rcore_measure measure = flame->report->measure;
	fputs(": ", flame->out);
	rcore_measure_write(measure, at->total[RCORE_SIDE_NEW], flame->out);
	fprintf(flame->out, ", %.2f%%, itself ", 100 * share_of(flame, node));
	rcore_measure_write(measure, at->self[RCORE_SIDE_NEW], flame->out);
	if (!flame->report->is_diff)
		return;
	fputs("; before ", flame->out);
	rcore_measure_write(measure, at->total[RCORE_SIDE_OLD], flame->out);
	fputs(", ", flame->out);
	rcore_measure_write_change(measure, change_of(flame, node), flame->out);
}

static void write_frame(const struct flame *flame, uint32_t node)
{
	FILE *out = flame->out;
	uint32_t depth = flame->tree->items[node].depth;
	double x = flame->left[node], width = share_of(flame, node);
	fprintf(out,
		"<g data-x=\"%.9f\" data-w=\"%.9f\" data-depth=\"%" PRIu32
		"\" data-ns=\"%" PRIu64 "\" data-name=\"",
		x, width, depth, width_of(flame, node));
	rcore_markup_xml(out, name_of(flame, node));
	fputs("\"><title>", out);
	write_about(flame, node);
	fprintf(out,
		"</title><rect x=\"%.6f%%\" y=\"%" PRIu32 "\" width=\"%.6f%%\" height=\"%d\" "
		"fill=\"",
		100 * x, depth * ROW, 100 * width, ROW - 1);
	if (flame->report->is_diff)
		write_change_color(flame, node);
	else
		write_color(flame, node);
	fprintf(out, "\"/><text x=\"%.6f%%\" y=\"%" PRIu32 "\" dx=\"3\">", 100 * x,
		depth * ROW + 13);
	/* Without the script, a name that may not fit is left out. */
	if ((double)strlen(name_of(flame, node)) * 7 < width * WIDTH)
		rcore_markup_xml(out, name_of(flame, node));
	fputs("</text></g>\n", out);
}

static void write_head(const struct flame *flame, unsigned height)
{
	const struct rcore_profile_report *report = flame->report;
	const char *command = rcore_facts_find(report->facts[RCORE_SIDE_NEW], "command");
	FILE *out = flame->out;
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\">\n"
		"<style><![CDATA[\n%s]]></style>\n"
		"<text id=\"title\" x=\"%d\" y=\"24\">",
		height, rcore_flame_style, MARGIN);
	rcore_markup_xml(out, command && command[0] ? command : "rcore");
	fprintf(out, "</text>\n<text x=\"%d\" y=\"42\">", MARGIN);
	if (rcore_measure_words[report->measure].is_time)
		fprintf(out, "%s, ", rcore_measure_words[report->measure].title);
	rcore_measure_write(report->measure, flame->whole, out);
	if (report->is_diff) {
		fputs("; red took more than before, blue less (before: ", out);
		rcore_measure_write(report->measure,
				    flame->tree->items[0].total[RCORE_SIDE_OLD], out);
		putc(')', out);
	}
	if (flame->narrow + flame->tree->left_out)
		fprintf(out, "; %zu frames are too narrow to be shown",
			flame->narrow + flame->tree->left_out);
	for (size_t i = 0; i < report->note_count; i++) {
		fputs("; ", out);
		rcore_markup_xml(out, report->notes[i]);
	}
	fputs("</text>\n"
	      "<text id=\"search\" class=\"button\" x=\"99%\" y=\"24\" "
	      "text-anchor=\"end\">Search</text>\n"
	      "<text id=\"found\" x=\"99%\" y=\"42\" text-anchor=\"end\"></text>\n"
	      "<text id=\"reset\" class=\"button hidden\" x=\"90%\" y=\"24\" "
	      "text-anchor=\"end\">Reset zoom</text>\n",
	      out);
	fprintf(out, "<text id=\"details\" x=\"%d\" y=\"%d\"></text>\n", MARGIN, HEAD - 4);
}

static void write_all(const struct flame *flame)
{
	unsigned rows = (flame->depth + 1) * ROW;
	uint32_t node = 0;
	write_head(flame, HEAD + rows + MARGIN);
	fprintf(flame->out,
		"<svg x=\"0.5%%\" y=\"%d\" width=\"99%%\" height=\"%u\" id=\"frames\">\n", HEAD,
		rows);
	do {
		if (flame->is_shown[node])
			write_frame(flame, node);
	} while ((node = rcore_tree_next(flame->tree, node)));
	fprintf(flame->out, "</svg>\n<script><![CDATA[\n%s]]></script>\n</svg>\n",
		rcore_flame_script);
}

struct rcore_error *rcore_profile_flame(const struct rcore_profile_report *report, FILE *out)
{
	struct rcore_tree *tree;
	struct rcore_error *err = rcore_tree_new(
		report->totals, report->measure,
		(uint64_t)(LEAST * (double)rcore_measured(report->totals->sums[RCORE_SIDE_NEW],
							  report->measure)),
		&tree);
	if (err)
		return err;
	struct flame flame = {
		.report = report,
		.tree = tree,
		.out = out,
		.left = calloc(tree->count, sizeof(*flame.left)),
		.is_shown = calloc(tree->count, sizeof(*flame.is_shown)),
		.whole = tree->items[0].total[RCORE_SIDE_NEW],
	};
	bool is_ready = flame.left && flame.is_shown;
	if (is_ready) {
		lay_out(&flame);
		write_all(&flame);
	}
	free(flame.left);
	free(flame.is_shown);
	rcore_tree_free(tree);
	return is_ready ? rcore_pen_error(out) : rcore_error_no_memory();
}
