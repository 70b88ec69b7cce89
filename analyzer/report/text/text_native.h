/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_NATIVE_H
#define RCORE_REPORT_TEXT_NATIVE_H

#include "model/native_frame.h"
#include "report/text/style.h"

/*
 * One native frame on a line: function and offset, module or gem, source; its
 * place starts at `columns` behind the function.
 */
void rcore_text_native_frame(const struct rcore_pen *pen,
			     const struct rcore_native_frame *frame, size_t columns);

/* Columns that its function and offset take. */
size_t rcore_text_native_width(const struct rcore_native_frame *frame);

#endif
