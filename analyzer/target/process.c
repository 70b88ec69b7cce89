/* SPDX-License-Identifier: MIT */
#include "target/process.h"

#include "base/order.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int rcore_register_count(unsigned machine)
{
	return machine == EM_AARCH64 ? 34 : 27;
}

int rcore_register_pc(unsigned machine)
{
	return machine == EM_AARCH64 ? 32 : 16;
}

int rcore_register_sp(unsigned machine)
{
	return machine == EM_AARCH64 ? 31 : 19;
}

/* asm-generic/siginfo.h; the union starts at 16. */
void rcore_siginfo_parse(const void *bytes, struct rcore_siginfo *ret)
{
	struct {
		int32_t signo, error, code, padding;
		union {
			int32_t pid;
			uint64_t address;
		};
	} raw;
	_Static_assert(sizeof(raw) == RCORE_SIGINFO_SIZE, "the first 24 bytes");
	memcpy(&raw, bytes, sizeof(raw));
	*ret = (struct rcore_siginfo){.present = true, .signo = raw.signo, .code = raw.code};
	if (raw.code <= 0)
		ret->sender_pid = raw.pid;
	else
		ret->address = raw.address;
}

bool rcore_process_auxv(const struct rcore_process *process, uint64_t type, uint64_t *ret)
{
	for (size_t i = 0; i < process->auxv_pairs; i++) {
		if (process->auxv[2 * i] == type) {
			*ret = process->auxv[2 * i + 1];
			return true;
		}
	}
	return false;
}

const struct rcore_mapping *rcore_process_mapping(const struct rcore_process *process,
						  uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(process->mapping_count, middle,
					   process->mappings[middle].end <= address);
	if (low == process->mapping_count || process->mappings[low].start > address)
		return NULL;
	return &process->mappings[low];
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_mapping *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

bool rcore_process_order_mappings(struct rcore_process *process)
{
	size_t kept = 0;
	if (!process->mapping_count)
		return true;
	qsort(process->mappings, process->mapping_count, sizeof(*process->mappings), by_start);
	for (size_t i = 0; i < process->mapping_count; i++) {
		if (!kept || process->mappings[i].start >= process->mappings[kept - 1].end)
			process->mappings[kept++] = process->mappings[i];
	}
	bool whole = kept == process->mapping_count;
	process->mapping_count = kept;
	return whole;
}

static bool is_debugger_stop(int signo)
{
	return signo == SIGSTOP || signo == SIGTRAP || signo == SIGINT;
}

void rcore_process_settle_signal(struct rcore_process *process, bool by_debugger)
{
	if (by_debugger && (!process->signo || is_debugger_stop(process->signo))) {
		process->signo = 0;
		process->siginfo = (struct rcore_siginfo){0};
		process->crashed_tid = 0;
	}
	if (process->signo && !process->crashed_tid && process->thread_count)
		process->crashed_tid = process->threads[0].tid;
}

bool rcore_siginfo_is_of_other(const struct rcore_siginfo *info, int pid)
{
	return info->present && info->sender_pid != pid &&
	       (info->code == SI_USER || info->code == SI_QUEUE);
}

bool rcore_process_was_killed(const struct rcore_process *process)
{
	return process->signo && rcore_siginfo_is_of_other(&process->siginfo, process->pid);
}
