/* SPDX-License-Identifier: MIT */
#include "types.h"

struct rb_jit_cont {
	rb_execution_context_t *ec;
	struct rb_jit_cont *prev, *next;
};

struct rb_jit_cont cont;
