/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_INSTRUCTIONS_H
#define RCORE_VM_INSTRUCTIONS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

/* More say the same. */
enum { RCORE_INSTRUCTION_SAMPLE = 16 };

struct rcore_instructions {
	uint64_t items[RCORE_INSTRUCTION_SAMPLE];
	size_t count;
};

/* Reads where the first instructions of some iseqs that run are carried out: what the first word of iseq_encoded
 * holds (rb_iseq_translate_threaded_code of iseq.c). Whether these are addresses of code is for the
 * caller to see. */
void rcore_instructions_sample(struct rcore_ruby *ruby, const struct rcore_snapshot *snapshot,
			       struct rcore_instructions *ret);

#endif
