/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_STALE_FRAME_H
#define RCORE_MODEL_STALE_FRAME_H

#include "model/snapshot.h"

/*
 * Notes that compiled code had not saved the pc of a frame: its line is
 * unknown. A method of Ruby's core (<internal:...>) keeps its caller's line,
 * which Ruby prints for it.
 */
static inline void rcore_frame_set_stale(struct rcore_frame *frame)
{
	frame->pc_stale = true;
	frame->line = 0;
	if (frame->native_path == frame->path)
		frame->native_line = 0;
}

#endif
