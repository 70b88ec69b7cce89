/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_LINE_H
#define RCORE_RUBY_LINE_H

#include "model/heap/heap_line.h"
#include "ruby/children/children.h"

/*
 * Visits each used slot in the order of addresses, as a line of
 * ObjectSpace.dump_all. The line is valid until the next one. Errors:
 * NO_MEMORY, those of rcore_heap_walk(), and that of `visit`, which ends the
 * walk.
 */
typedef struct rcore_error *rcore_line_visit(void *context, struct rcore_heap_line *line);

struct rcore_error *rcore_heap_lines(struct rcore_ruby *ruby, uint64_t objspace,
				     rcore_line_visit *visit, void *context,
				     size_t *unreadable_pages);

#endif
