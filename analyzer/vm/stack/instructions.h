/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_INSTRUCTIONS_H
#define RCORE_VM_INSTRUCTIONS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

/* The number of iseqs to sample; more would only confirm the result. */
enum { RCORE_INSTRUCTION_SAMPLE = 16 };

struct rcore_instructions {
	uint64_t items[RCORE_INSTRUCTION_SAMPLE];
	size_t count;
};

/*
 * Samples where the interpreter runs the first instructions of some active
 * iseqs: reads the first word of iseq_encoded
 * (rb_iseq_translate_threaded_code() of compile.c). The caller has to check
 * that these words are addresses of code.
 */
void rcore_instructions_sample(struct rcore_ruby *ruby, const struct rcore_snapshot *snapshot,
			       struct rcore_instructions *ret);

#endif
