/* SPDX-License-Identifier: MIT */
#include "command/profile_output.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "command/output.h"
#include "profile/format.h"
#include "redact/redact.h"
#include "report/profile/facts.h"
#include "report/profile/measures.h"
#include "target/output/output.h"

enum { ROWS = 30 };

const char *const rcore_mode_names[] = {"wall", "cpu", "bytes", NULL};

/* What the formats of a request need. */
struct work {
	const struct rcore_profile_request *request;
	struct rcore_totals_options options;
	struct rcore_totals *totals;
	struct rcore_arena texts;
	struct rcore_recording_facts facts[RCORE_SIDES];
	/* How long the recorder counted calls, in ns; 0: it did not say. */
	uint64_t counted[RCORE_SIDES];
	struct {
		const char **items;
		size_t count, capacity;
	} notes;
	bool is_partial;
};

/* One output and its format. */
struct output {
	const struct rcore_profile_format *format;
	const struct rcore_profile_report *report;
};

const char *rcore_profile_by_label(const char *by)
{
	static const char label[] = "label:";
	size_t length = strlen(label);
	return by && !strncmp(by, label, length) && by[length] ? by + length : NULL;
}

static struct rcore_error *parse_by(const char *by, struct rcore_totals_options *ret)
{
	static const struct {
		const char *name;
		enum rcore_by by;
	} names[] = {{"nothing", RCORE_BY_NOTHING},
		     {"process", RCORE_BY_PROCESS},
		     {"thread", RCORE_BY_THREAD},
		     {"fiber", RCORE_BY_FIBER},
		     {"state", RCORE_BY_STATE}};
	char escaped[128];
	if (!by)
		return NULL;
	for (size_t i = 0; i < RCORE_COUNT(names); i++) {
		if (strcmp(by, names[i].name) != 0)
			continue;
		ret->by = names[i].by;
		return NULL;
	}
	ret->by_label = rcore_profile_by_label(by);
	if (ret->by_label) {
		ret->by = RCORE_BY_LABEL;
		return NULL;
	}
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"option '--by' does not accept '%s': process, thread, fiber, state, "
		"label:KEY, or nothing",
		rcore_escape(escaped, sizeof(escaped), by));
}

/* Rejects formats whose axis is a time if the amounts are not times. */
static struct rcore_error *check_format(const struct rcore_profile_format *format, bool is_time)
{
	if (!(format->needs & RCORE_NEEDS_AXIS) || is_time)
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "%s files show times, and the recording has calls: use "
				  "another ending",
				  format->ending);
}

/* Sets what the formats need. */
static struct rcore_error *find_format(const struct rcore_profile_request *request,
				       const char *path,
				       const struct rcore_profile_format **ret)
{
	rcore_auto_error err = rcore_profile_format_of(path, ret);
	return err ? rcore_error_create(err->code, "%s%s", err->message,
					request->is_new ? ", and .rec for a recording" : "")
		   : NULL;
}

static struct rcore_error *make_options(const struct rcore_profile_request *request,
					struct rcore_totals_options *ret)
{
	const struct rcore_profile_arguments *arguments = request->arguments;
	*ret = (struct rcore_totals_options){
		.where = arguments->where.items,
		.where_count = arguments->where.count,
		.redact = request->redact,
	};
	for (size_t i = 0; i < arguments->outputs.count; i++) {
		const struct rcore_profile_format *format;
		struct rcore_error *err =
			find_format(request, arguments->outputs.items[i], &format);
		if (!err)
			err = check_format(format, !request->is_of_calls);
		if (err)
			return err;
		ret->keeps_threads |= format->needs & RCORE_NEEDS_THREADS;
		ret->keeps_labels |= format->needs & RCORE_NEEDS_LABELS;
		ret->keeps_lines |= format->needs & RCORE_NEEDS_LINES;
		ret->keeps_times |= format->needs & RCORE_NEEDS_TIMES;
	}
	return parse_by(arguments->by, ret);
}

struct rcore_error *rcore_profile_check(const struct rcore_profile_request *request,
					const struct rcore_inputs *inputs)
{
	const struct rcore_strings *outputs = &request->arguments->outputs;
	struct rcore_totals_options options;
	struct rcore_error *err = make_options(request, &options);
	return err ? err : rcore_output_paths_check(outputs->items, outputs->count, inputs);
}

static const char *printable(struct work *work, const char *text)
{
	char escaped[4 * RCORE_PROFILE_TEXT_MAX + RCORE_ESCAPE_SIZE];
	return rcore_arena_strdup(&work->texts, rcore_escape(escaped, sizeof(escaped), text));
}

/*
 * Copies the facts of a recording, redacted. Everything that the recorder wrote
 * is safe, except the command.
 */
static struct rcore_error *
keep_facts(struct work *work, const struct rcore_recording *recording, enum rcore_side side)
{
	struct rcore_redactor *redactor = rcore_redactor_new(work->request->redact);
	struct rcore_error *err = redactor ? NULL : rcore_error_no_memory();
	for (size_t i = 0; i < recording->facts.count && !err; i++) {
		const struct rcore_recording_fact *fact = &recording->facts.items[i];
		const char *value = fact->value;
		if (strcmp(fact->key, "command") == 0)
			err = rcore_redact_text(redactor, &work->texts, RCORE_PART_COMMAND,
						NULL, &value);
		struct rcore_recording_fact *kept = err ? NULL : rcore_push(&work->facts[side]);
		if (!kept)
			break;
		kept->key = (char *)printable(work, fact->key);
		kept->value = (char *)printable(work, value);
		if (!kept->key || !kept->value)
			err = rcore_error_no_memory();
	}
	rcore_redactor_free(redactor);
	return err;
}

static struct rcore_error *add_note(struct work *work, const char *name, const char *text)
{
	char escaped[256];
	const char **slot = rcore_push(&work->notes);
	if (!slot)
		return rcore_error_no_memory();
	*slot = rcore_arena_printf(&work->texts, "%s: %s",
				   rcore_escape(escaped, sizeof(escaped), name), text);
	if (!*slot) {
		work->notes.count--;
		return rcore_error_no_memory();
	}
	fprintf(stderr, "rcore: %s\n", *slot);
	return NULL;
}

static struct rcore_error *note_end(struct work *work, const struct rcore_recording *recording,
				    const char *name)
{
	if (recording->problem) {
		work->is_partial = true;
		const char *text =
			rcore_arena_printf(&work->texts, "%s; everything before that was read",
					   recording->problem->message);
		return text ? add_note(work, name, text) : rcore_error_no_memory();
	}
	if (recording->is_ended)
		return NULL;
	return add_note(work, name,
			work->request->is_new
				? "the recording has no end, which could not be written"
				: "the recording has no end: rcore record is still running, or "
				  "was killed");
}

static uint64_t counted_in(const struct rcore_recording *recording)
{
	const char *duration = rcore_recording_fact(recording, "duration");
	double seconds = duration ? strtod(duration, NULL) : 0;
	/* 30 years is enough. */
	return seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
}

/*
 * The time from the first sample to the last does not quite show how long the
 * recording lasted: calls are counted when they happen, waits when they begin,
 * and a fiber may be sampled once a second. The recorder wrote it down at its
 * end. Two recordings are compared by durations of the same kind.
 */
static void set_durations(struct work *work)
{
	enum rcore_side last = work->request->old ? RCORE_SIDE_OLD : RCORE_SIDE_NEW;
	if (!work->counted[RCORE_SIDE_NEW] || !work->counted[last])
		return;
	work->totals->durations[RCORE_SIDE_NEW] = work->counted[RCORE_SIDE_NEW];
	work->totals->durations[last] = work->counted[last];
}

static struct rcore_error *add_recording(struct work *work, const char *path, const char *name,
					 enum rcore_side side)
{
	struct rcore_recording *recording;
	struct rcore_error *err = rcore_recording_open(path, &recording);
	if (err)
		return err;
	for (bool more = true; more && !err;) {
		err = rcore_recording_next(recording, &more);
		if (!err && more)
			err = rcore_totals_add(work->totals, recording->profile, side);
	}
	if (!err)
		err = keep_facts(work, recording, side);
	work->counted[side] = counted_in(recording);
	if (!err)
		err = note_end(work, recording, name);
	rcore_totals_forget_profile(work->totals);
	rcore_recording_close(recording);
	return err;
}

/* If no sample meets a condition, it is probably mistyped. */
static struct rcore_error *check_where(const struct work *work)
{
	const struct rcore_strings *where = &work->request->arguments->where;
	char escaped[128], keys[256], others[64] = "";
	if (!where->count || work->totals->keys.count)
		return NULL;
	rcore_label_keys_text(&work->totals->label_keys, work->totals->profile, keys,
			      sizeof(keys));
	/* This is 0 if `rcore record --where` has not kept them. */
	if (work->totals->filtered)
		snprintf(others, sizeof(others), "samples with other labels, or none: %zu; ",
			 (size_t)work->totals->filtered);
	return rcore_error_create(RCORE_ERROR_USAGE, "no sample has %s%s; %s%s",
				  rcore_escape(escaped, sizeof(escaped), where->items[0]),
				  where->count > 1 ? " and the rest" : "", others, keys);
}

/* A table with one group, of all samples, is not what was asked for. */
static struct rcore_error *note_label(struct work *work, const char *name)
{
	const struct rcore_totals_options *options = &work->options;
	char key[128], keys[256], text[640];
	if (options->by != RCORE_BY_LABEL || work->totals->has_label ||
	    !work->totals->keys.count)
		return NULL;
	rcore_escape(key, sizeof(key), options->by_label);
	rcore_label_keys_text(&work->totals->label_keys, work->totals->profile, keys,
			      sizeof(keys));
	/* `rcore record` keeps only the labels that it is asked for. */
	bool says_keys = !work->request->is_new || work->totals->label_keys.count;
	size_t at = (size_t)snprintf(text, sizeof(text), "no sample has the label '%s'%s%s",
				     key, says_keys ? "; " : "", says_keys ? keys : "");
	if (!work->request->is_new)
		rcore_format(
			text + at, sizeof(text) - at,
			"; if docs/recognizers.md lists it, `rcore record --label %s` records "
			"it",
			key);
	return add_note(work, name, text);
}

/*
 * Returns whether all processes of a machine were recorded, a fact of the first
 * block. Ignores errors, because reading the recording reports them.
 */
static bool is_of_system(const char *path)
{
	struct rcore_recording *recording;
	bool more = false, is_system = false;
	struct rcore_error *err = rcore_recording_open(path, &recording);
	if (!err) {
		err = rcore_recording_next(recording, &more);
		is_system = rcore_recording_fact(recording, "system");
		rcore_recording_close(recording);
	}
	rcore_error_free(err);
	return is_system;
}

static struct rcore_error *read_all(struct work *work)
{
	const struct rcore_profile_request *request = work->request;
	const char *name = request->name ? request->name : request->path;
	struct rcore_error *err = make_options(request, &work->options);
	if (!err && !request->arguments->by && is_of_system(request->path))
		work->options.by = RCORE_BY_PROCESS;
	if (!err)
		err = rcore_totals_new(&work->options, &work->totals);
	if (!err)
		err = add_recording(work, request->path, name, RCORE_SIDE_NEW);
	if (!err && request->old)
		err = add_recording(work, request->old, request->old, RCORE_SIDE_OLD);
	if (!err)
		set_durations(work);
	if (!err)
		err = check_where(work);
	if (!err)
		err = note_label(work, name);
	if (err)
		return err;
	rcore_totals_name_processes(work->totals);
	if (request->old)
		rcore_totals_scale(work->totals);
	return work->totals->is_full
		       ? add_note(work, name,
				  "more different stacks or labels than fit in memory: some of "
				  "them are counted together as one")
		       : NULL;
}

/* What each `--mode` selects in recordings of one kind. */
struct kind {
	const char *event;         /* start of the fact `event` */
	const char *has;           /* for messages */
	int measures[RCORE_MODES]; /* -1: no such amount */
};

static const struct kind kinds[] = {
	{RCORE_EVENT_OFF_CPU, "off-CPU times", {RCORE_MEASURE_OFF_CPU, -1, -1}},
	{RCORE_EVENT_CALLS,
	 "system calls and their bytes",
	 {RCORE_MEASURE_CALLS, -1, RCORE_MEASURE_BYTES}},
	{RCORE_EVENT_FUNCTIONS, "calls of functions", {RCORE_MEASURE_CALLS, -1, -1}},
	{"", "times", {RCORE_MEASURE_WALL, RCORE_MEASURE_CPU, -1}},
};

static const struct kind *kind_of(const struct work *work, enum rcore_side side)
{
	const struct kind *kind = kinds;
	const char *event = rcore_facts_find(&work->facts[side], "event");
	while (strncmp(event ? event : "", kind->event, strlen(kind->event)) != 0)
		kind++;
	return kind;
}

static struct rcore_error *choose_measure(const struct work *work, enum rcore_measure *ret)
{
	const struct rcore_profile_request *request = work->request;
	const struct kind *kind = kind_of(work, RCORE_SIDE_NEW);
	int mode = request->arguments->mode;
	if (request->old && kind_of(work, RCORE_SIDE_OLD) != kind)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"the recordings cannot be compared: the new one has %s, the old one "
			"has %s",
			kind->has, kind_of(work, RCORE_SIDE_OLD)->has);
	if (kind->measures[mode] < 0)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "the recording has %s: leave out '--mode %s'",
					  kind->has, rcore_mode_names[mode]);
	*ret = (enum rcore_measure)kind->measures[mode];
	return NULL;
}

static struct rcore_error *write_report(FILE *out, const void *context)
{
	const struct output *output = context;
	return output->format->write(output->report, out);
}

static struct rcore_error *write_all(const struct work *work, const struct rcore_inputs *inputs,
				     FILE *out)
{
	const struct rcore_profile_arguments *arguments = work->request->arguments;
	const struct rcore_strings *outputs = &arguments->outputs;
	struct rcore_profile_report report = {
		.totals = work->totals,
		.is_diff = work->request->old,
		.facts = {&work->facts[RCORE_SIDE_NEW], &work->facts[RCORE_SIDE_OLD]},
		.notes = work->notes.items,
		.note_count = work->notes.count,
	};
	struct rcore_error *first = choose_measure(work, &report.measure);
	if (first)
		return first;
	for (size_t i = 0; i < outputs->count; i++) {
		struct output output = {.report = &report};
		struct rcore_error *err =
			rcore_profile_format_of(outputs->items[i], &output.format);
		if (!err)
			err = check_format(output.format,
					   rcore_measure_words[report.measure].is_time);
		if (!err)
			err = rcore_output_write(outputs->items[i], RCORE_OUTPUT_REPORT, inputs,
						 write_report, &output);
		if (err && work->request->failed)
			rcore_error_free(
				rcore_strings_add(work->request->failed, outputs->items[i]));
		if (first)
			rcore_error_free(err);
		else
			first = err;
	}
	report.color = work->request->color;
	report.rows = arguments->all ? 0 : ROWS;
	return outputs->count ? first : rcore_profile_text_report(&report, out);
}

struct rcore_error *rcore_profile_write(const struct rcore_profile_request *request,
					const struct rcore_inputs *inputs, FILE *out,
					bool *ret_partial)
{
	struct work work = {.request = request};
	struct rcore_error *err = read_all(&work);
	if (!err)
		err = write_all(&work, inputs, out);
	*ret_partial = work.is_partial;
	for (int side = 0; side < RCORE_SIDES; side++)
		free(work.facts[side].items);
	free(work.notes.items);
	rcore_totals_free(work.totals);
	rcore_arena_deinit(&work.texts);
	return err;
}
