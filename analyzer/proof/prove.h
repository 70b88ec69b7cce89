/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_PROVE_H
#define RCORE_PROOF_PROVE_H

/*
 * proof/ checks a layout against the target before anything is decoded with it,
 * struct by struct and field by field, and shifts fields until the checks pass.
 * It includes vm/, ruby/ and a layout, but not session/. Start here, then read
 * layout/fields.def.
 */

#include "model/snapshot.h"
#include "ruby/ruby.h"

enum { RCORE_PROOF_LIMIT = 16 };

/*
 * Proves the structs of ruby->layout against the VM at `vm`, with one proof for
 * each struct: closed lists of the length that the VM has counted, pointers
 * that point back, values in range. Fills `proofs` (strings in ruby->arena or
 * static) and returns how many passed; *ret_count is the number of proofs. A
 * proof that cannot be tested in this target does not count as failed; its
 * detail says so. Sets ruby->lacks_memory if a proof failed because memory is
 * short.
 */
size_t rcore_prove(struct rcore_ruby *ruby, uint64_t vm,
		   struct rcore_proof proofs[RCORE_PROOF_LIMIT], size_t *ret_count);

#endif
