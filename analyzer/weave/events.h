/* SPDX-License-Identifier: MIT */
#ifndef RCORE_WEAVE_EVENTS_H
#define RCORE_WEAVE_EVENTS_H

#include <stdbool.h>

#include "model/snapshot.h"

/* The function that loads an extension. */
enum { RCORE_LOADER = 1 };

/* What both stacks contain: an entry of the interpreter, or a C function. */
struct rcore_event {
	/*
	 * Of a C method or block; 0: an entry of the interpreter; or
	 * RCORE_LOADER.
	 */
	uint64_t function;
	size_t index; /* of the frame, where the innermost is 0 */
};

/* The owner frees `items`. */
struct rcore_events {
	struct rcore_event *items;
	size_t count, capacity;
};

/*
 * An extension is loaded in a frame without instructions (rb_vm_call_cfunc() of
 * vm.c, or rb_vm_call_cfunc_in_box() from 4.0 on), whose label is the path.
 */
bool rcore_loads_extension(const struct rcore_frame *frame);

/*
 * Writes the events of the fiber's stacks into `ruby` and `native`, outermost
 * first, in place of what they had. `activation` is rb_vm_exec's start; 0:
 * unknown. Returns false if memory is short.
 */
bool rcore_list_events(const struct rcore_fiber *fiber, uint64_t activation,
		       struct rcore_events *ruby, struct rcore_events *native);

#endif
