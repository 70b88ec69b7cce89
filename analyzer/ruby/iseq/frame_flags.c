/* SPDX-License-Identifier: MIT */
#include "ruby/iseq/frame_flags.h"

#include <inttypes.h>

bool rcore_is_frame_flags(uint64_t word)
{
	enum { FLAGS_MASK = RCORE_FRAME_MAGIC_MASK | 0x1ffe };
	switch (word & RCORE_FRAME_MAGIC_MASK) {
	case RCORE_FRAME_MAGIC_METHOD:
	case RCORE_FRAME_MAGIC_BLOCK:
	case RCORE_FRAME_MAGIC_CLASS:
	case RCORE_FRAME_MAGIC_TOP:
	case RCORE_FRAME_MAGIC_CFUNC:
	case RCORE_FRAME_MAGIC_IFUNC:
	case RCORE_FRAME_MAGIC_EVAL:
	case RCORE_FRAME_MAGIC_RESCUE:
	case RCORE_FRAME_MAGIC_DUMMY:
		return !(word & ~(uint64_t)FLAGS_MASK);
	default:
		return false;
	}
}

struct rcore_error *rcore_frame_flags(struct rcore_ruby *ruby, uint64_t *ep, uint64_t *ret)
{
	uint64_t flags, moved;
	enum rcore_fault fault = rcore_read_u64(ruby->memory, *ep, &flags);
	if (fault)
		return rcore_fault_error(fault, "environment", *ep, sizeof(flags));
	if (!(flags & RCORE_ENV_IS_FLAGS) &&
	    !rcore_read_field(ruby->memory, flags, &ruby->layout->env.ep, &moved) &&
	    !rcore_read_u64(ruby->memory, moved, &flags))
		*ep = moved;
	if (!(flags & RCORE_ENV_IS_FLAGS))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "environment at 0x%" PRIx64 " has no frame flags",
					  *ep);
	*ret = flags;
	return NULL;
}
