/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_H
#define RCORE_SESSION_HEAP_H

/*
 * session/heap/ has the steps of `rcore heap`, one file for each subcommand. It
 * reads the objects with ruby/children/, computes with heap/, and fills
 * model/heap/. Start here.
 */

#include <stdio.h>

#include "model/heap/census.h"
#include "model/heap/heap.h"
#include "model/heap/heap_list.h"
#include "rcore.h"
#include "ruby/children/census.h"
#include "ruby/ruby.h"

/* What `rcore heap` reads of a session. */

/* Gets a decoder and the address of the rb_objspace. */
typedef struct rcore_error *rcore_heap_use(struct rcore_session *session,
					   struct rcore_ruby *ruby, uint64_t vm,
					   uint64_t objspace, void *context);

/*
 * Copies the memory of a running process, and finds the secrets to redact. Call
 * it before you read anything that may contain a secret. Errors: as
 * rcore_load() and rcore_running_copy().
 */
struct rcore_error *rcore_heap_prepare(struct rcore_session *session);

/*
 * Finds Ruby and its heap and calls `use`. Copies the memory of a running
 * process first. Errors: as rcore_load(), those of `use` and of
 * rcore_running_copy().
 */
struct rcore_error *rcore_session_heap(struct rcore_session *session, rcore_heap_use *use,
				       void *context);

/* Counts what is in the heap. The caller frees *ret. */
struct rcore_error *rcore_heap_census(struct rcore_session *session,
				      struct rcore_heap_census **ret);
void rcore_heap_census_free(struct rcore_heap_census *census); /* NULL-safe */

/*
 * Returns the name of a class of the census, in `arena`: "Order", "(iseq)".
 * NULL if memory is short.
 */
const char *rcore_heap_class_name(struct rcore_ruby *ruby, struct rcore_arena *arena,
				  const struct rcore_census_row *row);

/*
 * Returns the name of a type whose objects have no class that a program knows:
 * "(iseq)", "(included module)", "(T_ARRAY without a class)". `key` is that of
 * rcore_classless_key(). NULL if memory is short.
 */
const char *rcore_heap_internal_name(struct rcore_ruby *ruby, struct rcore_arena *arena,
				     uint64_t key);

struct rcore_list_options {
	const char *klass; /* its name, as the census prints it */
	/* All must be met: "KEY=VALUE" or "KEY". */
	const char *const *where;
	size_t where_count;
	size_t limit; /* how many objects to print */
	struct rcore_inspect_options inspect;
};

/*
 * Finds the objects of a class. The caller frees *ret. Error: USAGE if there
 * are none.
 */
struct rcore_error *rcore_heap_list(struct rcore_session *session,
				    const struct rcore_list_options *options,
				    struct rcore_heap_list **ret);
void rcore_heap_list_free(struct rcore_heap_list *list); /* NULL-safe */

struct rcore_heap_dumped {
	uint64_t lines;
	uint64_t partial; /* objects whose references could not all be read */
	size_t absent_pages;
};

/*
 * Writes each object as a line of ObjectSpace.dump_all. Errors: as
 * rcore_load(), OS.
 */
struct rcore_error *rcore_heap_dump(struct rcore_session *session, FILE *out,
				    struct rcore_heap_dumped *ret);

#endif
