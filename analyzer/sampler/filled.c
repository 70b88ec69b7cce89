/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/hot.h"
#include "ruby/get.h"
#include "ruby/iseq/method.h"
#include "sampler/code_private.h"
#include "ruby/iseq/frame_flags.h"

enum {
	/*
	 * The most words of an iseq's code that are read. A method with a large
	 * `case` has some thousands.
	 */
	CODE_WORDS_LIMIT = 1 << 14,
};

static void find_leaves(const struct rcore_codes *codes, struct rcore_code *code)
{
	size_t count = code->bytes / sizeof(uint64_t);
	code->has_looked_for_leaves = true;
	if (!count || count > CODE_WORDS_LIMIT)
		return;
	uint64_t *words = malloc(code->bytes);
	uint8_t *leaves = calloc(1, count / CHAR_BIT + 1);
	if (words && leaves && !rcore_read(codes->memory, code->encoded, words, code->bytes)) {
		for (size_t i = 0; i < count; i++)
			if (words[i] == words[count - 1])
				leaves[i / CHAR_BIT] |= (uint8_t)(1 << i % CHAR_BIT);
		code->leaves = leaves;
		leaves = NULL;
	}
	free(leaves);
	free(words);
}

/* Returns whether the instruction before `pc` is a `leave`. */
static RCORE_HOT bool has_left(const struct rcore_codes *codes, struct rcore_code *code,
			       uint64_t pc)
{
	uint64_t offset = pc - code->encoded;
	if (!code->has_line || pc < code->encoded || !offset || offset % sizeof(uint64_t) ||
	    offset > code->bytes)
		return false;
	if (!code->has_looked_for_leaves)
		find_leaves(codes, code);
	uint64_t i = offset / sizeof(uint64_t) - 1;
	return code->leaves && code->leaves[i / CHAR_BIT] >> i % CHAR_BIT & 1;
}

/*
 * Whether the flags at `at` may be those of an environment. The word two below
 * such flags is a method entry or cref: an object, nil or 0 (vm_push_frame() of
 * vm_insnhelper.c). What only looks like flags may be an Integer. nil is 8, and
 * 4 from 3.2 on.
 */
static bool is_entry(const struct rcore_stack *stack, uint64_t at)
{
	enum { BELOW = 2, NEW_NIL = 4 };
	uint64_t word;
	return rcore_stack_value(stack, at - BELOW * sizeof(word), &word) &&
	       (word % sizeof(word) == 0 || word == NEW_NIL);
}

/*
 * Whether another environment was begun between those of a frame's caller and
 * of the frame. All values there are live, and were written by the caller and
 * the frame, so that none is the flags of another frame.
 */
static bool has_newer(const struct rcore_stack *stack, uint64_t from, uint64_t ep)
{
	uint64_t word;
	for (uint64_t at = from + sizeof(word); at < ep; at += sizeof(word))
		if (rcore_stack_value(stack, at, &word) && rcore_is_frame_flags(word) &&
		    is_entry(stack, at))
			return true;
	return false;
}

/*
 * Whether the instruction that a caller runs calls another method than
 * `method`, which is in C. Up to 2.7, the operands of an instruction that calls
 * contain a struct rb_call_data (2.6: rb_call_cache), whose `me`
 * vm_search_method() sets before the call. It is one of the first words, which
 * have no other method entry. The frame of a method in Ruby is pushed by the
 * instruction, too. Other entries, such as that of Kernel#send, may call any
 * method.
 */
static bool calls_another(struct rcore_codes *codes, uint64_t pc, uint64_t method)
{
	enum { WORDS = 8, OPERANDS = 2 };
	uint64_t words[OPERANDS * WORDS] = {0}, operand;
	for (uint64_t i = 0; i < OPERANDS; i++)
		if (rcore_read_u64(codes->memory, pc - (i + 1) * sizeof(operand), &operand) ||
		    !operand || operand % sizeof(operand) ||
		    rcore_read(codes->memory, operand, words + i * WORDS,
			       WORDS * sizeof(*words)))
			memset(words + i * WORDS, 0, WORDS * sizeof(*words));
	for (size_t i = 0; i < RCORE_COUNT(words); i++)
		if (words[i] == method)
			return false;
	for (size_t i = 0; i < RCORE_COUNT(words); i++) {
		const struct rcore_method_entry *entry;
		struct rcore_error *err =
			words[i] && words[i] % sizeof(operand) == 0
				? rcore_method_entry(&codes->ruby, words[i], &entry)
				: rcore_error_create(RCORE_ERROR_CORRUPT, "no method entry");
		if (!err &&
		    (entry->type == RCORE_METHOD_CFUNC || entry->type == RCORE_METHOD_ISEQ))
			return true;
		rcore_error_free(err);
	}
	return false;
}

/* A frame that may not be filled, and its caller. */
struct pushed {
	const struct rcore_code *code;
	uint64_t self, ep, flags;
	uint64_t caller_pc, caller_sp;
	bool is_ruby; /* the caller */
};

/*
 * Whether a method has its environment where its caller puts it, if CRuby
 * itself, and not compiled code, pushed the frame.
 *
 *   - vm_call_iseq_setup_normal() leaves the caller's sp at the receiver;
 *     arguments, locals and environment follow.
 *   - vm_call_cfunc_with_frame() does so after it has pushed the frame. A frame
 *     that was popped is in its place, too, if the receiver of its call was
 *     where the arguments of this call end.
 *   - vm_call0_cfunc_with_frame(), which C code calls, leaves the caller's sp
 *     where the environment begins. (If an instruction such as checkmatch calls
 *     Module#===, this looks the same as a frame that is being pushed.)
 */
static bool is_in_place(struct rcore_codes *codes, const struct rcore_stack *stack,
			const struct pushed *pushed)
{
	/* Method entry, block, flags; ep points to the last. */
	enum { ENVIRONMENT = 3 };
	const uint64_t word = sizeof(uint64_t), sp = pushed->caller_sp;
	uint64_t magic = pushed->flags & RCORE_FRAME_MAGIC_MASK, receiver;
	bool is_first = !rcore_has(&codes->layout->cfp.jit_return);
	if (magic == RCORE_FRAME_MAGIC_METHOD && !(pushed->flags & RCORE_FRAME_FINISH))
		return !pushed->is_ruby ||
		       pushed->ep == sp + (pushed->code->locals + ENVIRONMENT) * word;
	if (magic != RCORE_FRAME_MAGIC_CFUNC || !is_first)
		return true;
	if (!pushed->caller_pc)
		return pushed->ep == sp + (ENVIRONMENT - 1) * word;
	return rcore_stack_value(stack, sp, &receiver) && receiver == pushed->self &&
	       pushed->ep >= sp + ENVIRONMENT * word &&
	       !calls_another(codes, pushed->caller_pc, pushed->code->key.method);
}

/*
 * Whether the innermost frame of a thread is the one that was pushed last. If
 * CRuby counts a frame in ec->cfp before it fills it
 * (traits.frames_pushed_first), and the kernel preempts the thread in between,
 * the innermost frame is one that was popped before, or has some words of it.
 * These things show it:
 *
 *   - Its pc. vm_push_frame() of 2.7 writes it first, and the iseq next. So if
 *     the pc is not within the code of the iseq, or a frame in C has a pc, the
 *     iseq is an old one. Compiled code writes no pc.
 *   - Its pc if it is not new. `leave` pops a frame, and saves the pc first. If
 *     a pc is that after a `leave`, the frame was popped or will be. (A frame
 *     that waits for the GVL does so within a `leave`, and is not tested.)
 *   - Its environment, if that is not of its iseq: look_up() fails.
 *   - The place of its environment, if it is a method.
 *   - Another environment below its own. Compiled code writes that of the new
 *     frame before ec->cfp. If it is higher, the new frame's arguments and the
 *     caller's values are where the environment of the old frame was.
 */
RCORE_HOT bool rcore_codes_is_filled(struct rcore_codes *codes, const struct rcore_stack *stack,
				     const struct rcore_code_frame *found)
{
	const struct rcore_layout *layout = codes->layout;
	size_t step = layout->cfp.size;
	const uint8_t *frame = rcore_stack_frame(stack, stack->cfp), *caller = frame + step;
	uint64_t iseq = rcore_code_frame_field(frame, layout, &layout->cfp.iseq);
	uint64_t pc = rcore_code_frame_field(frame, layout, &layout->cfp.pc), flags, word;
	uint64_t ep = rcore_code_frame_field(frame, layout, &layout->cfp.ep);
	if (!layout->traits.frames_pushed_first)
		return true;
	struct rcore_code *code = found->code;
	if (!code || (!iseq && pc))
		return false;
	bool is_first = !rcore_has(&layout->cfp.jit_return);
	if (is_first && code->has_line && (!pc || !rcore_code_is_within(code, pc)))
		return false;
	if (has_left(codes, code, pc))
		return false;
	if (stack->cfp + 2 * step >= stack->top || !rcore_stack_value(stack, ep, &flags))
		return true;
	const struct pushed pushed = {
		.code = code,
		.self = rcore_code_frame_field(frame, layout, &layout->cfp.self),
		.ep = ep,
		.flags = flags,
		.caller_pc = rcore_code_frame_field(caller, layout, &layout->cfp.pc),
		.caller_sp = rcore_code_frame_field(caller, layout, &layout->cfp.sp),
		.is_ruby = rcore_code_frame_field(caller, layout, &layout->cfp.iseq),
	};
	uint64_t outer = rcore_code_frame_field(caller, layout, &layout->cfp.ep);
	/* The caller's own environment may have been moved to the heap. */
	if (!rcore_stack_value(stack, outer, &word) || outer >= ep)
		outer = pushed.caller_sp;
	return !has_newer(stack, outer, ep) && is_in_place(codes, stack, &pushed);
}
