/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "report/profile/facts.h"
#include "report/profile/pprof_stream.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * Numbers of functions, locations and strings are the totals' own.
 * The old side has negative amounts and the label pprof::base, like the output
 * of pprof -diff_base.
 */

/* The most values that a sample has. */
enum { VALUES = 3 };

/* Strings of this format, after those of the totals. */
static const char *const words[] = {"samples",
				    "count",
				    "cpu",
				    "nanoseconds",
				    "wall",
				    "thread",
				    "thread_name",
				    "pid",
				    "tid",
				    "fiber",
				    "state",
				    "wait",
				    "detail",
				    "pprof::base",
				    "true",
				    "off-cpu",
				    "calls",
				    "bytes",
				    RCORE_PROFILE_KERNEL,
				    "process"};
enum word {
	WORD_SAMPLES,
	WORD_COUNT,
	WORD_CPU,
	WORD_NANOSECONDS,
	WORD_WALL,
	WORD_THREAD,
	WORD_NAME,
	WORD_PID,
	WORD_TID,
	WORD_FIBER,
	WORD_STATE,
	WORD_WAIT,
	WORD_DETAIL,
	WORD_BASE,
	WORD_TRUE,
	WORD_OFF_CPU,
	WORD_CALLS,
	WORD_BYTES,
	WORD_KERNEL,
	WORD_PROCESS,
	WORDS,
};

/* The sample types of a profile. By default, pprof shows the last one. */
struct types {
	size_t count;
	enum word words[VALUES][2]; /* type, unit */
};

static const struct types times = {3,
				   {{WORD_SAMPLES, WORD_COUNT},
				    {WORD_CPU, WORD_NANOSECONDS},
				    {WORD_WALL, WORD_NANOSECONDS}}};
static const struct types off_cpu = {
	2, {{WORD_SAMPLES, WORD_COUNT}, {WORD_OFF_CPU, WORD_NANOSECONDS}}};

static const struct types calls = {2, {{WORD_CALLS, WORD_COUNT}, {WORD_BYTES, WORD_BYTES}}};

static const struct types *types_of(enum rcore_measure measure)
{
	if (measure == RCORE_MEASURE_CALLS || measure == RCORE_MEASURE_BYTES)
		return &calls;
	return measure == RCORE_MEASURE_OFF_CPU ? &off_cpu : &times;
}

struct writer {
	const struct rcore_profile_report *report;
	const struct rcore_profile *profile;
	const struct types *types;
	struct rcore_pprof_stream stream;
	struct {
		uint64_t *items;
		size_t count, capacity;
	} locations;
	bool no_memory;
};

static int64_t word(const struct writer *writer, enum word index)
{
	return (int64_t)writer->profile->strings.count + index;
}

/* States follow the words. */
static int64_t state_word(const struct writer *writer, uint32_t state)
{
	return word(writer, WORDS) + (state < RCORE_SAMPLE_STATES ? state : 0);
}

static void put(struct writer *writer, const Rcore__Pprof__Profile *part)
{
	rcore_pprof_put(&writer->stream, part);
}

static void put_text(struct writer *writer, const char *text)
{
	rcore_pprof_put_text(&writer->stream, text);
}

static void put_strings(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->profile->strings.count; i++)
		put_text(writer, rcore_profile_text(writer->profile, i));
	for (int i = 0; i < WORDS; i++)
		put_text(writer, words[i]);
	for (uint32_t i = 0; i < RCORE_SAMPLE_STATES; i++)
		put_text(writer, rcore_sample_state_name(i));
	/* The name of functions without a name, and of the empty stack. */
	put_text(writer, "(unknown)");
	put_text(writer, "(no frames)");
}

static void put_functions(struct writer *writer)
{
	int64_t unknown = state_word(writer, 0) + RCORE_SAMPLE_STATES;
	for (uint32_t i = 0; i < writer->profile->functions.count; i++) {
		const struct rcore_profile_function *function =
			rcore_profile_function_at(writer->profile, i);
		/* No system_name: pprof demangles it as if it were of C++. */
		Rcore__Pprof__Function packed = RCORE__PPROF__FUNCTION__INIT;
		Rcore__Pprof__Function *functions[] = {&packed};
		Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
		packed.id = i + 1;
		packed.name = !i ? unknown + 1 : function->label ? function->label : unknown;
		packed.filename = function->path;
		packed.start_line = function->first_line;
		part.n_function = 1;
		part.function = functions;
		put(writer, &part);
	}
}

static bool is_of_kernel(const struct writer *writer, uint32_t function)
{
	return rcore_profile_function_at(writer->profile, function)->kind ==
	       RCORE_FUNCTION_KERNEL;
}

/* Only the kernel's functions have a mapping, by which pprof can filter. */
enum { KERNEL_MAPPING = 1 };

static void put_mapping(struct writer *writer)
{
	Rcore__Pprof__Mapping packed = RCORE__PPROF__MAPPING__INIT;
	Rcore__Pprof__Mapping *mappings[] = {&packed};
	Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
	bool is_used = false;
	for (uint32_t i = 0; i < writer->profile->functions.count && !is_used; i++)
		is_used = is_of_kernel(writer, i);
	packed.id = KERNEL_MAPPING;
	packed.filename = word(writer, WORD_KERNEL);
	packed.has_functions = true;
	part.n_mapping = 1;
	part.mapping = mappings;
	if (is_used)
		put(writer, &part);
}

/* A location is a frame. */
static void put_locations(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->profile->frames.count; i++) {
		const struct rcore_profile_frame *frame =
			rcore_profile_frame_at(writer->profile, i);
		Rcore__Pprof__Line line = RCORE__PPROF__LINE__INIT;
		Rcore__Pprof__Line *lines[] = {&line};
		Rcore__Pprof__Location packed = RCORE__PPROF__LOCATION__INIT;
		Rcore__Pprof__Location *locations[] = {&packed};
		Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
		line.function_id = frame->function + 1;
		line.line = frame->line;
		packed.id = i + 1;
		packed.mapping_id = is_of_kernel(writer, frame->function) ? KERNEL_MAPPING : 0;
		packed.address =
			rcore_profile_function_at(writer->profile, frame->function)->address;
		packed.n_line = 1;
		packed.line = lines;
		part.n_location = 1;
		part.location = locations;
		put(writer, &part);
	}
}

enum { OWN_LABELS = 10, LABELS = OWN_LABELS + RCORE_PROFILE_LABELS_MAX };

struct labels {
	Rcore__Pprof__Label items[LABELS], *pointers[LABELS];
	size_t count;
};

static Rcore__Pprof__Label *add_label(struct labels *labels, int64_t key)
{
	Rcore__Pprof__Label *label = &labels->items[labels->count];
	rcore__pprof__label__init(label);
	label->key = key;
	labels->pointers[labels->count++] = label;
	return label;
}

/* Does nothing if there is no text. */
static void add_text(struct labels *labels, int64_t key, int64_t text)
{
	if (text)
		add_label(labels, key)->str = text;
}

static void add_number(struct labels *labels, int64_t key, uint32_t number)
{
	if (number)
		add_label(labels, key)->num = number;
}

static void add_labels(const struct writer *writer, const struct rcore_total_key *key,
		       struct labels *labels)
{
	const struct rcore_profile *profile = writer->profile;
	const struct rcore_profile_thread *thread =
		rcore_profile_thread_at(profile, key->thread);
	const struct rcore_profile_state *state = rcore_profile_state_at(profile, key->state);
	size_t count;
	const struct rcore_profile_label *set =
		rcore_profile_label_set(profile, key->labels, &count);
	labels->count = 0;
	add_text(labels, word(writer, WORD_THREAD), thread->id);
	add_text(labels, word(writer, WORD_NAME), thread->name);
	add_number(labels, word(writer, WORD_PID), thread->pid);
	add_number(labels, word(writer, WORD_TID), thread->tid);
	add_text(labels, word(writer, WORD_PROCESS),
		 rcore_profile_title(profile, thread->process));
	add_text(labels, word(writer, WORD_FIBER),
		 rcore_profile_fiber_at(profile, key->fiber)->id);
	add_text(labels, word(writer, WORD_STATE), state_word(writer, state->kind));
	add_text(labels, word(writer, WORD_WAIT), state->wait);
	add_text(labels, word(writer, WORD_DETAIL), state->detail);
	for (size_t i = 0; i < count; i++)
		add_text(labels, set[i].key, set[i].value);
}

static bool find_locations(struct writer *writer, uint32_t node)
{
	writer->locations.count = 0;
	do {
		const struct rcore_profile_node *at =
			rcore_profile_node_at(writer->profile, node);
		uint64_t *location = rcore_push(&writer->locations);
		if (!location)
			return false;
		*location = at->frame + 1;
		node = at->parent;
	} while (node);
	return true;
}

static int64_t amount_of(const struct rcore_amounts *amounts, enum word type)
{
	if (type == WORD_SAMPLES || type == WORD_CALLS)
		return (int64_t)amounts->count;
	return (int64_t)(type == WORD_CPU ? amounts->cpu : amounts->wall);
}

static void put_side(struct writer *writer, const struct rcore_amounts *amounts,
		     struct labels *labels, enum rcore_side side)
{
	size_t count = writer->types->count;
	int64_t values[VALUES];
	Rcore__Pprof__Sample packed = RCORE__PPROF__SAMPLE__INIT;
	Rcore__Pprof__Sample *samples[] = {&packed};
	Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
	if (!amounts->count)
		return;
	for (size_t i = 0; i < count; i++) {
		values[i] = amount_of(amounts, writer->types->words[i][0]);
		if (side == RCORE_SIDE_OLD)
			values[i] = -values[i];
	}
	if (side == RCORE_SIDE_OLD)
		add_text(labels, word(writer, WORD_BASE), word(writer, WORD_TRUE));
	packed.n_location_id = writer->locations.count;
	packed.location_id = writer->locations.items;
	packed.n_value = count;
	packed.value = values;
	packed.n_label = labels->count;
	packed.label = labels->pointers;
	part.n_sample = 1;
	part.sample = samples;
	put(writer, &part);
}

static void put_samples(struct writer *writer)
{
	const struct rcore_totals *totals = writer->report->totals;
	struct labels *labels = malloc(sizeof(*labels));
	writer->no_memory |= !labels;
	for (size_t i = 0; i < totals->keys.count && !writer->no_memory; i++) {
		const struct rcore_total_key *key = rcore_totals_key(totals, i);
		if (!find_locations(writer, key->node)) {
			writer->no_memory = true;
			break;
		}
		add_labels(writer, key, labels);
		for (int side = 0; side < RCORE_SIDES; side++) {
			struct rcore_amounts amounts = rcore_totals_amounts(totals, i, side);
			put_side(writer, &amounts, labels, (enum rcore_side)side);
		}
	}
	free(labels);
}

static void put_head(struct writer *writer)
{
	const struct types *types = writer->types;
	enum { NANOSECONDS = 1000000000 };
	Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
	Rcore__Pprof__ValueType packed[VALUES], *pointers[VALUES];
	const struct rcore_recording_facts *facts = writer->report->facts[RCORE_SIDE_NEW];
	const char *rate = rcore_facts_find(facts, "rate");
	double hertz = rate ? strtod(rate, NULL) : 0;
	for (size_t i = 0; i < types->count; i++) {
		rcore__pprof__value_type__init(&packed[i]);
		packed[i].type = word(writer, types->words[i][0]);
		packed[i].unit = word(writer, types->words[i][1]);
		pointers[i] = &packed[i];
	}
	enum word shown = types->words[types->count - 1][0];
	if (writer->report->measure == RCORE_MEASURE_CPU)
		shown = WORD_CPU;
	if (writer->report->measure == RCORE_MEASURE_CALLS)
		shown = WORD_CALLS;
	part.n_sample_type = types->count;
	part.sample_type = pointers;
	part.default_sample_type = word(writer, shown);
	part.time_nanos = (int64_t)(rcore_facts_started(facts) * NANOSECONDS);
	part.duration_nanos = (int64_t)writer->report->totals->durations[RCORE_SIDE_NEW];
	part.period_type = &packed[types->count - 1];
	if (hertz >= 1)
		part.period = (int64_t)(NANOSECONDS / hertz);
	put(writer, &part);
}

struct rcore_error *rcore_profile_pprof(const struct rcore_profile_report *report, FILE *out)
{
	struct writer writer = {.report = report,
				.profile = report->totals->profile,
				.types = types_of(report->measure)};
	struct rcore_error *err = rcore_pprof_begin(&writer.stream, out);
	if (err)
		return err;
	put_head(&writer);
	put_strings(&writer);
	put_functions(&writer);
	put_mapping(&writer);
	put_locations(&writer);
	put_samples(&writer);
	free(writer.locations.items);
	return rcore_pprof_end(&writer.stream, writer.no_memory);
}
