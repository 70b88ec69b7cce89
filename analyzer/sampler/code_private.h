/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_CODE_PRIVATE_H
#define RCORE_SAMPLER_CODE_PRIVATE_H

#include <uthash.h>

#include "sampler/code.h"

/* What code.c and filled.c know of an entry. */

enum { RCORE_CODE_IDENTITY_WORDS = 10 };

/* What distinguishes the object at an address from one that replaces it. */
struct rcore_code_identity {
	uint64_t words[RCORE_CODE_IDENTITY_WORDS];
};

struct rcore_code_key {
	uint64_t iseq, environment;
};

struct rcore_code {
	struct rcore_code_key key;
	uint64_t method;         /* rb_callable_method_entry_t; 0: none */
	uint64_t encoded, bytes; /* of an iseq's code, or 0 */
	uint64_t body;
	uint64_t locals; /* of an iseq */
	uint64_t cfunc;  /* of a method in C */
	/*
	 * Which words of an iseq's code are equal to its last one, which is
	 * `leave`, unless the code ends in another way: a bit for each word.
	 * NULL: unknown. filled.c looks for them when it first needs them.
	 */
	uint8_t *leaves;
	bool has_looked_for_leaves;
	uint32_t function;
	char *label, *path;
	bool is_c, is_used, is_lost;
	bool has_line;
	struct rcore_code_identity identity;
	UT_hash_handle hh;
	struct rcore_code *next_dropped;
};

/* Returns a field of a copy of a control frame; 0: it has none. */
static inline uint64_t rcore_code_frame_field(const uint8_t *frame,
					      const struct rcore_layout *layout,
					      const struct rcore_field *field)
{
	uint64_t value = 0;
	return rcore_has(field) && rcore_field_of(frame, layout->cfp.size, field, &value)
		       ? value
		       : 0;
}

/* Whether `pc` may be one of the code. */
static inline bool rcore_code_is_within(const struct rcore_code *code, uint64_t pc)
{
	return !code->has_line || !pc || pc - code->encoded <= code->bytes;
}

/* Returns the entry of an iseq and an environment, or NULL. */
struct rcore_code *rcore_codes_get(const struct rcore_codes *codes, uint64_t iseq,
				   uint64_t environment);

#endif
