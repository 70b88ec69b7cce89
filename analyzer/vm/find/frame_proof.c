/* SPDX-License-Identifier: MIT */
#include "vm/find/frame_proof.h"

#include <inttypes.h>

#include "base/count.h"
#include "ruby/iseq/iseq.h"
#include "ruby/heap/moved.h"
#include "ruby/iseq/frame_flags.h"

enum {
	METHOD = 1 << RCORE_ISEQ_METHOD,
	/* PLAIN is the type of code that runs once, such as a Regexp's /o */
	BLOCK = 1 << RCORE_ISEQ_BLOCK | 1 << RCORE_ISEQ_PLAIN,
	CLASS = 1 << RCORE_ISEQ_CLASS,
	TOP = 1 << RCORE_ISEQ_TOP,
	EVAL = 1 << RCORE_ISEQ_EVAL | 1 << RCORE_ISEQ_MAIN,
	RESCUE = 1 << RCORE_ISEQ_RESCUE | 1 << RCORE_ISEQ_ENSURE,
};

static const struct shape {
	uint32_t magic, flags;
	unsigned iseq_types; /* one bit for each; 0: any type, or no iseq */
} shapes[] = {
	{RCORE_FRAME_MAGIC_METHOD, RCORE_ENV_LOCAL, METHOD},
	{RCORE_FRAME_MAGIC_BLOCK, 0, BLOCK},
	{RCORE_FRAME_MAGIC_CLASS, RCORE_ENV_LOCAL, CLASS},
	{RCORE_FRAME_MAGIC_TOP, RCORE_ENV_LOCAL, TOP},
	{RCORE_FRAME_MAGIC_CFUNC, RCORE_ENV_LOCAL | RCORE_FRAME_CFRAME, 0},
	{RCORE_FRAME_MAGIC_IFUNC, RCORE_FRAME_CFRAME, 0},
	{RCORE_FRAME_MAGIC_EVAL, 0, EVAL},
	{RCORE_FRAME_MAGIC_RESCUE, 0, RESCUE},
	{RCORE_FRAME_MAGIC_DUMMY, RCORE_ENV_LOCAL, 0},
};

static struct rcore_error *misfit(const struct rcore_frame *frame, const char *what)
{
	return rcore_error_create(RCORE_ERROR_CORRUPT, "frame at 0x%" PRIx64 ": %s", frame->cfp,
				  what);
}

static struct rcore_error *prove_method(struct rcore_ruby *ruby,
					const struct rcore_frame *frame,
					const struct rcore_iseq_info *local,
					const struct rcore_method_entry *method)
{
	uint32_t magic = frame->flags & RCORE_FRAME_MAGIC_MASK;
	if (magic == RCORE_FRAME_MAGIC_METHOD && !method)
		return misfit(frame, "a method's frame has no method entry");
	if (!method)
		return NULL;
	if (local && method->type == RCORE_METHOD_CFUNC)
		return misfit(frame, "its method is a C function");
	if (!local && method->type == RCORE_METHOD_ISEQ && magic == RCORE_FRAME_MAGIC_CFUNC)
		return misfit(frame, "a C function's frame has the entry of a Ruby method");
	if (local && method->type == RCORE_METHOD_ISEQ &&
	    !rcore_is_same_object(ruby, local->address, method->iseq))
		return misfit(frame, "its iseq is not its method's");
	return NULL;
}

static struct rcore_error *prove_iseq(struct rcore_ruby *ruby, const struct shape *shape,
				      const struct rcore_frame *frame,
				      const struct rcore_method_entry *method)
{
	const struct rcore_iseq_info *iseq, *local;
	if (!shape->iseq_types)
		return prove_method(ruby, frame, NULL, method);
	struct rcore_error *err = rcore_iseq(ruby, frame->iseq, &iseq);
	if (err)
		return err;
	if (!(shape->iseq_types & 1u << iseq->type))
		return misfit(frame, "its iseq has another type than the frame");
	err = rcore_iseq(ruby, iseq->local, &local);
	return err ? err : prove_method(ruby, frame, local, method);
}

/*
 * The rb_env_t of an escaped environment is at ep[1] (VM_ENV_DATA_INDEX_ENV).
 */
static struct rcore_error *prove_escaped(struct rcore_ruby *ruby,
					 const struct rcore_frame *frame)
{
	uint64_t env, flags, back;
	struct rcore_error *err = NULL;
	enum rcore_fault fault =
		rcore_read_u64(ruby->memory, frame->ep + sizeof(uint64_t), &env);
	if (fault)
		return rcore_fault_error(fault, "environment", frame->ep, 2 * sizeof(uint64_t));
	err = rcore_flags(ruby, env, &flags);
	if (err)
		return rcore_error_wrap(err, "frame at 0x%" PRIx64 ": its environment",
					frame->cfp);
	if (rcore_imemo_type(flags) != (int)ruby->layout->traits.imemo_env ||
	    rcore_read_field(ruby->memory, env, &ruby->layout->env.ep, &back) ||
	    back != frame->ep)
		return misfit(frame, "its environment in the heap does not point back");
	return NULL;
}

static bool on_stack(const struct rcore_fiber *fiber, uint64_t ep)
{
	return ep - fiber->vm_stack < fiber->vm_stack_size;
}

/*
 * vm_make_env_each() first moves cfp->ep to the heap, then marks the
 * environment there as escaped. The rb_env_t is complete by then.
 */
static bool is_escaping(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
			const struct rcore_frame *frame)
{
	if (!fiber->is_current || on_stack(fiber, frame->ep))
		return false;
	struct rcore_error *err = prove_escaped(ruby, frame);
	rcore_error_free(err);
	return !err;
}

static struct rcore_error *prove_env(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
				     const struct rcore_frame *frame, uint64_t limit)
{
	if (frame->flags & RCORE_ENV_ESCAPED)
		return on_stack(fiber, frame->ep)
			       ? misfit(frame, "its escaped environment is on the VM stack")
			       : prove_escaped(ruby, frame);
	if (is_escaping(ruby, fiber, frame))
		return NULL;
	if (!on_stack(fiber, frame->ep) || frame->ep >= limit)
		return misfit(frame,
			      "its environment is not where it should be on the VM stack");
	return NULL;
}

struct rcore_error *rcore_frame_prove_code(struct rcore_ruby *ruby,
					   const struct rcore_frame *frame,
					   const struct rcore_method_entry *method)
{
	enum { DECIDED = RCORE_ENV_LOCAL | RCORE_FRAME_CFRAME };
	for (size_t i = 0; i < RCORE_COUNT(shapes); i++) {
		const struct shape *shape = &shapes[i];
		if ((frame->flags & RCORE_FRAME_MAGIC_MASK) != shape->magic)
			continue;
		if ((frame->flags & DECIDED) != shape->flags)
			return misfit(frame, "its flags do not fit its kind");
		return prove_iseq(ruby, shape, frame, method);
	}
	return misfit(frame, "its kind is unknown");
}

struct rcore_error *rcore_frame_prove(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
				      const struct rcore_frame *frame, uint64_t stored_ep,
				      const struct rcore_method_entry *method, uint64_t *limit)
{
	struct rcore_error *err = rcore_frame_prove_code(ruby, frame, method);
	/* An environment that is being moved to the heap is in neither. */
	if (!err && frame->ep == stored_ep)
		err = prove_env(ruby, fiber, frame, *limit);
	if (!err && on_stack(fiber, stored_ep))
		*limit = stored_ep;
	return err;
}

bool rcore_frame_is_bottom(struct rcore_ruby *ruby, uint64_t cfp)
{
	uint64_t ep, flags;
	return !rcore_read_field(ruby->memory, cfp, &ruby->layout->cfp.ep, &ep) &&
	       !rcore_read_u64(ruby->memory, ep, &flags) &&
	       (flags & RCORE_FRAME_MAGIC_MASK) == RCORE_FRAME_MAGIC_DUMMY;
}
