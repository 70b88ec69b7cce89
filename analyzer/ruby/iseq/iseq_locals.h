/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ISEQ_LOCALS_H
#define RCORE_RUBY_ISEQ_LOCALS_H

#include "model/locals.h"
#include "ruby/iseq/iseq.h"

/* The most locals of one iseq. */
enum { RCORE_LOCAL_LIMIT = 1 << 16 };

/*
 * A variable of an iseq: iseq_body.local_table has its ID, and iseq_body.param
 * says which argument it gets.
 */
struct rcore_iseq_local {
	const char *name; /* NULL: none */
	enum rcore_parameter parameter;
	bool is_hidden; /* like struct rcore_local */
	const char *problem;
};

/*
 * Reads the variables of an iseq in the order of its local_table, in which the
 * parameters come first:
 *
 *   def m(lead, opt = 1, *rest, post, key:, k: 2, **keyrest, &block)  x = ...
 *         0     1        2      3     4     5     (bits) 6    7       8
 *
 * "bits" says which defaults of keywords must still be computed; it has no
 * name. The parameters of a block are listed like those of a lambda. Cached;
 * the result lives as long as `ruby`. Mirrors rb_iseq_parameters of iseq.c,
 * local_var_list_add of vm_eval.c. Errors: CORRUPT, LIMIT, FAULT.
 */
struct rcore_error *rcore_iseq_locals(struct rcore_ruby *ruby,
				      const struct rcore_iseq_info *iseq,
				      const struct rcore_iseq_local **ret, size_t *ret_count);

#endif
