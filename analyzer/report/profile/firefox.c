/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/profile/facts.h"
#include "report/profile/firefox.h"
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

static void put_null(struct rcore_json *json, const char *key)
{
	rcore_json_start(json, key);
	fputs("null", json->out);
}

/* The samples of one track. */
struct run {
	size_t begin, end; /* in writer->order */
	enum rcore_side side;
};

static const struct rcore_timed *timed_at(const struct rcore_firefox *writer,
					  const struct run *run, size_t at)
{
	return &writer->report->totals->timelines[run->side].items[writer->order[at]];
}

static const struct rcore_total_key *key_at(const struct rcore_firefox *writer,
					    const struct run *run, size_t at)
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

static void put_value(struct rcore_firefox *writer, enum column column, const struct run *run,
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

static void put_samples(struct rcore_firefox *writer, const struct run *run)
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
	rcore_json_put_text(json, "weightType", "tracing-ms");
	rcore_json_put_number(json, "length", run->end - run->begin);
	rcore_json_close(json, '}');
}

static void put_thread(struct rcore_firefox *writer, const struct run *run, uint32_t *stack)
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
		rcore_firefox_use_stack(writer, key_at(writer, run, i)->node, stack);
	rcore_json_open(json, NULL, '{');
	rcore_json_put_text(json, "name", text);
	rcore_json_put_text(json, "processType", "default");
	uint32_t title = rcore_profile_title(writer->profile, thread->process);
	rcore_json_put_text(json, "processName",
			    title ? rcore_profile_text(writer->profile, title) : "ruby");
	rcore_json_put(json, "isMainThread",
		       json_object_new_boolean(strcmp(id, "T1") == 0 && !parked));
	rcore_json_put_text(json, "pid", pid);
	rcore_json_put_number(json, "tid", (uint64_t)thread->tid);
	rcore_json_put_number(json, "processStartupTime", 0);
	put_null(json, "processShutdownTime");
	rcore_json_start(json, "registerTime");
	put_ms(json->out, timed_at(writer, run, run->begin)->time);
	put_null(json, "unregisterTime");
	put_samples(writer, run);
	rcore_firefox_put_tables(writer);
	rcore_json_close(json, '}');
}

static void put_meta(struct rcore_firefox *writer)
{
	static const char *const extensions[] = {"id", "name", "baseURL", NULL};
	struct rcore_json *json = &writer->json;
	const struct rcore_recording_facts *facts = writer->report->facts[RCORE_SIDE_NEW];
	const char *rate = rcore_facts_find(facts, "rate");
	const char *command = rcore_facts_find(facts, "command");
	double hertz = rate ? strtod(rate, NULL) : 0;
	rcore_json_open(json, "meta", '{');
	rcore_json_put_number(json, "version", GECKO);
	rcore_json_put_number(json, "preprocessedProfileVersion", FORMAT);
	rcore_json_put_number(json, "processType", 0);
	rcore_json_put_number(json, "stackwalk", 1);
	rcore_json_put_text(json, "product", command && command[0] ? command : "rcore");
	rcore_json_put_text(json, "importedFrom", "rcore");
	rcore_json_put(json, "interval",
		       json_object_new_double(hertz > 0.001 ? 1000 / hertz : 1));
	rcore_json_put_number(json, "startTime", (uint64_t)(1000 * rcore_facts_started(facts)));
	rcore_json_put(json, "symbolicated", json_object_new_boolean(true));
	rcore_json_put(json, "usesOnlyOneStackType", json_object_new_boolean(true));
	rcore_json_put(json, "doesNotUseFrameImplementation", json_object_new_boolean(true));
	rcore_json_open(json, "sampleUnits", '{');
	rcore_json_put_text(json, "time", "ms");
	rcore_json_put_text(json, "eventDelay", "ms");
	rcore_json_put_text(json, "threadCPUDelta", "ns");
	rcore_json_close(json, '}');
	rcore_firefox_put_empty(json, "markerSchema");
	rcore_firefox_put_no_rows(json, "extensions", extensions);
	rcore_json_open(json, "categories", '[');
	for (int i = 0; i < RCORE_FUNCTION_KINDS; i++) {
		rcore_json_open(json, NULL, '{');
		rcore_json_put_text(json, "name", categories[i].name);
		rcore_json_put_text(json, "color", categories[i].color);
		rcore_json_open(json, "subcategories", '[');
		rcore_json_put_text(json, NULL, "Other");
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
static bool put_side(struct rcore_firefox *writer, enum rcore_side side, uint32_t *stack)
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

static bool write_all(struct rcore_firefox *writer)
{
	const struct rcore_profile *profile = writer->profile;
	uint32_t *stack = calloc(profile->nodes.count, sizeof(*stack));
	bool is_ready = stack && rcore_numbering_init(&writer->nodes, profile->nodes.count) &&
			rcore_numbering_init(&writer->functions, profile->functions.count) &&
			rcore_numbering_init(&writer->strings, profile->strings.count);
	if (is_ready) {
		rcore_json_open(&writer->json, NULL, '{');
		put_meta(writer);
		rcore_firefox_put_empty(&writer->json, "libs");
		rcore_firefox_put_empty(&writer->json, "pages");
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
	struct rcore_firefox writer = {
		.report = report, .profile = report->totals->profile, .json.out = out};
	bool is_written = write_all(&writer);
	rcore_numbering_deinit(&writer.nodes);
	rcore_numbering_deinit(&writer.functions);
	rcore_numbering_deinit(&writer.strings);
	return is_written ? rcore_pen_error(out) : rcore_error_no_memory();
}
