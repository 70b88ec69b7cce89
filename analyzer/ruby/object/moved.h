/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_MOVED_H
#define RCORE_RUBY_MOVED_H

#include "ruby/ruby.h"

/*
 * While the collector compacts the heap, it moves objects first, and corrects
 * the references to them afterwards (gc_compact_start() to gc_compact_finish()
 * of gc.c). In between, whoever refers to an object may find a T_MOVED in its
 * slot, which says where the object is.
 */
struct rcore_moved;

/*
 * If the collector of the rb_vm_t compacts, ruby->memory reads through the
 * slots that were left, until rcore_ruby_deinit(). Without memory for that,
 * they stay as they are.
 */
void rcore_moved_follow(struct rcore_ruby *ruby, uint64_t vm);
void rcore_moved_free(struct rcore_moved *moved); /* NULL-safe */

/* Where the object is that `value` refers to: the same, unless it was moved. */
uint64_t rcore_moved_to(const struct rcore_ruby *ruby, uint64_t value);

#endif
