/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_CODE_PRIVATE_H
#define RCORE_SAMPLER_CODE_PRIVATE_H

#include <uthash.h>

#include "sampler/code.h"

/* What the files about code share. */

enum {
	RCORE_CODE_IDENTITY_WORDS = 10,
	RCORE_CODE_PARTS = 3,
	RCORE_CODE_PART_SIZE = 512,
	/* A bit in the number of an environment: it leads to the heap. */
	RCORE_CODE_IN_HEAP = 1,
};

/* What distinguishes the object at an address from one that replaces it. */
struct rcore_code_identity {
	uint64_t words[RCORE_CODE_IDENTITY_WORDS];
};

/* What decides which code a frame runs, and how it is called. */
struct rcore_code_key {
	uint64_t iseq;
	uint64_t method; /* rb_callable_method_entry_t; 0: none */
	uint64_t flags;  /* of the frame: those that never change */
};

/*
 * The words of a frame that lead to its code. Frames with other words may run
 * the same code: a block's environment in the heap is another one each time
 * that the method around it is called, and so is what a method that has matched
 * a Regexp has in place of its method entry (svar).
 */
struct rcore_code_place {
	struct {
		uint64_t iseq, environment;
	} key;
	struct rcore_code *code;
	bool is_lost;
	UT_hash_handle hh;
};

struct rcore_code {
	struct rcore_code_key key;
	uint64_t encoded, bytes; /* of an iseq's code, or 0 */
	uint64_t body;
	uint64_t locals; /* of an iseq */
	uint64_t cfunc;  /* of a method in C */
	/*
	 * A bit for each word of an iseq's code, set if the word is equal to
	 * the last one, which is usually `leave`. NULL: unknown. filled.c sets
	 * it when it first needs it.
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

/* Returns a field of a copy of a control frame; 0: there is no such field. */
static inline uint64_t rcore_code_frame_field(const uint8_t *frame,
					      const struct rcore_layout *layout,
					      const struct rcore_field *field)
{
	uint64_t value = 0;
	return rcore_has(field) && rcore_field_of(frame, layout->cfp.size, field, &value)
		       ? value
		       : 0;
}

/* Returns whether `pc` can be in the code. */
static inline bool rcore_code_is_within(const struct rcore_code *code, uint64_t pc)
{
	return !code->has_line || !pc || pc - code->encoded <= code->bytes;
}

/*
 * code_identity.c: reads words of the iseq, its body and its method entry that
 * would differ in an object that replaces them. What cannot be read is 0.
 */
void rcore_code_identify(const struct rcore_layout *layout, struct rcore_memory *memory,
			 const struct rcore_code *code, struct rcore_code_identity *ret);

/*
 * Sets up to RCORE_CODE_PARTS ranges that have most of these words, and returns
 * their number. `bytes` has as many elements, and is where they are read to.
 */
struct rcore_code_part {
	uint8_t bytes[RCORE_CODE_PART_SIZE];
};
size_t rcore_code_ranges(const struct rcore_layout *layout, const struct rcore_code *code,
			 struct rcore_code_part *bytes, struct rcore_live_range *ret);

/* Removes an entry. It stays valid until the next tick. */
void rcore_codes_drop(struct rcore_codes *codes, struct rcore_code *code);

/* Makes the decoders forget what they know about objects. */
void rcore_codes_forget_objects(struct rcore_codes *codes);

/* Forgets which frames lead to which code, but not the code. */
void rcore_codes_forget_places(struct rcore_codes *codes);

#endif
