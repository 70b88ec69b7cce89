/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_VALUES_H
#define RCORE_REPORT_TEXT_VALUES_H

#include "model/locals.h"
#include "model/value.h"
#include "report/text/style.h"

/*
 * A value as its inspect prints it, escaped, and what could not be read of it;
 * no newline.
 */
void rcore_text_value(const struct rcore_pen *pen, const struct rcore_value *value);

/*
 * self, arguments and locals of a frame, one a line, below it; hidden ones only
 * `with_hidden`. Nothing for NULL.
 */
void rcore_text_frame_values(const struct rcore_pen *pen,
			     const struct rcore_frame_values *values, bool with_hidden);

/*
 * Variables of a fiber or thread, one a line after `word`; nothing where there
 * are none.
 */
void rcore_text_variables(const struct rcore_pen *pen, const char *word,
			  const struct rcore_variables *variables);

#endif
