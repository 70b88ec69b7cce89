/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_MOVED_H
#define RCORE_RUBY_MOVED_H

#include "ruby/ruby.h"

/*
 * While the collector compacts the heap, it first moves objects, and corrects
 * the references to them afterwards (gc_compact_start() to gc_compact_finish()
 * of gc.c). In between, a reference may lead to a slot with a T_MOVED, which
 * says where the object is.
 */
struct rcore_moved;

/*
 * If the collector of this rb_vm_t is compacting, ruby->memory reads moved
 * objects at their old addresses until rcore_ruby_deinit(). If memory is short,
 * it does not.
 */
void rcore_moved_follow(struct rcore_ruby *ruby, uint64_t vm);
void rcore_moved_free(struct rcore_moved *moved); /* NULL-safe */

/*
 * Returns the address of the object to which `value` refers; `value` unless it
 * was moved.
 */
uint64_t rcore_moved_to(const struct rcore_ruby *ruby, uint64_t value);

/*
 * Returns whether two VALUEs refer to the same object: of two references, one
 * may be corrected already.
 */
bool rcore_is_same_object(const struct rcore_ruby *ruby, uint64_t one, uint64_t other);

#endif
