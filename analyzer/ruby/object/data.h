/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_DATA_H
#define RCORE_RUBY_DATA_H

#include "ruby/object/value.h"

/*
 * A T_DATA wraps a struct of C. Typed ones (nearly all) name what they hold by
 * a rb_data_type_t; the struct is where `data` points or, since 3.3 if the type
 * wants it so, in the slot itself. Whether it is typed is told up to 3.4 by
 * RTypedData.typed_flag (in the place of an untyped one's dfree), from 4.0 on
 * by a flag of the object. Mirrors include/ruby/internal/core/rtypeddata.h,
 * RTYPEDDATA_P, RTYPEDDATA_GET_DATA.
 */
struct rcore_data {
	bool is_typed, is_embedded;
	uint64_t type; /* rb_data_type_t; 0: untyped */
	/* wrap_struct_name, in the arena; NULL: untyped, or `problem`. */
	const char *type_name;
	uint64_t data;       /* address of the struct; 0: none (yet) */
	const char *problem; /* why the name cannot be read; NULL: it can */
};

/* CORRUPT: no T_DATA; FAULT. */
struct rcore_error *rcore_data(struct rcore_ruby *ruby, uint64_t value, struct rcore_data *ret);

/*
 * Is it typed, of a type with that name? Leaves nothing in the arena. `data`
 * may be NULL.
 */
struct rcore_error *rcore_data_is(struct rcore_ruby *ruby, uint64_t value,
				  const char *type_name, bool *ret, uint64_t *data);

#endif
