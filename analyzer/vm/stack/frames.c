/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/stale_frame.h"
#include "ruby/get.h"
#include "ruby/iseq/label.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/find/frame_proof.h"
#include "vm/loader.h"
#include "vm/problem.h"

static uint64_t word_of(const void *copy, size_t size, const struct rcore_field *field)
{
	uint64_t value = 0;
	return rcore_has(field) && rcore_field_of(copy, size, field, &value) ? value : 0;
}

/*
 * Whether the pc may be out of date. Compiled code writes a frame's pc before
 * it calls anything. So only that of the innermost frame may be old: the pc of
 * its last call, or of another frame that was in this place before
 * (jit_save_pc() of YJIT, gen_save_pc_for_gc() of ZJIT). cfp->jit_return says
 * that compiled code runs the frame, or did before it left it to the
 * interpreter; in that case, rb_profile_frames() returns no line either. ZJIT
 * does not set it.
 */
static bool is_stale(const struct rcore_iseq_info *iseq, const struct rcore_frame *frame,
		     uint64_t jit_return)
{
	uint64_t bytes = frame->pc - iseq->encoded;
	return jit_return || frame->pc < iseq->encoded || bytes % sizeof(uint64_t) ||
	       bytes / sizeof(uint64_t) > iseq->size;
}

/* What may be unfinished in the innermost frame. */
struct moment {
	bool is_innermost, may_be_unfilled;
	uint64_t jit_return;
};

static struct rcore_error *decode_ruby(struct rcore_loader *loader, struct rcore_frame *frame,
				       const struct rcore_method_entry *method,
				       const struct moment *moment)
{
	const struct rcore_iseq_info *iseq;
	struct rcore_error *err = rcore_iseq(loader->ruby, frame->iseq, &iseq);
	if (err)
		return err;
	frame->path = iseq->path;
	frame->problem = iseq->problem;
	frame->under_construction = !frame->pc;
	frame->line = iseq->first_line;
	err = rcore_label(loader->ruby, iseq, method, &frame->label, &frame->problem);
	if (moment->is_innermost && frame->pc &&
	    rcore_has(&loader->ruby->layout->cfp.jit_return) &&
	    is_stale(iseq, frame, moment->jit_return))
		rcore_frame_set_stale(frame);
	else if (!err && frame->pc)
		err = rcore_iseq_line(loader->ruby, iseq, frame->pc, &frame->line);
	return err;
}

static struct rcore_error *decode_method(struct rcore_loader *loader, struct rcore_frame *frame,
					 const struct rcore_method_entry **ret)
{
	struct rcore_error *err =
		rcore_frame_method_entry(loader->ruby, frame->ep, &frame->method_entry);
	*ret = NULL;
	if (!err && frame->method_entry)
		err = rcore_method_entry(loader->ruby, frame->method_entry, ret);
	return err;
}

static enum rcore_frame_kind kind_of(const struct rcore_frame *frame)
{
	switch (frame->flags & RCORE_FRAME_MAGIC_MASK) {
	case RCORE_FRAME_MAGIC_CFUNC:
		return RCORE_FRAME_CFUNC;
	case RCORE_FRAME_MAGIC_IFUNC:
		return RCORE_FRAME_IFUNC;
	case RCORE_FRAME_MAGIC_DUMMY:
		return RCORE_FRAME_DUMMY;
	case RCORE_FRAME_MAGIC_METHOD:
	case RCORE_FRAME_MAGIC_BLOCK:
	case RCORE_FRAME_MAGIC_CLASS:
	case RCORE_FRAME_MAGIC_TOP:
	case RCORE_FRAME_MAGIC_EVAL:
	case RCORE_FRAME_MAGIC_RESCUE:
		return RCORE_FRAME_RUBY;
	default:
		return RCORE_FRAME_BROKEN;
	}
}

/* Decodes the label and place of a frame according to its kind. */
static struct rcore_error *decode_kind(struct rcore_loader *loader, struct rcore_frame *frame,
				       const struct rcore_method_entry *method,
				       const struct moment *moment)
{
	switch (frame->kind) {
	case RCORE_FRAME_RUBY:
		return decode_ruby(loader, frame, method, moment);
	case RCORE_FRAME_CFUNC:
		/* C code has neither: they are of an older frame here. */
		if (moment->may_be_unfilled && (frame->pc || frame->iseq))
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "C frame at 0x%" PRIx64 " with Ruby code",
						  frame->cfp);
		if (!method)
			return rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"C frame at 0x%" PRIx64 " without a method entry", frame->cfp);
		frame->cfunc = method->cfunc;
		return rcore_label(loader->ruby, NULL, method, &frame->label, &frame->problem);
	case RCORE_FRAME_DUMMY:
		/*
		 * With an iseq, it is the frame of a file that is being loaded
		 * or compiled.
		 */
		return frame->iseq ? decode_ruby(loader, frame, NULL, moment) : NULL;
	case RCORE_FRAME_IFUNC:
		return RCORE_GET(loader->ruby, frame->iseq, ifunc, func, &frame->cfunc);
	default:
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "frame at 0x%" PRIx64 ": unknown kind 0x%" PRIx32,
					  frame->cfp, frame->flags);
	}
}

static void decode(struct rcore_loader *loader, const struct rcore_fiber *fiber,
		   struct rcore_frame *frame, const char *copy, size_t size,
		   struct moment *moment, uint64_t *limit)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	const struct rcore_method_entry *method = NULL;
	uint64_t flags = 0;

	frame->pc = word_of(copy, size, &layout->cfp.pc);
	frame->iseq = word_of(copy, size, &layout->cfp.iseq);
	frame->self = word_of(copy, size, &layout->cfp.self);
	uint64_t ep = frame->ep = word_of(copy, size, &layout->cfp.ep);
	moment->jit_return = word_of(copy, size, &layout->cfp.jit_return);
	struct rcore_error *err = rcore_frame_flags(loader->ruby, &frame->ep, &flags);
	frame->flags = (uint32_t)flags;
	frame->kind = err || flags > UINT32_MAX ? RCORE_FRAME_BROKEN : kind_of(frame);

	struct rcore_error *method_err = NULL;
	if (!err && frame->kind != RCORE_FRAME_DUMMY && frame->kind != RCORE_FRAME_IFUNC)
		method_err = decode_method(loader, frame, &method);
	if (!err)
		err = decode_kind(loader, frame, method, moment);
	if (err)
		frame->kind = RCORE_FRAME_BROKEN;
	else if (!method_err && !frame->problem)
		err = rcore_frame_prove(loader->ruby, fiber, frame, ep, method, limit);
	if (err && method_err) {
		/* If memory is short, there seems to be no method entry. */
		bool is_short = method_err->code == RCORE_ERROR_NO_MEMORY;
		rcore_error_free(is_short ? err : method_err);
		err = is_short ? method_err : err;
		method_err = NULL;
	}
	if (moment->may_be_unfilled && (err || method_err || frame->problem)) {
		rcore_error_free(err ? err : method_err);
		*frame = (struct rcore_frame){.cfp = frame->cfp,
					      .kind = RCORE_FRAME_BROKEN,
					      .under_construction = true};
		return;
	}
	if (err || method_err)
		frame->problem = rcore_problem(loader->snapshot, err ? err : method_err);
	else if (frame->problem)
		loader->snapshot->incomplete = true;
}

/*
 * Whether the thread of a fiber has ended, or may have ended. A thread that is
 * no longer in a list of threads has ended. CRuby sets the status of a thread
 * to killed before it frees the VM stack (thread_start_func_2(); after a fork,
 * thread_cleanup_func_before_exec()).
 */
static bool thread_may_have_ended(const struct rcore_loader *loader,
				  const struct rcore_fiber *fiber)
{
	uint64_t address;
	if (rcore_read_field(loader->ruby->memory, fiber->ec,
			     &loader->ruby->layout->ec.thread_ptr, &address))
		return true;
	int thread = rcore_address_map_get(&loader->thread_at, address);
	return thread < 0 || loader->threads.items[thread].status == RCORE_THREAD_KILLED;
}

/*
 * Whether the VM stack has no frame yet, or has none any more. A new fiber's EC
 * is for a moment a copy of its creator's (cont_init()), and the fiber gets its
 * own stack when it first runs (fiber_prepare_stack()). rb_ec_set_vm_stack()
 * and rb_ec_clear_vm_stack() change the bounds before the cfp, and 2.6 keeps
 * the cfp of a fiber that has ended. CRuby pushes the first frame, a dummy,
 * onto a stack that ends at cfp (rb_ec_initialize_vm_stack()). A root fiber
 * runs on its thread's machine stack, so it never has one of its own. Its EC
 * begins without a cfp (th_init()), so one that has a cfp but no VM stack has
 * ended, with its thread.
 */
static bool is_empty(const struct rcore_loader *loader, const struct rcore_fiber *fiber,
		     uint64_t cfp, uint64_t end)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	if (fiber->status == RCORE_FIBER_CREATED && !fiber->is_current && !fiber->is_root &&
	    rcore_has(&layout->fiber.stack_base) && !fiber->machine_stack)
		return true;
	bool begins_or_ends = fiber->status == RCORE_FIBER_CREATED ||
			      fiber->status == RCORE_FIBER_TERMINATED || fiber->is_root;
	if (!fiber->vm_stack && cfp && fiber->is_root)
		return thread_may_have_ended(loader, fiber);
	if (!fiber->vm_stack || !cfp)
		return begins_or_ends || (!fiber->vm_stack && !cfp);
	return begins_or_ends && cfp == end;
}

/*
 * Finds the frames: from cfp to the end of the VM stack, contiguous and a whole
 * number of them.
 */
static struct rcore_error *frame_range(struct rcore_loader *loader, struct rcore_fiber *fiber,
				       uint64_t *ret_cfp, uint64_t *ret_end)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t cfp;
	enum rcore_fault fault =
		rcore_read_field(loader->ruby->memory, fiber->ec, &layout->ec.cfp, &cfp);
	if (fault)
		return rcore_fault_error(fault, "ec.cfp", fiber->ec, sizeof(cfp));
	uint64_t end = fiber->vm_stack + fiber->vm_stack_size;
	if (is_empty(loader, fiber, cfp, end)) {
		*ret_cfp = *ret_end = 0;
		return NULL;
	}
	if (end < fiber->vm_stack || cfp < fiber->vm_stack || cfp >= end ||
	    (end - cfp) % layout->cfp.size || fiber->vm_stack % sizeof(uint64_t))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "cfp 0x%" PRIx64
					  " is not a frame of the VM stack 0x%" PRIx64
					  "-0x%" PRIx64,
					  cfp, fiber->vm_stack, end);
	*ret_cfp = cfp;
	*ret_end = end;
	return NULL;
}

/*
 * Whether the innermost frame of a fiber may be incomplete because it is just
 * being pushed. A thread in a system call has completed all its frames, so a
 * fault in one is an error.
 */
static bool may_be_unfilled(const struct rcore_loader *loader, const struct rcore_fiber *fiber)
{
	struct rcore_syscall call;
	uint64_t thread;
	const struct rcore_layout *layout = loader->ruby->layout;
	if (!fiber->is_current || !layout->traits.frames_pushed_first)
		return false;
	return rcore_read_field(loader->ruby->memory, fiber->ec, &layout->ec.thread_ptr,
				&thread) ||
	       !rcore_thread_syscall(loader, rcore_address_map_get(&loader->thread_at, thread),
				     &call);
}

/* A walk over the control frames of a fiber, innermost first. */
struct walk {
	struct rcore_loader *loader;
	struct rcore_fiber *fiber;
	uint64_t cfp;   /* of the innermost frame */
	uint64_t limit; /* as in rcore_frame_prove() */
	size_t broken;  /* how many frames in a row could not be decoded */
	struct {
		struct rcore_frame *items;
		size_t count, capacity;
	} frames;
};

static struct rcore_error *load_frame(struct walk *walk, const char *copy, size_t size)
{
	bool is_innermost = !walk->frames.count;
	uint64_t cfp = walk->cfp + walk->frames.count * size;
	struct rcore_frame *frame = rcore_push(&walk->frames);
	if (!frame)
		return rcore_error_no_memory();
	struct moment moment = {
		.is_innermost = is_innermost,
		.may_be_unfilled = is_innermost && may_be_unfilled(walk->loader, walk->fiber),
	};
	frame->cfp = cfp;
	decode(walk->loader, walk->fiber, frame, copy, size, &moment, &walk->limit);
	walk->broken = frame->kind == RCORE_FRAME_BROKEN ? walk->broken + 1 : 0;
	return NULL;
}

/*
 * Reads the frames in chunks into `copy`, and allocates memory only for those
 * that could be read.
 */
static struct rcore_error *load_chunks(struct walk *walk, size_t count, char *copy,
				       size_t chunk)
{
	enum { BROKEN_LIMIT = 4096 };
	struct rcore_fiber *fiber = walk->fiber;
	size_t step = walk->loader->ruby->layout->cfp.size;
	struct rcore_error *err = NULL;
	/*
	 * After BROKEN_LIMIT broken frames this is not a stack, whatever its
	 * size field says.
	 */
	while (!err && walk->frames.count < count && walk->broken < BROKEN_LIMIT) {
		size_t left = count - walk->frames.count, now = left < chunk ? left : chunk;
		uint64_t at = walk->cfp + walk->frames.count * step;
		enum rcore_fault fault =
			rcore_read_large(walk->loader->ruby->memory, at, copy, now * step);
		if (fault) {
			fiber->problem = rcore_problem(
				walk->loader->snapshot,
				rcore_fault_error(fault, "control frames", at, now * step));
			return NULL;
		}
		for (size_t i = 0; i < now && !err; i++)
			err = load_frame(walk, copy + i * step, step);
	}
	fiber->frames_truncated |= walk->broken >= BROKEN_LIMIT;
	return err;
}

/* Copies the frames to the snapshot's arena. */
static struct rcore_error *keep(const struct walk *walk)
{
	size_t size = walk->frames.count * sizeof(*walk->frames.items);
	if (!size)
		return NULL;
	walk->fiber->frames = rcore_arena_alloc(&walk->loader->snapshot->arena, size);
	if (!walk->fiber->frames)
		return rcore_error_no_memory();
	memcpy(walk->fiber->frames, walk->frames.items, size);
	walk->fiber->frame_count = walk->frames.count;
	return NULL;
}

static struct rcore_error *load_range(struct rcore_loader *loader, struct rcore_fiber *fiber,
				      uint64_t cfp, size_t count)
{
	enum { CHUNK = 512 };
	struct walk walk = {.loader = loader, .fiber = fiber, .cfp = cfp, .limit = cfp};
	char *copy = malloc(CHUNK * loader->ruby->layout->cfp.size);
	struct rcore_error *err =
		copy ? load_chunks(&walk, count, copy, CHUNK) : rcore_error_no_memory();
	if (!err)
		err = keep(&walk);
	free(walk.frames.items);
	free(copy);
	return err;
}

struct rcore_error *rcore_load_frames(struct rcore_loader *loader, struct rcore_fiber *fiber)
{
	size_t step = loader->ruby->layout->cfp.size;
	uint64_t cfp = 0, end = 0;

	if (fiber->status == RCORE_FIBER_STATUS_UNKNOWN)
		return NULL;
	struct rcore_error *err = frame_range(loader, fiber, &cfp, &end);
	if (err) {
		fiber->problem = rcore_problem(loader->snapshot, err);
		return NULL;
	}
	size_t count = (end - cfp) / step;
	/*
	 * The outermost frame is a dummy without code. If it is the only one,
	 * it may be just being pushed, or the stack may have been returned to
	 * the pool.
	 */
	if (count > 1 && !rcore_frame_is_bottom(loader->ruby, end - step))
		fiber->problem =
			rcore_problem(loader->snapshot,
				      rcore_error_create(RCORE_ERROR_CORRUPT,
							 "the VM stack 0x%" PRIx64 "-0x%" PRIx64
							 " does not begin with a dummy frame",
							 fiber->vm_stack, end));
	if (count)
		count--;
	if (count > RCORE_FRAME_LIMIT) {
		count = RCORE_FRAME_LIMIT;
		fiber->frames_truncated = true;
		loader->snapshot->incomplete = true;
	}
	err = load_range(loader, fiber, cfp, count);
	if (!err)
		rcore_native_backtrace(loader, fiber);
	return err;
}
