/* SPDX-License-Identifier: MIT */
#ifndef WEAVE_LOG_H
#define WEAVE_LOG_H

#include <stdint.h>

/*
 * A log of what is on each machine stack, in the order in which it was entered:
 * the truth that woven stacks are compared with. A function in C that begins
 * with ENTER() is in the log, with its name and the address of its frame, until
 * its scope ends. Ruby code calls Weave.note.
 */
struct weave_mark {
	int log, count;
};

typedef struct weave_mark weave_enter(const char *name, void *frame);
typedef void weave_leave(struct weave_mark *mark);

weave_enter enter_log;
weave_leave leave_log;

#define ENTER()                                                               \
	struct weave_mark mark_ __attribute__((cleanup(leave_log), unused)) = \
		enter_log(__func__, __builtin_frame_address(0))

#endif
