/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/heap_export.h"
#include "report/profile/pprof_stream.h"

/*
 * A trail is a function and a location, so that a tree of paths is a tree of
 * calls. Its name has what leads to the objects and their class: "constant
 * ORDERS: Array".
 */

/* Objects and bytes. By default, pprof shows the last one. */
enum { VALUES = 2 };

enum { WORD_EMPTY, WORD_OBJECTS, WORD_COUNT, WORD_SPACE, WORD_BYTES, WORD_CUT, WORDS };
static const char *const words[WORDS] = {
	"",
	"objects",
	"count",
	"space",
	"bytes",
	"Too many paths, or too long ones; some objects are counted as their referrers.",
};

struct writer {
	const struct rcore_heap_export *export;
	const struct rcore_trails *trails;
	struct rcore_pprof_stream stream;
	struct {
		uint64_t *items;
		size_t count, capacity;
	} locations;
	struct {
		char *items;
		size_t count, capacity;
	} name;
	bool no_memory;
};

static const char *how(const struct writer *writer, const struct rcore_trail *trail)
{
	const struct rcore_heap_export *export = writer->export;
	const char *text;
	if (trail->before == RCORE_HEAP_NONE)
		text = export->roots[(size_t)rcore_edge_kind(trail->step) *
					     export->heap->name_count +
				     rcore_edge_number(trail->step)];
	else
		text = export->steps[rcore_heap_step(export->heap, trail->step)];
	return text ? text : "";
}

static void append(struct writer *writer, const char *text)
{
	size_t length = strlen(text);
	while (!writer->no_memory && writer->name.capacity < writer->name.count + length + 1)
		if (!rcore_grow((void **)&writer->name.items, writer->name.capacity,
				&writer->name.capacity, 1))
			writer->no_memory = true;
	if (writer->no_memory)
		return;
	memcpy(writer->name.items + writer->name.count, text, length + 1);
	writer->name.count += length;
}

static void put_names(struct writer *writer)
{
	for (size_t i = 0; i < WORDS; i++)
		rcore_pprof_put_text(&writer->stream, words[i]);
	for (size_t i = 0; i < writer->trails->count && !writer->no_memory; i++) {
		const struct rcore_trail *trail = &writer->trails->items[i];
		writer->name.count = 0;
		append(writer, how(writer, trail));
		append(writer, ": ");
		append(writer, writer->export->titles[trail->klass]);
		if (!writer->no_memory)
			rcore_pprof_put_text(&writer->stream, writer->name.items);
	}
}

static void put_functions(struct writer *writer)
{
	for (size_t i = 0; i < writer->trails->count; i++) {
		Rcore__Pprof__Function packed = RCORE__PPROF__FUNCTION__INIT;
		Rcore__Pprof__Function *functions[] = {&packed};
		Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
		packed.id = i + 1;
		packed.name = (int64_t)(WORDS + i);
		part.n_function = 1;
		part.function = functions;
		rcore_pprof_put(&writer->stream, &part);
	}
}

static void put_locations(struct writer *writer)
{
	for (size_t i = 0; i < writer->trails->count; i++) {
		Rcore__Pprof__Line line = RCORE__PPROF__LINE__INIT;
		Rcore__Pprof__Line *lines[] = {&line};
		Rcore__Pprof__Location packed = RCORE__PPROF__LOCATION__INIT;
		Rcore__Pprof__Location *locations[] = {&packed};
		Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
		line.function_id = i + 1;
		packed.id = i + 1;
		packed.n_line = 1;
		packed.line = lines;
		part.n_location = 1;
		part.location = locations;
		rcore_pprof_put(&writer->stream, &part);
	}
}

static void put_sample(struct writer *writer, uint32_t trail)
{
	const struct rcore_trail_sum *sum = &writer->trails->items[trail].sides[0];
	int64_t values[VALUES] = {(int64_t)sum->count, (int64_t)sum->bytes};
	Rcore__Pprof__Sample packed = RCORE__PPROF__SAMPLE__INIT;
	Rcore__Pprof__Sample *samples[] = {&packed};
	Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
	writer->locations.count = 0;
	for (uint32_t at = trail; at != RCORE_HEAP_NONE;
	     at = writer->trails->items[at].before) {
		uint64_t *location = rcore_push(&writer->locations);
		if (!location) {
			writer->no_memory = true;
			return;
		}
		*location = (uint64_t)at + 1;
	}
	packed.n_location_id = writer->locations.count;
	packed.location_id = writer->locations.items;
	packed.n_value = VALUES;
	packed.value = values;
	part.n_sample = 1;
	part.sample = samples;
	rcore_pprof_put(&writer->stream, &part);
}

static void put_samples(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->trails->count && !writer->no_memory; i++)
		if (writer->trails->items[i].sides[0].count)
			put_sample(writer, i);
}

static void put_head(struct writer *writer)
{
	static const int64_t types[VALUES][2] = {{WORD_OBJECTS, WORD_COUNT},
						 {WORD_SPACE, WORD_BYTES}};
	int64_t cut = WORD_CUT;
	Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
	Rcore__Pprof__ValueType packed[VALUES], *pointers[VALUES];
	for (int i = 0; i < VALUES; i++) {
		rcore__pprof__value_type__init(&packed[i]);
		packed[i].type = types[i][0];
		packed[i].unit = types[i][1];
		pointers[i] = &packed[i];
	}
	part.n_sample_type = VALUES;
	part.sample_type = pointers;
	part.default_sample_type = WORD_SPACE;
	part.n_comment = writer->trails->is_cut;
	part.comment = &cut;
	rcore_pprof_put(&writer->stream, &part);
}

struct rcore_error *rcore_report_heap_pprof(const struct rcore_heap_export *export,
					    const struct rcore_trails *trails, FILE *out)
{
	struct writer writer = {.export = export, .trails = trails};
	struct rcore_error *err = rcore_pprof_begin(&writer.stream, out);
	if (err)
		return err;
	put_head(&writer);
	put_names(&writer);
	put_functions(&writer);
	put_locations(&writer);
	put_samples(&writer);
	free(writer.locations.items);
	free(writer.name.items);
	return rcore_pprof_end(&writer.stream, writer.no_memory);
}
