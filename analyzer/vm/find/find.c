/* SPDX-License-Identifier: MIT */
#include "vm/find/find.h"

#include "model/snapshot.h"

static bool follow(struct rcore_memory *memory, uint64_t base, const struct rcore_field *field,
		   uint64_t *ret)
{
	return base && !rcore_read_field(memory, base, field, ret);
}

bool rcore_vm_prove(struct rcore_memory *memory, const struct rcore_layout *layout,
		    uint64_t address)
{
	uint64_t thread, back, ec, ractor;

	if (!follow(memory, address, &layout->vm.main_thread, &thread) ||
	    !follow(memory, thread, &layout->thread.vm, &back) || back != address ||
	    !follow(memory, thread, &layout->thread.ec, &ec) ||
	    !follow(memory, ec, &layout->ec.thread_ptr, &back) || back != thread)
		return false;
	if (!rcore_has(&layout->vm.main_ractor))
		return true;
	if (!rcore_has(&layout->ractor.threads_main))
		return follow(memory, address, &layout->vm.main_ractor, &ractor) &&
		       follow(memory, thread, &layout->thread.ractor, &back) &&
		       back == ractor && ractor;
	return follow(memory, address, &layout->vm.main_ractor, &ractor) &&
	       follow(memory, ractor, &layout->ractor.threads_main, &back) && back == thread;
}

/* rb_ec_cleanup() of eval.c sets the status long before the VM is freed. */
static bool is_main_thread_killed(struct rcore_memory *memory,
				  const struct rcore_layout *layout, uint64_t address)
{
	uint64_t thread, status;
	return follow(memory, address, &layout->vm.main_thread, &thread) &&
	       follow(memory, thread, &layout->thread.status, &status) &&
	       status == RCORE_THREAD_KILLED;
}

bool rcore_vm_is_freed(struct rcore_memory *memory, const struct rcore_layout *layout,
		       uint64_t address)
{
	uint64_t head = address + (uint64_t)layout->vm.ractor_set.offset, next, back, count;
	if (!rcore_has(&layout->vm.ractor_set) || !address ||
	    rcore_read_u64(memory, head, &next) ||
	    !follow(memory, address, &layout->vm.ractor_count, &count) || !count)
		return false;
	if (next == head)
		return true;
	/* struct list_node: next, prev */
	bool is_list = !rcore_read_u64(memory, next + sizeof(next), &back) && back == head;
	return !is_list && is_main_thread_killed(memory, layout, address);
}

bool rcore_vm_at(struct rcore_memory *memory, const struct rcore_layout *layout,
		 uint64_t variable, uint64_t *ret)
{
	uint64_t address;
	if (rcore_read_u64(memory, variable, &address) ||
	    !rcore_vm_prove(memory, layout, address))
		return false;
	*ret = address;
	return true;
}

bool rcore_vm_search(struct rcore_memory *memory, const struct rcore_layout *layout,
		     uint64_t start, uint64_t end, uint64_t *ret, uint64_t *ret_variable)
{
	enum { PAGE = 4096, WORDS = PAGE / sizeof(uint64_t) };
	uint64_t words[WORDS];

	if (end < start)
		return false;
	if (end - start > RCORE_SEARCH_LIMIT)
		end = start + RCORE_SEARCH_LIMIT;
	for (uint64_t at = (start + 7) & ~UINT64_C(7); at < end;) {
		uint64_t stop = (at | (PAGE - 1)) + 1;
		size_t count = ((stop < end ? stop : end) - at) / sizeof(uint64_t);
		if (!rcore_read(memory, at, words, count * sizeof(uint64_t))) {
			for (size_t i = 0; i < count; i++) {
				if (words[i] % sizeof(uint64_t) == 0 &&
				    rcore_vm_prove(memory, layout, words[i])) {
					*ret = words[i];
					*ret_variable = at + i * sizeof(uint64_t);
					return true;
				}
			}
		}
		at = stop;
	}
	return false;
}
