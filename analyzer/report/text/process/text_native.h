/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_NATIVE_H
#define RCORE_REPORT_TEXT_NATIVE_H

#include "model/native_frame.h"
#include "report/text/style.h"

/*
 * Writes one native frame on a line: function and offset, module or gem,
 * source. The place starts `columns` after the function.
 */
void rcore_text_native_frame(const struct rcore_pen *pen,
			     const struct rcore_native_frame *frame, size_t columns);

/* Returns the columns of its function and offset. */
size_t rcore_text_native_width(const struct rcore_native_frame *frame);

#endif
