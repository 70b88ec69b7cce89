/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_FRAME_FLAGS_H
#define RCORE_RUBY_FRAME_FLAGS_H

#include "ruby/object/value.h"

/*
 * The word at ep[0] of a control frame: an Integer (tagged by bit 0) that
 * combines a magic, which says what pushed the frame, with flags. The values
 * are an enum in vm_core.h (VM_FRAME_MAGIC_METHOD ...), the same from 2.6 to
 * 4.0.
 */
enum {
	RCORE_FRAME_MAGIC_MASK = 0x7fff0001,
	RCORE_FRAME_MAGIC_METHOD = 0x11110001,
	RCORE_FRAME_MAGIC_BLOCK = 0x22220001,
	RCORE_FRAME_MAGIC_CLASS = 0x33330001,
	RCORE_FRAME_MAGIC_TOP = 0x44440001,
	RCORE_FRAME_MAGIC_CFUNC = 0x55550001,
	RCORE_FRAME_MAGIC_IFUNC = 0x66660001,
	RCORE_FRAME_MAGIC_EVAL = 0x77770001,
	RCORE_FRAME_MAGIC_RESCUE = 0x78880001,
	RCORE_FRAME_MAGIC_DUMMY = 0x79990001,

	RCORE_ENV_LOCAL = 0x2,
	RCORE_ENV_ESCAPED = 0x4,   /* moved to the heap */
	RCORE_ENV_ISOLATED = 0x10, /* from 3.0 on: of a shareable Proc */
	RCORE_FRAME_FINISH = 0x20, /* C entered vm_exec() to run it */
	RCORE_FRAME_BMETHOD = 0x40,
	RCORE_FRAME_CFRAME = 0x80,
	RCORE_FRAME_LAMBDA = 0x100,
	/* its &block parameter was made a Proc */
	RCORE_FRAME_MODIFIED_BLOCK_PARAM = 0x200,

	/* Tags flags. Not set while an environment is moved: see below. */
	RCORE_ENV_IS_FLAGS = 0x1,
	/* Of ep[-1]: GC_GUARDED_PTR_REF of vm_core.h clears these. */
	RCORE_ENV_OUTER_TAG = 0x3,
};

/*
 * Returns whether a word may be the flags of a frame: it has one of the magics,
 * and no bit that none of the flags up to 4.0 has.
 */
bool rcore_is_frame_flags(uint64_t word);

/*
 * Reads the flags at *ep, the word ep[0] of an environment. While
 * vm_make_env_each() (vm.c) moves an environment to the heap, that word is the
 * new rb_env_t for a moment. Then reads the flags at the new environment's ep,
 * and sets *ep to that. Errors: FAULT; CORRUPT if the word contains no flags.
 */
struct rcore_error *rcore_frame_flags(struct rcore_ruby *ruby, uint64_t *ep, uint64_t *ret);

#endif
