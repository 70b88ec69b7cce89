/* SPDX-License-Identifier: MIT */
#include "report/profile/page/page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "model/redaction_names.h"
#include "report/html/page.h"
#include "report/profile/application.h"
#include "report/profile/facts.h"
#include "report/profile/flame_layout.h"
#include "report/profile/measures.h"

/*
 * A profile as a page for browsers: a summary, a flame graph, the states of
 * threads over time, times by label, and the methods. page.js shows what is
 * written here. The text without scripts is the report of the terminal.
 */

/* The build makes both of page.js and others; the hash is "sha256-...". */
extern const char rcore_html_profile_script[], rcore_html_profile_script_hash[];

enum { TEXT_ROWS = 30, TEXT_MAX = 200 << 10, FACTS_MAX = 64, APPLICATION_MAX = 3 };

static void put_text(struct rcore_page_writer *writer, const char *key, const char *text)
{
	rcore_json_put(&writer->json, key, rcore_page_text(writer, text));
}

static void put_facts(struct rcore_page_writer *writer, const char *key,
		      const struct rcore_recording_facts *facts)
{
	struct json_object *object = rcore_json_object(&writer->json);
	for (size_t i = 0; i < facts->count && i < FACTS_MAX; i++)
		rcore_json_add(&writer->json, object, facts->items[i].key,
			       rcore_page_text(writer, facts->items[i].value));
	rcore_json_put(&writer->json, key, object);
}

static void put_head(struct rcore_page_writer *writer)
{
	const struct rcore_profile_report *report = writer->report;
	const struct rcore_totals *totals = report->totals;
	struct rcore_json *json = &writer->json;
	if (totals->options.redact != RCORE_REDACT_NONE)
		put_text(writer, "redacted", rcore_redact_names[totals->options.redact]);
	put_text(writer, "title", rcore_measure_words[report->measure].title);
	rcore_json_put(json, "is_time",
		       json_object_new_boolean(rcore_measure_words[report->measure].is_time));
	rcore_json_put(json, "is_diff", json_object_new_boolean(report->is_diff));
	for (int side = 0; side < (report->is_diff ? RCORE_SIDES : 1); side++) {
		const struct rcore_amounts *sum = &totals->sums[side];
		rcore_json_open(json, side ? "old" : "new", '{');
		rcore_json_put_number(&writer->json, "whole",
				      rcore_measured(*sum, report->measure));
		rcore_json_put_number(&writer->json, "samples", sum->count);
		rcore_json_put_number(&writer->json, "wall", sum->wall);
		rcore_json_put_number(&writer->json, "cpu", sum->cpu);
		rcore_json_put_number(&writer->json, "duration", totals->durations[side]);
		put_text(writer, "whose", rcore_facts_whose(report->facts[side]));
		put_facts(writer, "facts", report->facts[side]);
		rcore_json_close(json, '}');
	}
	rcore_json_open(json, "notes", '[');
	for (size_t i = 0; i < report->note_count; i++)
		put_text(writer, NULL, report->notes[i]);
	rcore_json_close(json, ']');
}

/* [depth, function, place, total, self, color, total and self before] */
static void put_frame(struct rcore_page_writer *writer, const struct rcore_flame *flame,
		      uint32_t node)
{
	const struct rcore_tree_node *at = &flame->tree->items[node];
	FILE *out = writer->json.out;
	rcore_json_start(&writer->json, NULL);
	fprintf(out, "[%" PRIu32 ",%" PRIu32 ",%.9f,%" PRIu64 ",%" PRIu64 ",\"", at->depth,
		node ? rcore_page_function(writer, at->function) + 1 : 0, flame->left[node],
		at->total[RCORE_SIDE_NEW], at->self[RCORE_SIDE_NEW]);
	rcore_flame_write_color(flame, node, out);
	putc('"', out);
	if (writer->report->is_diff)
		fprintf(out, ",%" PRIu64 ",%" PRIu64, at->total[RCORE_SIDE_OLD],
			at->self[RCORE_SIDE_OLD]);
	putc(']', out);
}

static struct rcore_error *put_flame(struct rcore_page_writer *writer)
{
	struct rcore_flame flame;
	struct rcore_error *err = rcore_flame_init(writer->report, RCORE_PAGE_FRAMES, &flame);
	if (err)
		return err;
	rcore_json_put_number(&writer->json, "depth", flame.depth);
	rcore_json_put_number(&writer->json, "narrow", flame.narrow + flame.tree->left_out);
	rcore_json_open(&writer->json, "frames", '[');
	uint32_t node = 0;
	do {
		if (flame.is_shown[node])
			put_frame(writer, &flame, node);
	} while ((node = rcore_tree_next(flame.tree, node)));
	rcore_json_close(&writer->json, ']');
	rcore_flame_deinit(&flame);
	return NULL;
}

static int compare_total(const void *x, const void *y)
{
	const struct rcore_method *a = x, *b = y;
	uint64_t m = rcore_both_sides(a->total), n = rcore_both_sides(b->total);
	return m != n ? (m < n) - (m > n)
		      : (a->function > b->function) - (a->function < b->function);
}

/* [function, self, total, samples, self and total before] */
static void put_method(struct rcore_page_writer *writer, const struct rcore_method *method)
{
	FILE *out = writer->json.out;
	rcore_json_start(&writer->json, NULL);
	fprintf(out, "[%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
		rcore_page_function(writer, method->function) + 1, method->self[RCORE_SIDE_NEW],
		method->total[RCORE_SIDE_NEW], method->samples[RCORE_SIDE_NEW]);
	if (writer->report->is_diff)
		fprintf(out, ",%" PRIu64 ",%" PRIu64, method->self[RCORE_SIDE_OLD],
			method->total[RCORE_SIDE_OLD]);
	putc(']', out);
}

/* Those with most time of their own; of the others, those with most in all. */
static struct rcore_error *put_methods(struct rcore_page_writer *writer)
{
	const struct rcore_methods_group all = {0};
	struct rcore_methods methods;
	struct rcore_error *err = rcore_methods_init(writer->report->totals,
						     writer->report->measure, &all, &methods);
	if (err)
		return err;
	size_t first = methods.count < RCORE_PAGE_METHODS ? methods.count : RCORE_PAGE_METHODS;
	qsort(methods.items + first, methods.count - first, sizeof(*methods.items),
	      compare_total);
	rcore_json_put_number(&writer->json, "method_count", methods.count);
	rcore_json_open(&writer->json, "methods", '[');
	for (size_t i = 0; i < methods.count && i < first + RCORE_PAGE_METHODS; i++)
		put_method(writer, &methods.items[i]);
	rcore_json_close(&writer->json, ']');
	rcore_methods_deinit(&methods);
	return NULL;
}

static int compare_new(const void *x, const void *y)
{
	const struct rcore_method *a = x, *b = y;
	uint64_t m = a->self[RCORE_SIDE_NEW], n = b->self[RCORE_SIDE_NEW];
	return m != n ? (m < n) - (m > n)
		      : (a->function > b->function) - (a->function < b->function);
}

/* [function, amount] of the methods of the application that took the most. */
static struct rcore_error *put_application(struct rcore_page_writer *writer)
{
	const struct rcore_profile_report *report = writer->report;
	const struct rcore_methods_group all = {0};
	struct rcore_methods methods = {0};
	uint32_t *owners = rcore_application_owners(report->totals->profile);
	struct rcore_error *err = owners ? rcore_owners_init(report->totals, report->measure,
							     &all, owners, &methods)
					 : rcore_error_no_memory();
	free(owners);
	if (err)
		return err;
	qsort(methods.items, methods.count, sizeof(*methods.items), compare_new);
	rcore_json_open(&writer->json, "application", '[');
	for (size_t i = 0, shown = 0; i < methods.count && shown < APPLICATION_MAX; i++) {
		const struct rcore_method *method = &methods.items[i];
		if (!method->function || !method->self[RCORE_SIDE_NEW])
			continue;
		rcore_json_start(&writer->json, NULL);
		fprintf(writer->json.out, "[%" PRIu32 ",%" PRIu64 "]",
			rcore_page_function(writer, method->function) + 1,
			method->self[RCORE_SIDE_NEW]);
		shown++;
	}
	rcore_json_close(&writer->json, ']');
	rcore_methods_deinit(&methods);
	return NULL;
}

/* [kind, label, path, line]; the numbers above are one higher. */
static void put_functions(struct rcore_page_writer *writer)
{
	const struct rcore_profile *profile = writer->report->totals->profile;
	rcore_json_open(&writer->json, "functions", '[');
	for (size_t i = 0; i < writer->functions.count; i++) {
		const struct rcore_profile_function *function =
			rcore_profile_function_at(profile, writer->functions.entries[i]);
		const char *label = rcore_profile_text(profile, function->label);
		const char *none = writer->functions.entries[i] ? "(unknown)" : "(no frames)";
		struct json_object *row = json_object_new_array();
		rcore_json_push(&writer->json, row,
				rcore_json_string(&writer->json,
						  rcore_function_kind_name(function->kind)));
		rcore_json_push(&writer->json, row,
				rcore_page_text(writer, label[0] ? label : none));
		rcore_json_push(
			&writer->json, row,
			rcore_page_text(writer, rcore_profile_text(profile, function->path)));
		rcore_json_push(&writer->json, row,
				json_object_new_int64(function->first_line));
		rcore_json_put(&writer->json, NULL, row);
	}
	rcore_json_close(&writer->json, ']');
}

static struct rcore_error *write_data(const void *context, FILE *out)
{
	const struct rcore_profile_report *report = context;
	struct rcore_page_writer writer = {.report = report, .json = {.out = out}};
	struct rcore_error *err = NULL;
	if (!rcore_numbering_init(&writer.functions, report->totals->profile->functions.count))
		err = rcore_error_no_memory();
	rcore_json_open(&writer.json, NULL, '{');
	if (!err) {
		put_head(&writer);
		err = put_flame(&writer);
	}
	if (!err)
		err = put_methods(&writer);
	if (!err)
		err = put_application(&writer);
	if (!err)
		err = rcore_page_put_processes(&writer);
	if (!err)
		err = rcore_page_put_threads(&writer);
	if (!err)
		err = rcore_page_put_labels(&writer);
	if (!err)
		put_functions(&writer);
	rcore_json_close(&writer.json, '}');
	rcore_numbering_deinit(&writer.functions);
	return err || !writer.json.no_memory ? err : rcore_error_no_memory();
}

static struct rcore_error *write_text(const void *context, FILE *out)
{
	struct rcore_profile_report plain = *(const struct rcore_profile_report *)context;
	plain.color = false;
	plain.rows = TEXT_ROWS;
	return rcore_profile_text_report(&plain, out);
}

struct rcore_error *rcore_profile_html(const struct rcore_profile_report *report, FILE *out)
{
	const char *command = rcore_facts_find(report->facts[RCORE_SIDE_NEW], "command");
	const struct rcore_html_page page = {
		.title = command && command[0] ? command : "recording",
		.script = rcore_html_profile_script,
		.script_hash = rcore_html_profile_script_hash,
		.write_text = write_text,
		.write_data = write_data,
		.context = report,
		.text_max = TEXT_MAX,
	};
	return rcore_html_page_write(&page, out);
}
