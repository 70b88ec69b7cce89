/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ISEQ_PRIVATE_H
#define RCORE_RUBY_ISEQ_PRIVATE_H

#include "ruby/iseq/iseq_locals.h"

/* An iseq in the cache; shared by iseq.c and iseq_line.c. */
struct rcore_iseq {
	struct rcore_iseq_info info;
	/*
	 * Read when the first line is asked for; until then, `lines` is NULL.
	 */
	uint32_t line_count;
	int32_t *lines; /* of each entry of insns_info */
	const unsigned char *succ_index_table;
	size_t succ_index_size;          /* bytes */
	struct rcore_iseq_local *locals; /* NULL: not read yet */
	size_t local_count;
};

#endif
