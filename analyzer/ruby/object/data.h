/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_DATA_H
#define RCORE_RUBY_DATA_H

#include "ruby/object/value.h"

/*
 * A T_DATA wraps a C struct. Nearly all are typed: a rb_data_type_t names the
 * contents. The struct is where `data` points or, since 3.3 if the type
 * requests it, in the slot itself. Up to 3.4, RTypedData.typed_flag (at the
 * place of an untyped one's dfree) says whether it is typed; from 4.0 on, a
 * flag of the object does. Mirrors include/ruby/internal/core/rtypeddata.h,
 * RTYPEDDATA_P, RTYPEDDATA_GET_DATA.
 */
struct rcore_data {
	bool is_typed, is_embedded;
	uint64_t type; /* rb_data_type_t; 0: untyped */
	/* wrap_struct_name, in the arena; NULL if untyped, or `problem`. */
	const char *type_name;
	uint64_t data;       /* address of the struct; 0: none (yet) */
	const char *problem; /* why the name cannot be read, or NULL */
};

/* Errors: CORRUPT if it is not a T_DATA; FAULT. */
struct rcore_error *rcore_data(struct rcore_ruby *ruby, uint64_t value, struct rcore_data *ret);

/*
 * Do the same in two steps: all but the name, and the name of a type, in
 * `name`. They leave nothing in the arena.
 */
enum { RCORE_DATA_NAME_SIZE = 256 };
struct rcore_error *rcore_data_head(struct rcore_ruby *ruby, uint64_t value,
				    struct rcore_data *ret);
struct rcore_error *rcore_data_type_name(struct rcore_ruby *ruby, uint64_t type, char *name,
					 size_t size);

/*
 * Whether it is typed and its type has that name. Leaves nothing in the arena.
 * `data` may be NULL.
 */
struct rcore_error *rcore_data_is(struct rcore_ruby *ruby, uint64_t value,
				  const char *type_name, bool *ret, uint64_t *data);

#endif
