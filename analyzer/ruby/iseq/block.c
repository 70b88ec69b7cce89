/* SPDX-License-Identifier: MIT */
#include "ruby/iseq/block.h"

#include <inttypes.h>

#include "ruby/object/data.h"
#include "ruby/get.h"

enum { NESTING_LIMIT = 100 };

static struct rcore_error *proc_struct(struct rcore_ruby *ruby, uint64_t proc, uint64_t *ret)
{
	bool is_proc = false;
	struct rcore_error *err = rcore_data_is(ruby, proc, "proc", &is_proc, ret);
	if (!err && (!is_proc || !*ret))
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a Proc",
					 proc);
	return err;
}

struct rcore_error *rcore_proc_block(struct rcore_ruby *ruby, uint64_t proc,
				     struct rcore_block *ret, bool *is_lambda)
{
	const struct rcore_layout *layout = ruby->layout;
	struct rcore_block block = {0};
	for (int steps = 0; steps < NESTING_LIMIT; steps++) {
		uint64_t at = 0, type = 0, lambda;
		struct rcore_error *err = proc_struct(ruby, proc, &at);
		if (!err && !steps && is_lambda) {
			err = RCORE_GET(ruby, at, proc, is_lambda, &lambda);
			*is_lambda = !err && lambda;
		}
		at += (uint64_t)layout->proc.block.offset;
		if (!err)
			err = RCORE_GET(ruby, at, block, type, &type);
		if (!err && type <= RCORE_BLOCK_IFUNC)
			err = RCORE_GET(ruby, at, block, code, &block.code);
		else if (!err)
			err = RCORE_GET(ruby, at, block, proc, &block.code);
		if (!err && type == RCORE_BLOCK_ISEQ)
			err = rcore_iseq(ruby, block.code, &block.iseq);
		if (err)
			return err;
		if (type > RCORE_BLOCK_PROC)
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "Proc 0x%" PRIx64 " has no block", proc);
		if (type != RCORE_BLOCK_PROC) {
			block.type = (enum rcore_block_type)type;
			*ret = block;
			return NULL;
		}
		proc = block.code;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d nested Procs",
				  NESTING_LIMIT);
}
