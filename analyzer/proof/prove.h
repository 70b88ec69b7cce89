/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_PROVE_H
#define RCORE_PROOF_PROVE_H

/*
 * proof/ checks a layout against the target before anything is decoded with
 * it, struct by struct and field by field, and shifts fields until they hold.
 * Start here.
 */

#include "model/snapshot.h"
#include "ruby/ruby.h"

enum { RCORE_PROOF_LIMIT = 16 };

/*
 * Proves the structs of ruby->layout against the VM at `vm`, one proof for each struct: lists that
 * close and count as the VM says, pointers that lead back, values in range. Fills `proofs` (strings
 * in ruby->arena or static) and returns how many passed; *ret_count is how many there are. A proof
 * that nothing in this target can test does not count as failed; its detail says so.
 */
size_t rcore_prove(struct rcore_ruby *ruby, uint64_t vm,
		   struct rcore_proof proofs[RCORE_PROOF_LIMIT], size_t *ret_count);

#endif
