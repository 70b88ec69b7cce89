/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FRAME_FLAGS_H
#define RCORE_VM_FRAME_FLAGS_H

#include "ruby/ruby.h"

/*
 * The word at ep[0] of a control frame: an Integer (tagged with bit 0) of a magic that
 * says what pushed the frame, and flags. enum in vm_core.h (VM_FRAME_MAGIC_METHOD ...), the same from
 * 2.6 to 4.0.
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
	RCORE_ENV_ISOLATED = 0x10, /* 3.0 on: of a shareable Proc */
	RCORE_FRAME_FINISH = 0x20, /* vm_exec was entered from C for it */
	RCORE_FRAME_BMETHOD = 0x40,
	RCORE_FRAME_CFRAME = 0x80,
	RCORE_FRAME_LAMBDA = 0x100,
	RCORE_FRAME_MODIFIED_BLOCK_PARAM = 0x200, /* the Proc of &block was made */
};

/*
 * Reads the flags of the environment at *ep, its ep[0]. While vm_make_env_each (vm.c) moves an
 * environment to the heap, that word holds the new rb_env_t for a moment: the flags are then where its
 * ep leads, and *ep is set to that. Errors: FAULT; CORRUPT if there are no flags.
 */
struct rcore_error *rcore_frame_flags(struct rcore_ruby *ruby, uint64_t *ep, uint64_t *ret);

#endif
