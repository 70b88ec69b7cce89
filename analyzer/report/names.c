/* SPDX-License-Identifier: MIT */
#include "report/names.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/count.h"

#define WORD(table, index) \
	((size_t)(index) < RCORE_COUNT(table) && (table)[index] ? (table)[index] : "unknown")

const char *rcore_frame_kind_name(enum rcore_frame_kind kind)
{
	static const char *const names[] = {
		[RCORE_FRAME_RUBY] = "ruby",     [RCORE_FRAME_CFUNC] = "cfunc",
		[RCORE_FRAME_IFUNC] = "ifunc",   [RCORE_FRAME_DUMMY] = "dummy",
		[RCORE_FRAME_BROKEN] = "broken",
	};
	return WORD(names, kind);
}

const char *rcore_fiber_status_name(enum rcore_fiber_status status)
{
	static const char *const names[] = {
		[RCORE_FIBER_CREATED] = "created",
		[RCORE_FIBER_RESUMED] = "resumed",
		[RCORE_FIBER_SUSPENDED] = "suspended",
		[RCORE_FIBER_TERMINATED] = "terminated",
	};
	return WORD(names, status);
}

const char *rcore_fiber_status_text(enum rcore_fiber_status status)
{
	if (status == RCORE_FIBER_CREATED)
		return "created, not started";
	if (status >= RCORE_FIBER_STATUS_UNKNOWN)
		return "status unknown";
	return rcore_fiber_status_name(status);
}

const char *rcore_thread_status_name(const struct rcore_thread *thread)
{
	static const char *const names[] = {
		[RCORE_THREAD_RUNNABLE] = "run",
		[RCORE_THREAD_STOPPED] = "sleep",
		[RCORE_THREAD_STOPPED_FOREVER] = "sleep_forever",
		[RCORE_THREAD_KILLED] = "dead",
	};
	if (thread->to_kill && thread->status == RCORE_THREAD_RUNNABLE)
		return "aborting";
	return WORD(names, thread->status);
}

const char *rcore_trust_name(enum rcore_trust trust)
{
	static const char *const names[] = {
		[RCORE_TRUST_EXACT] = "exact",
		[RCORE_TRUST_CFI] = "cfi",
		[RCORE_TRUST_NO_CFI] = "no-cfi",
		[RCORE_TRUST_SCANNED] = "scanned",
	};
	return WORD(names, trust);
}

const char *rcore_gvl_name(enum rcore_gvl gvl)
{
	static const char *const names[] = {
		[RCORE_GVL_HOLDER] = "holder",
		[RCORE_GVL_RELEASED] = "released",
		[RCORE_GVL_WAITING] = "waiting",
	};
	return WORD(names, gvl);
}

const char *rcore_parameter_name(enum rcore_parameter parameter)
{
	static const char *const names[] = {
		[RCORE_PARAMETER_NONE] = NULL,         [RCORE_PARAMETER_REQ] = "req",
		[RCORE_PARAMETER_OPT] = "opt",         [RCORE_PARAMETER_REST] = "rest",
		[RCORE_PARAMETER_KEYREQ] = "keyreq",   [RCORE_PARAMETER_KEY] = "key",
		[RCORE_PARAMETER_KEYREST] = "keyrest", [RCORE_PARAMETER_BLOCK] = "block",
	};
	return (size_t)parameter < RCORE_COUNT(names) ? names[parameter] : NULL;
}

const char *rcore_vm_method_name(enum rcore_vm_method method)
{
	static const char *const names[] = {
		[RCORE_VM_BY_SYMBOL] = "symbol",
		[RCORE_VM_BY_DWARF] = "dwarf",
		[RCORE_VM_BY_SEARCH] = "search",
	};
	return WORD(names, method);
}

const char *rcore_vm_method_text(enum rcore_vm_method method)
{
	static const char *const words[] = {
		[RCORE_VM_BY_SYMBOL] = "by the symbol ruby_current_vm_ptr",
		[RCORE_VM_BY_DWARF] = "by Ruby's debug information",
		[RCORE_VM_BY_SEARCH] = "by a search of Ruby's writable data",
	};
	return WORD(words, method);
}

const char *rcore_activation_source_name(enum rcore_activation_source source)
{
	static const char *const names[] = {
		[RCORE_ACTIVATION_SYMBOL] = "symbol",
		[RCORE_ACTIVATION_CODE] = "code",
		[RCORE_ACTIVATION_STACKS] = "stacks",
		[RCORE_ACTIVATION_UNKNOWN] = NULL,
	};
	return WORD(names, source);
}

const char *rcore_thread_text(const struct rcore_thread *thread)
{
	static const char *const words[][RCORE_GVL_WAITING + 1] = {
		[RCORE_THREAD_RUNNABLE] = {"runnable", "running, holds the GVL",
					   "running without the GVL",
					   "ready, waits for the GVL"},
		[RCORE_THREAD_STOPPED] = {"sleeping", "sleeping, holds the GVL", "sleeping",
					  "waking up, waits for the GVL"},
		[RCORE_THREAD_STOPPED_FOREVER] = {"sleeping forever",
						  "sleeping forever, holds the GVL",
						  "sleeping forever",
						  "waking up, waits for the GVL"},
		[RCORE_THREAD_KILLED] = {"dead", "dying, holds the GVL", "dead", "dead"},
	};
	if (thread->is_ended)
		return "ended";
	if (thread->to_kill && thread->status != RCORE_THREAD_KILLED)
		return "being killed";
	if ((size_t)thread->status >= RCORE_COUNT(words) ||
	    (size_t)thread->gvl > RCORE_GVL_WAITING)
		return "status unknown";
	return words[thread->status][thread->gvl];
}

const char *rcore_count_text(uint64_t count, char buffer[RCORE_COUNT_SIZE])
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *out = buffer;
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buffer;
}

void rcore_write_shifts(const struct rcore_snapshot *snapshot, FILE *out)
{
	for (size_t i = 0; i < snapshot->shift_count; i++) {
		const struct rcore_shift *shift = &snapshot->shifts[i];
		fprintf(out,
			"  %s: from %s on, fields moved by %+d bytes; %d hold there that did "
			"not before\n",
			shift->group, shift->from, shift->by, shift->held);
	}
}
