/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/iseq/frame_flags.h"
#include "ruby/iseq/method.h"

/*
 * An environment has the locals of a frame. It is on the VM stack or, once a
 * Proc or a Binding refers to it, in the heap.
 *
 *   ... locals
 *   ep[-2]  method entry, cref or svar
 *   ep[-1]  the block, or the outer ep
 *   ep[0]   flags
 */
enum {
	ENV_LIMIT = 10000, /* nested environments */
};

enum slot { SLOT_ME_CREF, SLOT_OUTER, SLOT_FLAGS, SLOT_COUNT };

static struct rcore_error *read_env(struct rcore_ruby *ruby, uint64_t ep,
				    uint64_t slots[SLOT_COUNT])
{
	enum { SIZE = SLOT_COUNT * sizeof(*slots) };
	uint64_t address = ep - SLOT_FLAGS * sizeof(*slots);
	if (!ep || ep % 8)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "0x%" PRIx64 " is not an environment", ep);
	enum rcore_fault fault = rcore_read(ruby->memory, address, slots, SIZE);
	return fault == RCORE_FAULT_NONE
		       ? NULL
		       : rcore_fault_error(fault, "environment", address, SIZE);
}

/*
 * While CRuby moves an environment to the heap (vm_make_env_each), the flags of
 * the one on the stack are already the new rb_env_t, and the environments
 * inside it still point to the old one.
 */
static struct rcore_error *follow_escape(struct rcore_ruby *ruby, uint64_t env, uint64_t *ep)
{
	uint64_t flags;
	struct rcore_error *err = rcore_flags(ruby, env, &flags);
	if (!err && rcore_imemo_type(flags) != (int)ruby->layout->traits.imemo_env)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "no environment at 0x%" PRIx64,
					 *ep);
	return err ? err : RCORE_GET(ruby, env, env, ep, ep);
}

/* check_method_entry of vm_insnhelper.c; *ret is 0 if it is not one. */
static struct rcore_error *check_method_entry(struct rcore_ruby *ruby, uint64_t value,
					      bool can_be_svar, uint64_t *ret)
{
	const struct rcore_traits *traits = &ruby->layout->traits;
	*ret = 0;
	for (;;) {
		uint64_t flags;
		if (!value)
			return NULL;
		if (rcore_cache_get(&ruby->methods, value, 0)) {
			*ret = value;
			return NULL;
		}
		struct rcore_error *err = rcore_flags(ruby, value, &flags);
		if (err)
			return err;
		int type = rcore_imemo_type(flags);
		if (type < 0)
			return rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"0x%" PRIx64 " in an environment is not a method entry", value);
		if (type == (int)traits->imemo_ment)
			*ret = value;
		if (type != (int)traits->imemo_svar || !can_be_svar)
			return NULL;
		can_be_svar = false;
		err = RCORE_GET(ruby, value, svar, cref_or_me, &value);
		if (err)
			return err;
	}
}

/*
 * Only code outside methods, and blocks in C (cfunc_proc_new() of proc.c), have
 * a local environment without a method entry. From 3.3 on, env_copy() of vm.c
 * marks its copy of a block's environment as local, too, until it has copied
 * the outer one. No Proc, and so no frame, refers to the copy before that.
 */
static struct rcore_error *prove_none(uint64_t ep, uint64_t flags)
{
	switch (flags & RCORE_FRAME_MAGIC_MASK) {
	case RCORE_FRAME_MAGIC_TOP:
	case RCORE_FRAME_MAGIC_CLASS:
	case RCORE_FRAME_MAGIC_IFUNC:
	case RCORE_FRAME_MAGIC_DUMMY:
		return NULL;
	case RCORE_FRAME_MAGIC_METHOD:
	case RCORE_FRAME_MAGIC_CFUNC:
		return rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"environment 0x%" PRIx64 " of a method has no method entry", ep);
	default:
		return rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"environment 0x%" PRIx64 ": its flags do not fit its kind", ep);
	}
}

struct rcore_error *rcore_frame_method_entry(struct rcore_ruby *ruby, uint64_t ep,
					     uint64_t *ret)
{
	for (int steps = 0; steps < ENV_LIMIT; steps++) {
		uint64_t slots[SLOT_COUNT], found;
		struct rcore_error *err = read_env(ruby, ep, slots);
		if (err)
			return err;
		if (!(slots[SLOT_FLAGS] & RCORE_ENV_IS_FLAGS)) {
			err = follow_escape(ruby, slots[SLOT_FLAGS], &ep);
			if (err)
				return err;
			continue;
		}
		if (!rcore_is_frame_flags(slots[SLOT_FLAGS]))
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "no flags at 0x%" PRIx64 ", but 0x%" PRIx64,
						  ep, slots[SLOT_FLAGS]);
		bool is_local = slots[SLOT_FLAGS] & RCORE_ENV_LOCAL;
		err = check_method_entry(ruby, slots[SLOT_ME_CREF], is_local, &found);
		if (err)
			return err;
		if (found || is_local) {
			*ret = found;
			return found ? NULL : prove_none(ep, slots[SLOT_FLAGS]);
		}
		ep = slots[SLOT_OUTER] & ~(uint64_t)RCORE_ENV_OUTER_TAG;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT,
				  "more than %d environments, or a cycle of them", ENV_LIMIT);
}
