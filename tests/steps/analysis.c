/* SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/symbolize/symbolize_dwarf.h"
#include "session/layout/examine.h"
#include "session/session.h"
#include "target/live/live.h"
#include "vm/find/find.h"

enum { FS_BASE = 21 };

/*
 * Without debug files of the C library: reading them at each step takes longer
 * than all the rest.
 */
struct rcore_units *__wrap_rcore_units_new(Dwfl_Module *module);
struct rcore_units *__wrap_rcore_units_new(Dwfl_Module *module)
{
	return NULL;
}

static void check(struct rcore_error *err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "steps: %s: %s\n", what, err->message);
	exit(2);
}

static struct mapped *read_maps(const struct analysis *analysis)
{
	struct mapped *mapped = calloc(1, sizeof(*mapped));
	if (!mapped || rcore_live_maps_read(analysis->folder, analysis->tracee->pid,
					    &mapped->arena, &mapped->maps)) {
		fprintf(stderr, "steps: cannot read the mappings\n");
		exit(2);
	}
	analysis->tracee->maps_changed = false;
	return mapped;
}

static void forget_maps(struct mapped *mapped)
{
	rcore_arena_deinit(&mapped->arena);
	free(mapped);
}

/* Whether both map the same files at the same places. */
static bool same_files(const struct rcore_live_maps *a, const struct rcore_live_maps *b)
{
	if (a->mapping_count != b->mapping_count)
		return false;
	for (size_t i = 0; i < a->mapping_count; i++)
		if (a->mappings[i].start != b->mappings[i].start ||
		    a->mappings[i].end != b->mappings[i].end ||
		    strcmp(a->mappings[i].path, b->mappings[i].path))
			return false;
	return true;
}

static void open_session(struct analysis *analysis)
{
	struct rcore_native_thread *threads = analysis->process.threads;
	analysis->opened = analysis->mapped;
	analysis->process = *rcore_live_process(analysis->facts);
	analysis->process.threads = threads;
	analysis->process.mappings = analysis->mapped->maps.mappings;
	analysis->process.mapping_count = analysis->mapped->maps.mapping_count;
	/*
	 * Like rcore_open_memory(), which copies the process: here, its threads
	 * change at each step.
	 */
	check(rcore_session_open(&analysis->process, &analysis->pages.memory,
				 &analysis->options, &analysis->session),
	      "rcore_session_open");
}

void analysis_open(struct analysis *analysis, struct tracee *tracee)
{
	char path[32];
	*analysis = (struct analysis){.tracee = tracee};
	check(rcore_live_open(tracee->pid, &analysis->facts), "rcore_live_open");
	snprintf(path, sizeof(path), "/proc/%d", tracee->pid);
	analysis->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	analysis->mapped = read_maps(analysis);
	rcore_live_memory_init(&analysis->memory, tracee->pid, analysis->folder,
			       &analysis->mapped->maps);
	pages_init(&analysis->pages, &analysis->memory);
	analysis->options.size = sizeof(analysis->options);
	analysis->options.ids = rcore_ids_open();
	analysis->options.choice = rcore_choice_open();
	open_session(analysis);
}

void analysis_close(struct analysis *analysis)
{
	rcore_close(analysis->session);
	rcore_choice_close(analysis->options.choice);
	rcore_ids_close(analysis->options.ids);
	pages_deinit(&analysis->pages);
	rcore_live_memory_deinit(&analysis->memory);
	rcore_live_close(analysis->facts);
	close(analysis->folder);
	free(analysis->process.threads);
	if (analysis->opened != analysis->mapped)
		forget_maps(analysis->opened);
	forget_maps(analysis->mapped);
}

static void read_threads(struct analysis *analysis)
{
	struct rcore_process *process = &analysis->process;
	struct tracee *tracee = analysis->tracee;
	if (analysis->thread_capacity < tracee->threads.count) {
		analysis->thread_capacity = 2 * tracee->threads.count;
		process->threads = reallocarray(process->threads, analysis->thread_capacity,
						sizeof(*process->threads));
		if (!process->threads)
			abort();
	}
	process->thread_count = 0;
	for (size_t i = 0; i < tracee->threads.count; i++) {
		const struct tracee_thread *thread = &tracee->threads.items[i];
		struct rcore_native_thread *native = &process->threads[process->thread_count];
		if (thread->state == TRACEE_ENDED)
			continue;
		process->thread_count++;
		*native = (struct rcore_native_thread){
			.tid = thread->tid,
			/*
			 * A thread that was just made may not have stopped yet.
			 */
			.has_registers = thread->registers[rcore_register_pc(process->machine)],
			.register_count = rcore_register_count(process->machine),
			.thread_pointer = thread->registers[FS_BASE]};
		memcpy(native->registers, thread->registers, sizeof(native->registers));
	}
}

/* The session reads names of files from the maps that it was opened with. */
static void renew_maps(struct analysis *analysis)
{
	struct mapped *old = analysis->mapped, *opened = analysis->opened;
	analysis->mapped = read_maps(analysis);
	analysis->memory.maps = &analysis->mapped->maps;
	if (!same_files(&opened->maps, &analysis->mapped->maps)) {
		rcore_close(analysis->session);
		open_session(analysis);
		forget_maps(opened);
	}
	if (old != opened)
		forget_maps(old);
}

static void refresh(struct analysis *analysis)
{
	bool remapped = analysis->tracee->maps_changed;
	/*
	 * The pages must be new before a session is opened, because that reads
	 * the modules.
	 */
	pages_renew(&analysis->pages, remapped);
	if (remapped)
		renew_maps(analysis);
	read_threads(analysis);
}

struct rcore_error *analysis_load(struct analysis *analysis, struct rcore_snapshot **ret)
{
	refresh(analysis);
	return rcore_load(analysis->session, ret);
}

static struct rcore_session *fresh_session(struct analysis *analysis)
{
	struct rcore_session *session;
	static const struct rcore_options defaults = {.size = sizeof(defaults)};
	check(rcore_session_open(&analysis->process, &analysis->pages.memory, &defaults,
				 &session),
	      "rcore_session_open");
	return session;
}

struct rcore_error *analysis_load_fresh(struct analysis *analysis, struct rcore_snapshot **ret)
{
	struct rcore_session *session = fresh_session(analysis);
	struct rcore_error *err = rcore_load(session, ret);
	rcore_close(session);
	return err;
}

struct rcore_error *analysis_check_fields(struct analysis *analysis,
					  struct rcore_snapshot **ret)
{
	struct rcore_session *session = fresh_session(analysis);
	struct rcore_error *failure = NULL;
	struct rcore_error *err = rcore_check_layout(session, ret, &failure);
	rcore_close(session);
	if (!err && failure) {
		rcore_snapshot_free(*ret);
		return failure;
	}
	return err;
}

/* Returns NULL if no VM was found yet. */
static const struct rcore_location *location_of(const struct analysis *analysis)
{
	const struct rcore_located *located = &analysis->session->located;
	return located->is_found ? &located->location : NULL;
}

struct cursor analysis_cursor(struct analysis *analysis, uint64_t thread)
{
	struct cursor cursor = {0};
	const struct rcore_location *location = location_of(analysis);
	struct rcore_memory *memory = &analysis->memory.memory;
	if (thread && location &&
	    !rcore_read_field(memory, thread, &location->layout.thread.ec, &cursor.ec) &&
	    cursor.ec)
		rcore_read_field(memory, cursor.ec, &location->layout.ec.cfp, &cursor.cfp);
	return cursor;
}

struct frame_words analysis_frame(struct analysis *analysis, uint64_t cfp)
{
	struct frame_words words = {0};
	const struct rcore_location *location = location_of(analysis);
	struct rcore_memory *memory = &analysis->memory.memory;
	if (!location)
		return words;
	rcore_read_field(memory, cfp, &location->layout.cfp.iseq, &words.iseq);
	rcore_read_field(memory, cfp, &location->layout.cfp.self, &words.self);
	rcore_read_field(memory, cfp, &location->layout.cfp.ep, &words.ep);
	/* The method entry or cref, the block, and flags. */
	rcore_read(memory, words.ep - 2 * sizeof(words.ep), words.environment,
		   sizeof(words.environment));
	return words;
}

bool analysis_pushes_first(const struct analysis *analysis)
{
	const struct rcore_location *location = location_of(analysis);
	return location && location->layout.traits.frames_pushed_first;
}
