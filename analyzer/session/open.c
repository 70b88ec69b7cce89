/* SPDX-License-Identifier: MIT */
#include "session/open.h"

#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "image/elf/elf_file.h"
#include "session/layout/trial.h"
#include "target/core/core_file.h"

/*
 * Forgets the registers of threads that were not stopped. A hostile pack may
 * list very many.
 */
static bool forget_unstopped(const struct rcore_packed_live *live,
			     struct rcore_native_thread *threads, size_t count)
{
	struct rcore_address_map unstopped = {0};
	bool fine = true;
	for (size_t i = 0; i < live->unstopped_count && fine; i++)
		fine = rcore_address_map_put_first(&unstopped, (uint64_t)live->unstopped[i], 0);
	for (size_t i = 0; i < count; i++)
		if (!live->facts.stopped ||
		    rcore_address_map_get(&unstopped, (uint64_t)threads[i].tid) >= 0)
			threads[i] = (struct rcore_native_thread){.tid = threads[i].tid};
	rcore_address_map_deinit(&unstopped);
	return fine;
}

/*
 * The notes of a core have registers for each thread, and 80 bytes of the
 * command line.
 */
static struct rcore_error *as_running(struct rcore_target *target,
				      struct rcore_process *process)
{
	const struct rcore_packed_live *live = &target->pack->live;
	size_t size = process->thread_count * sizeof(*process->threads);
	struct rcore_native_thread *threads = rcore_arena_alloc(&target->arena, size + 1);
	if (!threads)
		return rcore_error_no_memory();
	if (size)
		memcpy(threads, process->threads, size);
	if (!forget_unstopped(live, threads, process->thread_count))
		return rcore_error_no_memory();
	process->threads = threads;
	process->producer = "rcore";
	if (live->arguments)
		process->arguments = live->arguments;
	return NULL;
}

/*
 * If a pack's note is damaged, the pack is read as a core that contains little
 * memory.
 */
static struct rcore_error *read_pack(struct rcore_target *target,
				     const struct rcore_process *process)
{
	struct rcore_process *mapped = rcore_arena_alloc(&target->arena, sizeof(*mapped));
	struct rcore_pack_facts *pack = rcore_arena_alloc(&target->arena, sizeof(*pack));
	if (!mapped || !pack)
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_pack_note_read(
		process->pack_note, process->pack_note_size, &target->arena, pack);
	if (!err) {
		*mapped = *process;
		mapped->segments = pack->segments;
		mapped->segment_count = pack->segment_count;
		target->process = mapped;
		target->pack = pack;
		return pack->live.facts.present ? as_running(target, mapped) : NULL;
	}
	if (err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	target->pack_problem = rcore_arena_strdup(&target->arena, err->message);
	rcore_error_free(err);
	return target->pack_problem ? NULL : rcore_error_no_memory();
}

/* What a debugger or the caller's own memory can read may end anywhere. */
static uint64_t edge_of_target(const void *context, uint64_t address)
{
	const struct rcore_target *target = context;
	if (!target->core && !target->live)
		return address + 1;
	uint64_t edge = rcore_modules_edge(target->modules, address);
	uint64_t of_core = target->core ? rcore_core_edge(target->core, address) : edge;
	return of_core < edge ? of_core : edge;
}

struct rcore_error *rcore_target_open(struct rcore_target *target,
				      const struct rcore_process *process,
				      struct rcore_memory *memory,
				      const struct rcore_options *options)
{
	const struct rcore_module_options module_options = {
		.sysroot = options->sysroot,
		.search_paths = options->search_paths,
		.search_path_count = options->search_path_count,
		.executable = options->executable,
		.from_memory = options->record,
		.answers = options->choice ? options->choice->answers : NULL,
	};
	struct rcore_error *err = NULL;
	target->process = process;
	if (options->record) {
		target->recorder = rcore_recorder_new(memory);
		if (!target->recorder)
			return rcore_error_no_memory();
		rcore_recorder_set_edge(target->recorder, edge_of_target, target);
		memory = rcore_recorder_memory(target->recorder);
	}
	if (process->pack_note)
		err = read_pack(target, process);
	if (!err)
		err = rcore_modules_open(target->process, memory, &module_options,
					 &target->modules);
	if (!err)
		target->memory = rcore_modules_overlay(target->modules, memory);
	return err;
}

bool rcore_target_was_alive(const struct rcore_target *target)
{
	return target->live || (target->pack && target->pack->live.facts.present);
}

void rcore_target_close(struct rcore_target *target)
{
	rcore_code_close(target->code);
	rcore_modules_close(target->modules);
	rcore_core_close(target->core);
	rcore_live_close(target->live);
	rcore_recorder_free(target->recorder);
	rcore_arena_deinit(&target->arena);
	free(target->own_process);
}

struct rcore_error *rcore_target_code(struct rcore_target *target, struct rcore_code **ret)
{
	struct rcore_error *err = NULL;
	if (!target->code)
		err = rcore_code_open(target->modules, target->memory, target->process->machine,
				      &target->code);
	*ret = target->code;
	return err;
}

void rcore_target_retry(struct rcore_target *target)
{
	if (!rcore_modules_lack_memory(target->modules))
		return;
	rcore_code_close(target->code);
	target->code = NULL;
	rcore_modules_retry(target->modules);
}

static struct rcore_error *cut(const char *path)
{
	return rcore_error_create(RCORE_ERROR_OS,
				  "%s shrank while it was read; wait until it is complete, or "
				  "use a copy",
				  path);
}

struct rcore_error *rcore_target_check_files(const struct rcore_target *target)
{
	if (target->core && rcore_mapped_file_is_cut(&rcore_core_file(target->core)->map))
		return cut(target->process->source);
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		const struct rcore_module *module = rcore_modules_get(target->modules, i);
		if (module->elf && rcore_mapped_file_is_cut(&module->elf->map))
			return cut(module->file);
	}
	return NULL;
}

struct rcore_error *rcore_target_judge(const struct rcore_target *target,
				       struct rcore_error *err)
{
	struct rcore_error *better = rcore_target_check_files(target);
	if (!better && err && err->code == RCORE_ERROR_FAULT &&
	    rcore_core_is_truncated(target->core))
		better = rcore_error_create(RCORE_ERROR_FAULT, "%s; " RCORE_CORE_ADVICE,
					    err->message);
	else if (!better && err && err->code == RCORE_ERROR_FAULT && target->pack &&
		 !target->pack->has_heap)
		better = rcore_error_create(
			RCORE_ERROR_FAULT,
			"%s; a pack has only what its report needed: use the "
			"core or the process that it was made from",
			err->message);
	if (!better)
		return err;
	rcore_error_free(err);
	return better;
}
