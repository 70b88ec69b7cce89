/* SPDX-License-Identifier: MIT */
#include "vm/stack/c_arguments.h"

#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "ruby/iseq/iseq_locals.h"

enum { WORD = 8, BOOKKEEPING = 2 /* words between the last argument and ep */ };

static bool find_on_stack(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
			  const struct rcore_frame *frame, uint64_t *ret, size_t *ret_count)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t sp, receiver, caller = frame->cfp + layout->cfp.size;
	uint64_t end = frame->ep - BOOKKEEPING * WORD;
	if (frame->kind != RCORE_FRAME_CFUNC ||
	    rcore_read_field(ruby->memory, caller, &layout->cfp.sp, &sp) ||
	    sp < fiber->vm_stack || sp >= end || end - fiber->vm_stack > fiber->vm_stack_size ||
	    sp % WORD != end % WORD || (end - sp) / WORD > RCORE_LOCAL_LIMIT ||
	    rcore_read_u64(ruby->memory, sp, &receiver) || receiver != frame->self)
		return false;
	*ret = sp + WORD;
	*ret_count = (end - sp) / WORD - 1;
	return true;
}

/*
 * Whether the method is `new`: rb_class_new_instance_pass_kw() of object.c
 * (rb_class_s_new() up to 2.7), or rb_io_s_new() and rb_io_s_open() of io.c,
 * which do the same.
 */
static bool is_new(const struct rcore_frame *frame)
{
	static const char *const labels[] = {"Class#new", "IO.new", "IO.open"};
	for (size_t i = 0; i < RCORE_COUNT(labels); i++)
		if (rcore_same_text(frame->label, labels[i]))
			return frame->kind == RCORE_FRAME_CFUNC;
	return false;
}

static bool is_initialize(const struct rcore_frame *frame)
{
	const char *name = frame->label ? strchr(frame->label, '#') : NULL;
	return frame->kind == RCORE_FRAME_CFUNC && rcore_same_text(name, "#initialize");
}

bool rcore_c_arguments(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
		       const struct rcore_frame *frame, uint64_t *ret, size_t *ret_count)
{
	const struct rcore_frame *caller = frame + 1;
	if (find_on_stack(ruby, fiber, frame, ret, ret_count))
		return true;
	return caller < fiber->frames + fiber->frame_count && is_initialize(frame) &&
	       is_new(caller) && find_on_stack(ruby, fiber, caller, ret, ret_count);
}
