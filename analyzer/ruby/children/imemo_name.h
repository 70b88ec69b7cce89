/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_IMEMO_NAME_H
#define RCORE_RUBY_IMEMO_NAME_H

#include "layout/layout.h"

/*
 * Returns the name of an imemo_type, "iseq"; "unknown" if there is none.
 * Mirrors rb_imemo_name() of imemo.c.
 */
const char *rcore_imemo_name(const struct rcore_layout *layout, unsigned type);

#endif
