/* SPDX-License-Identifier: MIT */
#include "session/pack/pack_heap.h"

/*
 * The most constants that are packed, of one segment of a file and of all.
 * They are recorded by pages, which takes memory. Larger ones are data, such as
 * ICU's.
 */
enum { SEGMENT_MOST = 16 << 20, ALL_MOST = 256 << 20 };

struct rcore_error *rcore_pack_heap_check(const struct rcore_options *options)
{
	if (!options->record_heap)
		return NULL;
	if (!options->record)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "record_heap cannot be used without record");
	if (options->redact)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--heap' cannot be used with --redact: a heap cannot be "
			"redacted in a file; `rcore heap --redact` redacts what it prints");
	if (options->no_stop)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--heap' cannot be used with --no-stop: memory that is copied "
			"while the process runs does not fit together");
	return NULL;
}

struct rcore_error *rcore_pack_heap_check_target(const struct rcore_target *target)
{
	if (!target->pack || target->pack->has_heap)
		return NULL;
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"a pack has only what its report needed, not the whole heap; use the core or "
		"the process that it was made from, and `rcore pack --heap` to keep it");
}

static void add_range(struct rcore_recorder *recorder, uint64_t start, uint64_t end,
		      bool is_zero)
{
	const struct rcore_recorded_range range = {start, end, is_zero};
	rcore_recorder_add_range(recorder, &range);
}

static void add_copied(const struct rcore_target *target)
{
	struct rcore_live_part part;
	for (uint64_t at = 0; rcore_live_copied(target->live, at, &part); at = part.end)
		add_range(target->recorder, part.start, part.end, part.is_zero);
}

/*
 * A truncated core may end within a block. What is before the first and after
 * the last whole block is recorded as if somebody had read it.
 */
static void add_bytes(struct rcore_recorder *recorder, uint64_t start, uint64_t end,
		      bool is_zero)
{
	const uint64_t mask = RCORE_RECORDER_BLOCK - 1;
	uint64_t first = (start + mask) & ~mask, last = end & ~mask;
	if (first < start || first >= last) {
		rcore_recorder_add(recorder, start, end - start);
		return;
	}
	rcore_recorder_add(recorder, start, first - start);
	add_range(recorder, first, last, is_zero);
	rcore_recorder_add(recorder, last, end - last);
}

/*
 * What a core has of code is the same in the file. What it has of other parts
 * that the program cannot write may have been written before, by the dynamic
 * linker (RELRO) or by a JIT.
 */
static bool is_written(const struct rcore_process *process, const struct rcore_segment *segment)
{
	return segment->writable || !segment->executable ||
	       !rcore_process_mapping(process, segment->start);
}

/* What was found after a segment is kept for the next ones. */
static void add_saved(const struct rcore_target *target)
{
	const struct rcore_process *process = target->process;
	uint64_t at = 0, start = 0, end = 0;
	bool is_zero = false, found = true;
	for (size_t i = 0; found && i < process->segment_count; i++) {
		const struct rcore_segment *segment = &process->segments[i];
		uint64_t limit = segment->start + segment->size;
		if (!is_written(process, segment))
			continue;
		/* Segments may overlap. */
		at = segment->start > at ? segment->start : at;
		while (at < limit) {
			if (end <= at)
				found = rcore_core_saved(target->core, at, &start, &end,
							 &is_zero);
			if (!found || start >= limit)
				break;
			uint64_t from = start > at ? start : at;
			at = end < limit ? end : limit;
			add_bytes(target->recorder, from, at, is_zero);
		}
	}
}

/*
 * Types of T_DATA, encodings and methods of C have names that are constants. No
 * core has these, and the machine that reads the pack may not have the files.
 */
static void add_constants(const struct rcore_target *target)
{
	uint64_t start, end, left = ALL_MOST;
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		const struct rcore_module *module = rcore_modules_get(target->modules, i);
		for (size_t j = 0;
		     rcore_module_constant(target->modules, module, j, &start, &end); j++) {
			if (end - start > SEGMENT_MOST || end - start > left)
				continue;
			left -= end - start;
			rcore_recorder_add(target->recorder, start, end - start);
		}
	}
}

struct rcore_error *rcore_session_record_heap(const struct rcore_session *session)
{
	const struct rcore_target *target = &session->target;
	size_t count;
	rcore_recorder_ranges(target->recorder, &count);
	if (count)
		return NULL;
	if (target->live)
		add_copied(target);
	else
		add_saved(target);
	add_constants(target);
	return rcore_recorder_is_short(target->recorder) ? rcore_error_no_memory() : NULL;
}
