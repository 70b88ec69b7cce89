/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_SEARCH_H
#define RCORE_RUBY_SEARCH_H

#include "ruby/ruby.h"

/*
 * Finds a variable by its contents if no symbol names it. The test gets each
 * aligned word of the range that can be read, with a copy of at least `size`
 * bytes from there on, and checks it.
 */
typedef bool rcore_search_test(void *context, uint64_t address, const void *copy, size_t size);

enum { RCORE_SEARCH_SIZE_LIMIT = 2048 };

/*
 * Returns the first address of [start, end) that passes the test. Returns false
 * if there is none.
 */
bool rcore_search(struct rcore_ruby *ruby, uint64_t start, uint64_t end, size_t size,
		  rcore_search_test *test, void *context, uint64_t *ret);

/* Does the same in all writable data of the VM's module (statics.writable). */
bool rcore_search_statics(struct rcore_ruby *ruby, size_t size, rcore_search_test *test,
			  void *context, uint64_t *ret);

#endif
