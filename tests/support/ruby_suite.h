/* SPDX-License-Identifier: MIT */
#ifndef RUBY_SUITE_H
#define RUBY_SUITE_H

#include <check.h>

#include "fake_ruby.h"
#include "ruby/ruby.h"

/*
 * What the tests of ruby/ share. Each test runs with every built-in table.
 */
extern struct fake_ruby fake;
extern struct rcore_ruby ruby;
extern struct rcore_arena arena;

/* Begins a test with the layout of its loop index. The test ends by itself. */
void begin(int index);

/* Empties all caches, so that everything is read again. */
void read_again(void);

/* The error's code, 0 for none; frees it. */
int code(struct rcore_error *err);

#define OK(call) ck_assert_int_eq(code(call), 0)

/* The classes that the tests of names use. */
extern struct classes {
	uint64_t foo, tmp, anonymous, module, iclass, prepended_origin;
	uint64_t foo_singleton, module_singleton, tmp_singleton, object_singleton,
		lost_singleton;
} classes;
void make_classes(void);

#define ISEQ(type_, path_, label_, ...)       \
	fake_iseq(&fake, &(struct fake_iseq){ \
				 .type = type_, .path = path_, .label = label_, __VA_ARGS__})

/* A heap of three pages with three slots of T_DATA, and the walk that notes them. */
struct visited {
	uint64_t values[16];
	size_t count, stop_at;
};
bool visit(void *context, uint64_t value, const void *copy, size_t size);
uint64_t make_heap(uint64_t starts[3]);

/* A main() that runs the tests. */
int run_suite(const char *name, const TTest *const *tests, size_t count);

#endif
