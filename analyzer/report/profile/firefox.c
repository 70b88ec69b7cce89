/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/json/json_writer.h"
#include "report/profile/facts.h"
#include "report/profile/numbering.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * The "processed profile" format of the Firefox Profiler, version 47, which
 * newer versions also read. Each track has its own tables, with what it uses. A
 * thread is a track, and its parked fibers are another one, because these wait
 * at the same time as their thread works. With --diff, there are tracks of both
 * sides.
 *
 * A sample's time is that of the recording; a stack is drawn until the next
 * sample of its track. Its weight is what it counts for.
 */

/* The version of the format, and that of Firefox' own profiles. */
enum { FORMAT = 47, GECKO = 27 };

enum { NANOSECONDS_PER_MS = 1000000 };

/* In the order of enum rcore_function_kind. */
static const struct {
	const char *name, *color;
} categories[] = {
	[RCORE_FUNCTION_NONE] = {"Other", "grey"},
	[RCORE_FUNCTION_RUBY] = {"Ruby", "yellow"},
	[RCORE_FUNCTION_C] = {"C method", "orange"},
	[RCORE_FUNCTION_NATIVE] = {"Native", "blue"},
	[RCORE_FUNCTION_GC] = {"GC", "purple"},
	[RCORE_FUNCTION_NOTE] = {"Note", "green"},
	[RCORE_FUNCTION_KERNEL] = {"Kernel", "brown"},
};

struct writer {
	const struct rcore_profile_report *report;
	const struct rcore_profile *profile;
	struct rcore_json json;
	uint32_t *order; /* indices of one side's timeline, by track and time */
	struct rcore_numbering nodes, functions, strings;
};

static void put_text(struct rcore_json *json, const char *key, const char *text)
{
	rcore_json_put(json, key, rcore_json_string(json, text));
}

static void put_number(struct rcore_json *json, const char *key, int64_t number)
{
	rcore_json_put(json, key, json_object_new_int64(number));
}

static void put_null(struct rcore_json *json, const char *key)
{
	rcore_json_start(json, key);
	fputs("null", json->out);
}

static void put_empty(struct rcore_json *json, const char *key)
{
	rcore_json_open(json, key, '[');
	rcore_json_close(json, ']');
}

/* Writes a column of `count` equal values, or of those that `value` returns. */
static void put_column(struct writer *writer, const char *key, size_t count, const char *same,
		       int64_t (*value)(const struct writer *writer, uint32_t place))
{
	FILE *out = writer->json.out;
	rcore_json_start(&writer->json, key);
	putc('[', out);
	for (uint32_t i = 0; i < count; i++) {
		if (i)
			putc(',', out);
		int64_t number = value ? value(writer, i) : 0;
		if (!value || number < 0)
			fputs(same, out);
		else
			fprintf(out, "%" PRId64, number);
	}
	putc(']', out);
}

static const struct rcore_profile_node *node_at(const struct writer *writer, uint32_t place)
{
	return rcore_profile_node_at(writer->profile, writer->nodes.entries[place]);
}

static const struct rcore_profile_function *function_at(const struct writer *writer,
							uint32_t place)
{
	return rcore_profile_function_at(writer->profile, writer->functions.entries[place]);
}

/* Columns. A negative number means null. */
static int64_t own_place(const struct writer *writer, uint32_t place)
{
	return place;
}

static int64_t prefix_of(const struct writer *writer, uint32_t place)
{
	return (int64_t)writer->nodes.plus_one[node_at(writer, place)->parent] - 1;
}

static int64_t function_of(const struct writer *writer, uint32_t place)
{
	const struct rcore_profile_frame *frame =
		rcore_profile_frame_at(writer->profile, node_at(writer, place)->frame);
	return (int64_t)writer->functions.plus_one[frame->function] - 1;
}

static int64_t category_of(const struct writer *writer, uint32_t place)
{
	const struct rcore_profile_frame *frame =
		rcore_profile_frame_at(writer->profile, node_at(writer, place)->frame);
	uint32_t kind = rcore_profile_function_at(writer->profile, frame->function)->kind;
	return kind < RCORE_FUNCTION_KINDS ? kind : RCORE_FUNCTION_NONE;
}

static int64_t line_of(const struct writer *writer, uint32_t place)
{
	uint32_t line =
		rcore_profile_frame_at(writer->profile, node_at(writer, place)->frame)->line;
	return line ? (int64_t)line : -1;
}

static int64_t name_of(const struct writer *writer, uint32_t place)
{
	return (int64_t)writer->strings.plus_one[function_at(writer, place)->label] - 1;
}

static int64_t path_of(const struct writer *writer, uint32_t place)
{
	uint32_t path = function_at(writer, place)->path;
	return path ? (int64_t)writer->strings.plus_one[path] - 1 : -1;
}

static int64_t first_line_of(const struct writer *writer, uint32_t place)
{
	uint32_t line = function_at(writer, place)->first_line;
	return line ? (int64_t)line : -1;
}

/*
 * Numbers a stack and everything that its frames need. Callers get lower
 * numbers than callees.
 */
static void use_stack(struct writer *writer, uint32_t node, uint32_t *stack)
{
	size_t depth = 0;
	for (; node && !writer->nodes.plus_one[node];
	     node = rcore_profile_node_at(writer->profile, node)->parent)
		stack[depth++] = node;
	while (depth) {
		const struct rcore_profile_frame *frame = rcore_profile_frame_at(
			writer->profile,
			rcore_profile_node_at(writer->profile, stack[--depth])->frame);
		const struct rcore_profile_function *function =
			rcore_profile_function_at(writer->profile, frame->function);
		rcore_numbering_add(&writer->nodes, stack[depth]);
		rcore_numbering_add(&writer->functions, frame->function);
		rcore_numbering_add(&writer->strings, function->label);
		rcore_numbering_add(&writer->strings, function->path);
	}
}

static void put_tables(struct writer *writer)
{
	struct rcore_json *json = &writer->json;
	size_t nodes = writer->nodes.count, functions = writer->functions.count;
	rcore_json_open(json, "stackTable", '{');
	put_column(writer, "frame", nodes, "null", own_place);
	put_column(writer, "prefix", nodes, "null", prefix_of);
	put_column(writer, "category", nodes, "null", category_of);
	put_column(writer, "subcategory", nodes, "0", NULL);
	put_number(json, "length", (int64_t)nodes);
	rcore_json_close(json, '}');

	rcore_json_open(json, "frameTable", '{');
	put_column(writer, "address", nodes, "-1", NULL);
	put_column(writer, "inlineDepth", nodes, "0", NULL);
	put_column(writer, "category", nodes, "null", category_of);
	put_column(writer, "subcategory", nodes, "0", NULL);
	put_column(writer, "func", nodes, "null", function_of);
	put_column(writer, "nativeSymbol", nodes, "null", NULL);
	put_column(writer, "innerWindowID", nodes, "0", NULL);
	put_column(writer, "implementation", nodes, "null", NULL);
	put_column(writer, "line", nodes, "null", line_of);
	put_column(writer, "column", nodes, "null", NULL);
	put_number(json, "length", (int64_t)nodes);
	rcore_json_close(json, '}');

	rcore_json_open(json, "funcTable", '{');
	put_column(writer, "isJS", functions, "false", NULL);
	put_column(writer, "relevantForJS", functions, "false", NULL);
	put_column(writer, "name", functions, "null", name_of);
	put_column(writer, "resource", functions, "-1", NULL);
	put_column(writer, "fileName", functions, "null", path_of);
	put_column(writer, "lineNumber", functions, "null", first_line_of);
	put_column(writer, "columnNumber", functions, "null", NULL);
	put_number(json, "length", (int64_t)functions);
	rcore_json_close(json, '}');
}

/* Writes a table without rows. */
static void put_no_rows(struct rcore_json *json, const char *key, const char *const *columns)
{
	rcore_json_open(json, key, '{');
	for (; *columns; columns++)
		put_empty(json, *columns);
	put_number(json, "length", 0);
	rcore_json_close(json, '}');
}

static void put_unused_tables(struct rcore_json *json)
{
	static const char *const resources[] = {"lib", "name", "host", "type", NULL};
	static const char *const symbols[] = {"libIndex", "address", "name", "functionSize",
					      NULL};
	static const char *const markers[] = {"data",  "name",     "startTime", "endTime",
					      "phase", "category", NULL};
	put_no_rows(json, "resourceTable", resources);
	put_no_rows(json, "nativeSymbols", symbols);
	put_no_rows(json, "markers", markers);
	put_empty(json, "pausedRanges");
}

static void put_strings(struct writer *writer)
{
	struct rcore_json *json = &writer->json;
	rcore_json_open(json, "stringArray", '[');
	for (uint32_t i = 0; i < writer->strings.count; i++) {
		const char *text =
			rcore_profile_text(writer->profile, writer->strings.entries[i]);
		put_text(json, NULL, text[0] ? text : "(unknown)");
	}
	rcore_json_close(json, ']');
}

/* The samples of one track. */
struct run {
	size_t begin, end; /* in writer->order */
	enum rcore_side side;
};

static const struct rcore_timed *timed_at(const struct writer *writer, const struct run *run,
					  size_t at)
{
	return &writer->report->totals->timelines[run->side].items[writer->order[at]];
}

static const struct rcore_total_key *key_at(const struct writer *writer, const struct run *run,
					    size_t at)
{
	return rcore_totals_key(writer->report->totals, timed_at(writer, run, at)->key);
}

static bool is_parked(const struct rcore_totals *totals, const struct rcore_total_key *key)
{
	return rcore_profile_state_at(totals->profile, key->state)->kind == RCORE_SAMPLE_PARKED;
}

static void put_ms(FILE *out, uint64_t nanoseconds)
{
	fprintf(out, "%" PRIu64 ".%06" PRIu64, nanoseconds / NANOSECONDS_PER_MS,
		nanoseconds % NANOSECONDS_PER_MS);
}

enum column { COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT, COLUMN_CPU, COLUMNS };

static void put_value(struct writer *writer, enum column column, const struct run *run,
		      size_t at)
{
	FILE *out = writer->json.out;
	const struct rcore_timed *timed = timed_at(writer, run, at);
	uint32_t node = key_at(writer, run, at)->node;
	const struct rcore_amounts amounts = {.wall = timed->wall, .cpu = timed->cpu};
	switch (column) {
	case COLUMN_STACK:
		if (node)
			fprintf(out, "%" PRIu32, writer->nodes.plus_one[node] - 1);
		else
			fputs("null", out);
		break;
	case COLUMN_TIME:
		put_ms(out, timed->time);
		break;
	case COLUMN_WEIGHT:
		put_ms(out, rcore_measured(amounts, writer->report->measure));
		break;
	default:
		fprintf(out, "%" PRIu64, timed->cpu);
		break;
	}
}

static void put_samples(struct writer *writer, const struct run *run)
{
	struct rcore_json *json = &writer->json;
	static const char *const columns[COLUMNS] = {
		[COLUMN_STACK] = "stack",
		[COLUMN_TIME] = "time",
		[COLUMN_WEIGHT] = "weight",
		[COLUMN_CPU] = "threadCPUDelta",
	};
	rcore_json_open(json, "samples", '{');
	for (enum column column = 0; column < COLUMNS; column++) {
		rcore_json_start(json, columns[column]);
		putc('[', json->out);
		for (size_t i = run->begin; i < run->end; i++) {
			if (i > run->begin)
				putc(',', json->out);
			put_value(writer, column, run, i);
		}
		putc(']', json->out);
	}
	put_text(json, "weightType", "tracing-ms");
	put_number(json, "length", (int64_t)(run->end - run->begin));
	rcore_json_close(json, '}');
}

static void put_thread(struct writer *writer, const struct run *run, uint32_t *stack)
{
	struct rcore_json *json = &writer->json;
	const struct rcore_total_key *key = key_at(writer, run, run->begin);
	const struct rcore_profile_thread *thread =
		rcore_profile_thread_at(writer->profile, key->thread);
	const char *name = rcore_profile_text(writer->profile, thread->name);
	const char *id = rcore_profile_text(writer->profile, thread->id);
	char text[2 * RCORE_PROFILE_TEXT_MAX + 16], pid[16];
	bool parked = is_parked(writer->report->totals, key);
	snprintf(text, sizeof(text), "%s%s%s%s%s", run->side == RCORE_SIDE_OLD ? "old " : "",
		 id[0] ? id : "all", name[0] ? " " : "", name, parked ? " parked fibers" : "");
	snprintf(pid, sizeof(pid), "%" PRIu32, thread->pid);
	rcore_numbering_clear(&writer->nodes);
	rcore_numbering_clear(&writer->functions);
	rcore_numbering_clear(&writer->strings);
	for (size_t i = run->begin; i < run->end; i++)
		use_stack(writer, key_at(writer, run, i)->node, stack);
	rcore_json_open(json, NULL, '{');
	put_text(json, "name", text);
	put_text(json, "processType", "default");
	uint32_t title = rcore_profile_title(writer->profile, thread->process);
	put_text(json, "processName",
		 title ? rcore_profile_text(writer->profile, title) : "ruby");
	rcore_json_put(json, "isMainThread",
		       json_object_new_boolean(strcmp(id, "T1") == 0 && !parked));
	put_text(json, "pid", pid);
	put_number(json, "tid", thread->tid);
	put_number(json, "processStartupTime", 0);
	put_null(json, "processShutdownTime");
	rcore_json_start(json, "registerTime");
	put_ms(json->out, timed_at(writer, run, run->begin)->time);
	put_null(json, "unregisterTime");
	put_samples(writer, run);
	put_tables(writer);
	put_unused_tables(json);
	put_strings(writer);
	rcore_json_close(json, '}');
}

static void put_meta(struct writer *writer)
{
	static const char *const extensions[] = {"id", "name", "baseURL", NULL};
	struct rcore_json *json = &writer->json;
	const struct rcore_recording_facts *facts = writer->report->facts[RCORE_SIDE_NEW];
	const char *rate = rcore_facts_find(facts, "rate");
	const char *command = rcore_facts_find(facts, "command");
	double hertz = rate ? strtod(rate, NULL) : 0;
	rcore_json_open(json, "meta", '{');
	put_number(json, "version", GECKO);
	put_number(json, "preprocessedProfileVersion", FORMAT);
	put_number(json, "processType", 0);
	put_number(json, "stackwalk", 1);
	put_text(json, "product", command && command[0] ? command : "rcore");
	put_text(json, "importedFrom", "rcore");
	rcore_json_put(json, "interval",
		       json_object_new_double(hertz > 0.001 ? 1000 / hertz : 1));
	put_number(json, "startTime", (int64_t)(1000 * rcore_facts_started(facts)));
	rcore_json_put(json, "symbolicated", json_object_new_boolean(true));
	rcore_json_put(json, "usesOnlyOneStackType", json_object_new_boolean(true));
	rcore_json_put(json, "doesNotUseFrameImplementation", json_object_new_boolean(true));
	rcore_json_open(json, "sampleUnits", '{');
	put_text(json, "time", "ms");
	put_text(json, "eventDelay", "ms");
	put_text(json, "threadCPUDelta", "ns");
	rcore_json_close(json, '}');
	put_empty(json, "markerSchema");
	put_no_rows(json, "extensions", extensions);
	rcore_json_open(json, "categories", '[');
	for (int i = 0; i < RCORE_FUNCTION_KINDS; i++) {
		rcore_json_open(json, NULL, '{');
		put_text(json, "name", categories[i].name);
		put_text(json, "color", categories[i].color);
		rcore_json_open(json, "subcategories", '[');
		put_text(json, NULL, "Other");
		rcore_json_close(json, ']');
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
	rcore_json_close(json, '}');
}

/* Which track a sample belongs to. */
static uint64_t track_of(const struct rcore_totals *totals, const struct rcore_timed *timed)
{
	const struct rcore_total_key *key = rcore_totals_key(totals, timed->key);
	return (uint64_t)key->thread * 2 + is_parked(totals, key);
}

struct order {
	const struct rcore_totals *totals;
	enum rcore_side side;
};

/* Orders by track, then by time. */
static int compare(const void *a, const void *b, void *opaque)
{
	const struct order *given = opaque;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct rcore_timed *items = given->totals->timelines[given->side].items;
	const struct rcore_timed *one = &items[x], *other = &items[y];
	uint64_t p = track_of(given->totals, one), q = track_of(given->totals, other);
	if (p != q)
		return (p > q) - (p < q);
	if (one->time != other->time)
		return (one->time > other->time) - (one->time < other->time);
	return (x > y) - (x < y);
}

/* Writes the tracks of one side. Returns false if memory is short. */
static bool put_side(struct writer *writer, enum rcore_side side, uint32_t *stack)
{
	const struct rcore_totals *totals = writer->report->totals;
	const struct rcore_timeline *timeline = &totals->timelines[side];
	struct order order = {totals, side};
	writer->order = rcore_calloc(timeline->count, sizeof(*writer->order));
	if (!writer->order)
		return false;
	for (uint32_t i = 0; i < timeline->count; i++)
		writer->order[i] = i;
	qsort_r(writer->order, timeline->count, sizeof(*writer->order), compare, &order);
	for (struct run run = {.side = side}; run.begin < timeline->count;
	     run.begin = run.end) {
		uint64_t track = track_of(totals, timed_at(writer, &run, run.begin));
		for (run.end = run.begin + 1;
		     run.end < timeline->count &&
		     track_of(totals, timed_at(writer, &run, run.end)) == track;)
			run.end++;
		put_thread(writer, &run, stack);
	}
	free(writer->order);
	return true;
}

static bool write_all(struct writer *writer)
{
	const struct rcore_profile *profile = writer->profile;
	uint32_t *stack = calloc(profile->nodes.count, sizeof(*stack));
	bool is_ready = stack && rcore_numbering_init(&writer->nodes, profile->nodes.count) &&
			rcore_numbering_init(&writer->functions, profile->functions.count) &&
			rcore_numbering_init(&writer->strings, profile->strings.count);
	if (is_ready) {
		rcore_json_open(&writer->json, NULL, '{');
		put_meta(writer);
		put_empty(&writer->json, "libs");
		put_empty(&writer->json, "pages");
		rcore_json_open(&writer->json, "threads", '[');
		is_ready = put_side(writer, RCORE_SIDE_NEW, stack);
		if (is_ready && writer->report->is_diff)
			is_ready = put_side(writer, RCORE_SIDE_OLD, stack);
		rcore_json_close(&writer->json, ']');
		rcore_json_close(&writer->json, '}');
		putc('\n', writer->json.out);
	}
	free(stack);
	return is_ready && !writer->json.no_memory;
}

struct rcore_error *rcore_profile_firefox(const struct rcore_profile_report *report, FILE *out)
{
	struct writer writer = {
		.report = report, .profile = report->totals->profile, .json.out = out};
	bool is_written = write_all(&writer);
	rcore_numbering_deinit(&writer.nodes);
	rcore_numbering_deinit(&writer.functions);
	rcore_numbering_deinit(&writer.strings);
	return is_written ? rcore_pen_error(out) : rcore_error_no_memory();
}
