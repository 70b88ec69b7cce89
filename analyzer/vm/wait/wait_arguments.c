/* SPDX-License-Identifier: MIT */
#include "vm/stack/c_arguments.h"
#include "vm/wait/wait_private.h"

int rcore_wait_arguments(struct rcore_waits *waits, const struct rcore_fiber *fiber,
			 size_t index, uint64_t *ret, size_t limit)
{
	struct rcore_ruby *ruby = waits->loader->ruby;
	uint64_t at;
	size_t count;
	if (!rcore_c_arguments(ruby, fiber, &fiber->frames[index], &at, &count))
		return -1;
	if (count > limit)
		count = limit;
	if (count && rcore_read(ruby->memory, at, ret, count * sizeof(*ret)))
		return -1;
	return (int)count;
}

/*
 * Parameters are the first locals, below ep: | local 0 | ... | local n-1 | me |
 * block | flags | (vm_core.h, VM_ENV_INDEX_LAST_LVAR).
 */
bool rcore_wait_parameter(struct rcore_waits *waits, const struct rcore_frame *frame,
			  size_t place, uint64_t *ret)
{
	enum { WORD = sizeof(uint64_t), ENV_WORDS = 2 };
	struct rcore_ruby *ruby = waits->loader->ruby;
	const struct rcore_layout *layout = ruby->layout;
	if (frame->kind != RCORE_FRAME_RUBY || frame->under_construction)
		return false;
	uint64_t body = rcore_wait_field(waits, frame->iseq, &layout->iseq.body);
	uint64_t size = rcore_wait_field(waits, body, &layout->iseq_body.local_table_size);
	return place < size &&
	       !rcore_read_u64(ruby->memory,
			       frame->ep - (size + ENV_WORDS) * WORD + place * WORD, ret);
}
