/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "report/ci/markup.h"
#include "report/profile/facts.h"
#include "report/profile/flame_layout.h"
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

enum { ROW = 18, HEAD = 62, MARGIN = 10 };

/* "Foo#bar, app.rb:12: 1.234 s, 12.3%, itself 0.500 s" */
static void write_about(const struct rcore_flame *flame, uint32_t node, FILE *out)
{
	const struct rcore_tree_node *at = &flame->tree->items[node];
	const struct rcore_profile_function *function =
		rcore_profile_function_at(flame->tree->profile, at->function);
	const char *path = rcore_profile_text(flame->tree->profile, function->path);
	rcore_markup_xml(out, rcore_flame_name(flame, node));
	if (path[0]) {
		fputs(", ", out);
		rcore_markup_xml(out, path);
	}
	if (function->first_line)
		fprintf(out, ":%" PRIu32, function->first_line);
	enum rcore_measure measure = flame->report->measure;
	fputs(": ", out);
	rcore_measure_write(measure, at->total[RCORE_SIDE_NEW], out);
	fprintf(out, ", %.2f%%, itself ", 100 * rcore_flame_share(flame, node));
	rcore_measure_write(measure, at->self[RCORE_SIDE_NEW], out);
	if (!flame->report->is_diff)
		return;
	fputs("; before ", out);
	rcore_measure_write(measure, at->total[RCORE_SIDE_OLD], out);
	fputs(", ", out);
	rcore_measure_write_change(measure, rcore_flame_change(flame, node), out);
}

static void write_frame(const struct rcore_flame *flame, uint32_t node, FILE *out)
{
	uint32_t depth = flame->tree->items[node].depth;
	double x = flame->left[node], width = rcore_flame_share(flame, node);
	fprintf(out,
		"<g data-x=\"%.9f\" data-w=\"%.9f\" data-depth=\"%" PRIu32
		"\" data-ns=\"%" PRIu64 "\" data-name=\"",
		x, width, depth, flame->tree->items[node].total[RCORE_SIDE_NEW]);
	rcore_markup_xml(out, rcore_flame_name(flame, node));
	fputs("\"><title>", out);
	write_about(flame, node, out);
	fprintf(out,
		"</title><rect x=\"%.6f%%\" y=\"%" PRIu32 "\" width=\"%.6f%%\" height=\"%d\" "
		"fill=\"",
		100 * x, depth * ROW, 100 * width, ROW - 1);
	rcore_flame_write_color(flame, node, out);
	fprintf(out, "\"/><text x=\"%.6f%%\" y=\"%" PRIu32 "\" dx=\"3\">", 100 * x,
		depth * ROW + 13);
	/* Without the script, a name that may not fit is left out. */
	if ((double)strlen(rcore_flame_name(flame, node)) * 7 < width * RCORE_FLAME_WIDTH)
		rcore_markup_xml(out, rcore_flame_name(flame, node));
	fputs("</text></g>\n", out);
}

static void write_head(const struct rcore_flame *flame, unsigned height, FILE *out)
{
	const struct rcore_profile_report *report = flame->report;
	const char *command = rcore_facts_find(report->facts[RCORE_SIDE_NEW], "command");
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
		fprintf(out, "; frames too narrow to be shown: %zu",
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

static void write_all(const struct rcore_flame *flame, FILE *out)
{
	unsigned rows = (flame->depth + 1) * ROW;
	uint32_t node = 0;
	write_head(flame, HEAD + rows + MARGIN, out);
	fprintf(out, "<svg x=\"0.5%%\" y=\"%d\" width=\"99%%\" height=\"%u\" id=\"frames\">\n",
		HEAD, rows);
	do {
		if (flame->is_shown[node])
			write_frame(flame, node, out);
	} while ((node = rcore_tree_next(flame->tree, node)));
	fprintf(out, "</svg>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", rcore_flame_script);
}

struct rcore_error *rcore_profile_flame(const struct rcore_profile_report *report, FILE *out)
{
	struct rcore_flame flame;
	struct rcore_error *err = rcore_flame_init(report, 0, &flame);
	if (err)
		return err;
	write_all(&flame, out);
	rcore_flame_deinit(&flame);
	return rcore_pen_error(out);
}
