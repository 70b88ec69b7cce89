/* SPDX-License-Identifier: MIT */
#include "session/zero_stacks.h"

#include <string.h>

#include "target/process.h"
#include "target/segment_index.h"

/*
 * GDB's gcore writes zeroes for memory that it cannot read. GDB 13 does so for
 * each stack into which glibc 2.42 has put a guard page. A stack that is in use
 * has at least a return address, but a large buffer of zeroes may precede it.
 */
enum { LIMIT = 256 * 1024, STEP = 4096 };

/*
 * A smaller segment is a guard, which has zeroes in the kernel's cores: the
 * stack has overflowed into it. Its pages may have up to 64 KiB.
 */
enum { GUARD = 64 * 1024 };

/*
 * Returns where the saved bytes of the stack at `address` end, at most LIMIT
 * after it; `address` if there is none.
 */
static uint64_t saved_end(const struct rcore_segment_index *index, uint64_t address)
{
	uint64_t start, end;
	if (!rcore_segment_index_find(index, RCORE_SEGMENT_WHOLE, address, &start, &end) ||
	    end - start <= GUARD ||
	    !rcore_segment_index_find(index, RCORE_SEGMENT_SAVED, address, &start, &end))
		return address;
	return end - address < LIMIT ? end : address + LIMIT;
}

static bool has_only_zeroes(const struct rcore_segment_index *index,
			    struct rcore_memory *memory, uint64_t sp)
{
	static const uint8_t zeroes[STEP];
	const uint64_t end = saved_end(index, sp);
	bool zero = sp < end;
	for (uint64_t at = sp; at < end && zero; at += STEP) {
		uint8_t bytes[STEP];
		size_t size = end - at < STEP ? end - at : STEP;
		zero = !rcore_read(memory, at, bytes, size) && !memcmp(bytes, zeroes, size);
	}
	return zero;
}

bool rcore_zero_stacks(const struct rcore_process *process, struct rcore_memory *memory,
		       size_t *ret)
{
	unsigned sp = rcore_register_sp(process->machine);
	struct rcore_segment_index index;
	bool ok = rcore_segment_index_init(process->segments, process->segment_count, &index);
	*ret = 0;
	for (size_t i = 0; i < process->thread_count && ok; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		*ret += thread->has_registers &&
			has_only_zeroes(&index, memory, thread->registers[sp]);
	}
	rcore_segment_index_deinit(&index);
	return ok;
}
