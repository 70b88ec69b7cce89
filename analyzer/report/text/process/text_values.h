/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_TEXT_VALUES_H
#define RCORE_REPORT_TEXT_VALUES_H

#include "model/locals.h"
#include "model/value.h"
#include "report/text/style.h"

/*
 * Writes self, arguments and locals below a frame, one per line, and hidden
 * ones only if `with_hidden`. Writes nothing for NULL.
 */
void rcore_text_frame_values(const struct rcore_pen *pen,
			     const struct rcore_frame_values *values, bool with_hidden);

/*
 * Writes the variables of a fiber or thread, one per line, after `word`;
 * nothing if there are none.
 */
void rcore_text_variables(const struct rcore_pen *pen, const char *word,
			  const struct rcore_variables *variables);

#endif
