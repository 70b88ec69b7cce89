/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "sampler/native/native_private.h"

#include "base/hot.h"

/*
 * Whether a frame belongs to the interpreter's loop: rb_vm_exec, or the
 * function that it calls, which contains the addresses of instructions. Code
 * that was inlined there belongs to the loop.
 */
static bool is_loop(const struct rcore_native *native, const struct rcore_fiber *fiber,
		    size_t index)
{
	while (index + 1 < fiber->native_count && fiber->native[index].is_inlined)
		index++;
	const struct rcore_native_frame *frame = &fiber->native[index];
	uint64_t start = frame->function_start;
	if (!start || !frame->is_interpreter)
		return false;
	return start == native->core || start == native->activation.address ||
	       (native->activation.address && frame->part_of == native->activation.address);
}

/*
 * Names code that is in no file. A JIT maps its memory before it compiles
 * anything; an address that is not mapped is not that of code.
 */
static const char *label_without_file(const struct rcore_native *native, uint64_t pc)
{
	return rcore_live_is_mapped(native->session->target.live, pc) ? "[JIT code]"
								      : "[no file]";
}

static uint32_t frame_of(const struct rcore_sampler *sampler,
			 const struct rcore_native_frame *frame)
{
	struct rcore_profile *profile = sampler->profile;
	char name[128];
	const char *label = frame->function;
	uint64_t address = frame->is_inlined || !frame->module_offset
				   ? 0
				   : frame->module_offset - frame->function_offset;
	if (frame->is_signal) {
		label = "<signal handler called>";
	} else if (!label && frame->module) {
		snprintf(name, sizeof(name), "%s+0x%llx", frame->module,
			 (unsigned long long)address);
		label = name;
	} else if (!label) {
		label = label_without_file(sampler->native, frame->pc);
	}
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NATIVE,
		.label = rcore_profile_string(profile, label),
		.path = rcore_profile_string(profile,
					     frame->file ? frame->file : frame->module),
		.address = address,
	};
	return rcore_profile_frame(profile, rcore_profile_function(profile, &function),
				   frame->line > 0 ? (uint32_t)frame->line : 0);
}

static uint32_t gap_frame(struct rcore_profile *profile)
{
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NOTE,
		.label =
			rcore_profile_string(profile, "(native and Ruby frames do not match)")};
	return rcore_profile_frame(profile, rcore_profile_function(profile, &function), 0);
}

/*
 * Finds the steps of the innermost and the outermost Ruby frame; step_count if
 * there is none.
 */
static void bounds_of(const struct rcore_fiber *fiber, size_t *ret_innermost,
		      size_t *ret_outermost)
{
	*ret_innermost = *ret_outermost = fiber->step_count;
	for (size_t i = fiber->step_count; i-- > 0;) {
		if (fiber->steps[i].kind != RCORE_STEP_RUBY)
			continue;
		*ret_innermost = i;
		if (*ret_outermost == fiber->step_count)
			*ret_outermost = i;
	}
}

uint32_t rcore_native_woven_node(struct rcore_sampler *sampler, const struct rcore_track *track,
				 const struct rcore_fiber *fiber, bool in_gc)
{
	struct rcore_profile *profile = sampler->profile;
	uint32_t node = fiber->frame_count ? 0 : rcore_sampler_no_stack(sampler);
	size_t innermost, outermost;
	bounds_of(fiber, &innermost, &outermost);
	for (size_t i = outermost < fiber->step_count ? outermost + 1 : fiber->step_count;
	     i-- > 0;) {
		const struct rcore_step *step = &fiber->steps[i];
		uint32_t frame = 0;
		if (i + 1 == innermost && in_gc)
			node = rcore_sampler_gc_node(sampler, node);
		if (step->kind == RCORE_STEP_RUBY) {
			frame = track->known[track->count - 1 - (size_t)step->index].code.frame;
		} else if (step->kind == RCORE_STEP_GAP) {
			frame = gap_frame(profile);
			sampler->statistics.gaps++;
		} else {
			const struct rcore_native_frame *found = &fiber->native[step->index];
			/*
			 * How the interpreter calls itself is of no interest.
			 */
			bool is_shown = !found->is_interpreter ||
					(i < innermost &&
					 !is_loop(sampler->native, fiber, (size_t)step->index));
			frame = is_shown ? frame_of(sampler, found) : 0;
		}
		if (frame)
			node = rcore_profile_node(profile, node, frame);
	}
	if (in_gc && !innermost)
		node = rcore_sampler_gc_node(sampler, node);
	return node;
}

RCORE_HOT uint32_t rcore_native_node(struct rcore_sampler *sampler, size_t index, bool in_gc)
{
	struct rcore_native *native = sampler->native;
	const struct rcore_track *track = &sampler->threads.items[index]->track;
	const struct rcore_fiber *fiber =
		native && native->snapshot ? &native->snapshot->fibers[index] : NULL;
	if (fiber && fiber->step_count)
		return rcore_native_woven_node(sampler, track, fiber, in_gc);
	return in_gc ? rcore_sampler_gc_node(sampler, track->node) : track->node;
}
