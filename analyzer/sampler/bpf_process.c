/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "sampler/sampler_private.h"
#include "session/bpf_params.h"

/* Returns whether sample.bpf.c copies all words of the EC that it needs. */
static bool fits(const struct rcore_layout *layout)
{
	const struct rcore_field *const fields[] = {&layout->ec.vm_stack,
						    &layout->ec.vm_stack_size, &layout->ec.cfp};
	for (size_t i = 0; i < RCORE_COUNT(fields); i++)
		if (fields[i]->offset >= RCORE_BPF_EC_WORDS * (int)sizeof(uint64_t))
			return false;
	return layout->cfp.sp.offset < (int)layout->cfp.size;
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
}

static struct rcore_error *find(const struct rcore_sampler *sampler,
				struct rcore_bpf_process *ret)
{
	/*
	 * The registers of a stopped thread show where it has its thread-local
	 * variables.
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

uint64_t rcore_sampler_code_mappings(const struct rcore_sampler *sampler)
{
	char line[512];
	uint64_t count = 0;
	int fd = openat(rcore_live_folder(sampler->live), "maps", O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file && fd >= 0)
		close(fd);
	/* Code that a JIT compiler makes is in no file. */
	while (file && fgets(line, sizeof(line), file))
		count += strstr(line, " r-xp ") && strchr(line, '/');
	if (file)
		fclose(file);
	return count;
}
