/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/profile/record_private.h"

static void say_that_bpf_fails(const struct rcore_error *why)
{
	fprintf(stderr, "rcore: sampling without BPF: %s\n", why->message);
}

struct rcore_error *rcore_record_open_bpf(struct rcore_record *record)
{
	enum rcore_ebpf asked = rcore_record_ebpf(record->asked);
	bool is_events = rcore_record_is_of_events(record->asked);
	struct rcore_error *err;
	if (record->asked->pid)
		rcore_record_find_files(record->asked->pid, &record->names, &record->how);
	record->how.rate = (double)rcore_record_rate(record->asked, true);
	record->how.native = record->asked->native;
	record->how.kernel = record->asked->kernel;
	if (asked == RCORE_EBPF_NO && !is_events)
		return NULL;
	err = rcore_bpf_engine.open(&record->how, &record->bpf);
	record->is_copied = !err;
	if (!err || err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	if (is_events && err->code != RCORE_ERROR_UNSUPPORTED)
		return err;
	if (is_events)
		return rcore_error_wrap(err, "--%s needs BPF",
					record->asked->off_cpu ? "off-cpu" : "event");
	if (asked == RCORE_EBPF_REQUIRE)
		return rcore_error_wrap(err, "cannot sample with BPF");
	if (record->asked->system && record->asked->native)
		return rcore_error_wrap(err, "'--system --native' needs BPF");
	say_that_bpf_fails(err);
	rcore_error_free(err);
	return NULL;
}

struct rcore_error *rcore_record_read_kernel(struct rcore_record *record)
{
	if (!record->asked->kernel)
		return NULL;
	if (!record->bpf) {
		fputs("rcore: without BPF, frames of the kernel are missing\n", stderr);
		return NULL;
	}
	struct rcore_error *err = rcore_kernel_symbols_read("/proc/kallsyms", &record->kernel);
	if (!err && rcore_kernel_symbols_are_hidden(record->kernel))
		fputs("rcore: frames of the kernel have no names, because it hides its "
		      "addresses; run rcore with CAP_SYSLOG, and `sysctl "
		      "kernel.kptr_restrict=1` if that is 2\n",
		      stderr);
	return err;
}
