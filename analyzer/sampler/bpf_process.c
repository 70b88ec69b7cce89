/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/count.h"
#include "base/grow.h"
#include "sampler/sampler_private.h"
#include "session/bpf_params.h"

/* Returns whether sample.bpf.c copies enough words of each EC and thread. */
static bool fits(const struct rcore_layout *layout)
{
	const struct {
		const struct rcore_field *field;
		int words;
	} fields[] = {{&layout->ec.vm_stack, RCORE_BPF_EC_WORDS},
		      {&layout->ec.vm_stack_size, RCORE_BPF_EC_WORDS},
		      {&layout->ec.cfp, RCORE_BPF_EC_WORDS},
		      {&layout->ec.thread_ptr, RCORE_BPF_EC_WORDS},
		      {&layout->thread.ractor, RCORE_BPF_THREAD_WORDS},
		      {&layout->thread.nt, RCORE_BPF_THREAD_WORDS},
		      {&layout->thread.thread_id, RCORE_BPF_THREAD_WORDS}};
	for (size_t i = 0; i < RCORE_COUNT(fields); i++)
		if (rcore_has_place(fields[i].field) &&
		    fields[i].field->offset >= fields[i].words * (int)sizeof(uint64_t))
			return false;
	return layout->cfp.sp.offset < (int)layout->cfp.size;
}

static int32_t offset_of(const struct rcore_field *field)
{
	return rcore_has_place(field) ? field->offset : -1;
}

/* Returns the offset of a member of rb_fiber_t from the EC that it contains. */
static int32_t from_ec(const struct rcore_layout *layout, const struct rcore_field *field)
{
	return rcore_has_place(field) ? field->offset - layout->fiber.saved_ec.offset : -1;
}

/*
 * Returns where a thread's rb_thread_t is, as an offset from the thread
 * pointer, or 0 if it is not found. Before 3.0, CRuby gets it with
 * pthread_getspecific(): it is in glibc's struct pthread, at the same offset
 * for all threads. If Ruby started the thread, the struct has it again at a
 * higher offset, as the argument of the start routine.
 */
static int32_t find_specific(const struct rcore_sampler *sampler,
			     const struct rcore_ruby_params *params)
{
	enum { SEARCHED = 1024 };
	uint64_t words[SEARCHED / sizeof(uint64_t)];
	bool is_there[RCORE_COUNT(words)], is_read = false;
	struct rcore_memory *memory = rcore_live_bare_memory(sampler->live);
	memset(is_there, true, sizeof(is_there));
	for (size_t i = 0; i < sampler->threads.count; i++) {
		uint64_t thread = sampler->threads.items[i]->address, pthread;
		if (rcore_read_field(memory, thread, &sampler->layout->thread.thread_id,
				     &pthread) ||
		    rcore_read(memory, pthread + (uint64_t)params->thread_pointer, words,
			       sizeof(words)))
			continue;
		is_read = true;
		for (size_t j = 0; j < RCORE_COUNT(words); j++)
			is_there[j] &= words[j] == thread;
	}
	for (size_t j = 1; is_read && j < RCORE_COUNT(words); j++)
		if (is_there[j])
			return (int32_t)(j * sizeof(*words));
	return 0;
}

/* Adds what only bpf_records.c needs, and struct rcore_ruby_params lacks. */
static void add_own(const struct rcore_sampler *sampler, struct rcore_bpf_process *process)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_field *of_ractor = rcore_has(&layout->ractor.sched_running)
						      ? &layout->ractor.sched_running
						      : &layout->ractor.gvl_owner;
	process->frame_sp = layout->cfp.sp.offset;
	process->thread_ractor = process->ractor_holder = -1;
	if (rcore_has(&layout->thread.ractor) && rcore_has_place(of_ractor)) {
		process->thread_ractor = layout->thread.ractor.offset;
		process->ractor_holder = of_ractor->offset;
	} else if (rcore_has_place(&layout->vm.gvl_owner)) {
		process->holder = sampler->vm + (uint64_t)layout->vm.gvl_owner.offset;
	}
	if (sampler->objspace)
		process->gc = sampler->objspace + (uint64_t)layout->objspace.during_gc.offset;
	process->thread_status = offset_of(&layout->thread.status);
	process->thread_region = offset_of(&layout->thread.blocking_region_buffer);
	process->thread_ec = offset_of(&layout->thread.ec);
	process->ec_stack_start = offset_of(&layout->ec.machine_stack_start);
	process->fiber_stack = from_ec(layout, &layout->fiber.stack_base);
	process->fiber_stack_size = from_ec(layout, &layout->fiber.stack_size);
	if (!rcore_has(&layout->thread.ractor) && process->thread_ec >= 0)
		process->thread_specific = find_specific(sampler, &process->params);
}

static struct rcore_error *find(const struct rcore_sampler *sampler,
				struct rcore_bpf_process *ret)
{
	/*
	 * Stops the process, because the registers of each thread show where
	 * its thread-local variables are.
	 */
	struct rcore_options open = sampler->open;
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	*ret = (struct rcore_bpf_process){0};
	open.no_native = true;
	if (!fits(sampler->layout))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "the BPF program cannot read the layout of Ruby %s; "
					  "record without --ebpf",
					  sampler->ruby);
	struct rcore_error *err = rcore_open_pid(rcore_sampler_pid(sampler), &open, &session);
	if (!err)
		err = rcore_load(session, &snapshot);
	if (!err)
		err = rcore_bpf_params(session, snapshot, NULL, 0, &ret->params);
	if (!err)
		add_own(sampler, ret);
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	return err;
}

/*
 * On a busy machine, threads may take longer to stop than rcore waits. While a
 * thread switches fibers, its variables may not be found.
 */
bool rcore_sampler_bpf_may_pass(const struct rcore_error *err)
{
	return err->code == RCORE_ERROR_CORRUPT || err->code == RCORE_ERROR_FAULT;
}

struct rcore_error *rcore_sampler_bpf_process(const struct rcore_sampler *sampler,
					      struct rcore_bpf_process *ret)
{
	enum { ATTEMPTS = 3 };
	struct rcore_error *err = NULL;
	for (int i = 0; i < ATTEMPTS; i++) {
		rcore_error_free(err);
		err = find(sampler, ret);
		if (!err || !rcore_sampler_bpf_may_pass(err))
			break;
	}
	return err;
}

bool rcore_sampler_bpf_process_like(const struct rcore_sampler *sampler,
				    const struct rcore_bpf_process *known,
				    struct rcore_bpf_process *ret)
{
	struct rcore_bpf_process found = {0};
	size_t count = sampler->threads.count;
	uint64_t *threads = rcore_calloc(count, sizeof(*threads));
	for (size_t i = 0; threads && i < count; i++)
		threads[i] = sampler->threads.items[i]->address;
	bool holds = threads && fits(sampler->layout) &&
		     rcore_bpf_params_like(sampler->session, threads, count, &known->params,
					   &found.params);
	free(threads);
	if (!holds)
		return false;
	add_own(sampler, &found);
	*ret = found;
	return true;
}

uint64_t rcore_sampler_build(const struct rcore_sampler *sampler)
{
	const struct rcore_module *module = sampler->located->identity.module;
	return module->build_id_size ? XXH3_64bits(module->build_id, module->build_id_size) : 0;
}

uint64_t rcore_sampler_code_mappings(const struct rcore_sampler *sampler)
{
	char line[512];
	uint64_t count = 0;
	int fd = openat(rcore_live_folder(sampler->live), "maps", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	/* Leaves out what JIT compilers make: it is in no file. */
	while (file && fgets(line, sizeof(line), file))
		count += strstr(line, " r-xp ") && strchr(line, '/');
	if (file)
		fclose(file);
	return count;
}
