/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_GET_H
#define RCORE_RUBY_GET_H

#include "ruby/ruby.h"

/*
 * Reads one field of the struct at `base` like rcore_read_field(), with an
 * error that names it. Errors: FAULT if it cannot be read; UNSUPPORTED if this
 * Ruby does not have the field, or it is not measured.
 */
struct rcore_error *rcore_get(struct rcore_ruby *ruby, uint64_t base,
			      const struct rcore_field *field, const char *name, uint64_t *ret);

/*
 * RCORE_GET(ruby, address, iseq_body, type, &ret): a field by its name in
 * fields.def.
 */
#define RCORE_GET(ruby, base, struct_id, id, ret) \
	rcore_get(ruby, base, &(ruby)->layout->struct_id.id, #struct_id "." #id, ret)

#endif
