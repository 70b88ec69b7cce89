/* SPDX-License-Identifier: MIT */
#include "vm/stack/instructions.h"

#include "ruby/iseq/iseq.h"

/* Returns false if the iseq has no instructions that can be sampled. */
static bool first_word(struct rcore_ruby *ruby, const struct rcore_frame *frame, uint64_t *ret)
{
	const struct rcore_iseq_info *iseq;
	if (frame->kind != RCORE_FRAME_RUBY || !frame->iseq)
		return false;
	struct rcore_error *err = rcore_iseq(ruby, frame->iseq, &iseq);
	if (err) {
		rcore_error_free(err);
		return false;
	}
	return iseq->size && !rcore_read_u64(ruby->memory, iseq->encoded, ret);
}

void rcore_instructions_sample(struct rcore_ruby *ruby, const struct rcore_snapshot *snapshot,
			       struct rcore_instructions *ret)
{
	uint64_t last = 0;
	ret->count = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		for (size_t j = 0; j < fiber->frame_count; j++) {
			if (ret->count == RCORE_INSTRUCTION_SAMPLE)
				return;
			const struct rcore_frame *frame = &fiber->frames[j];
			ret->count += frame->iseq != last &&
				      first_word(ruby, frame, &ret->items[ret->count]);
			last = frame->iseq;
		}
	}
}
