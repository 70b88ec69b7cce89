/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CONTENTS_H
#define RCORE_RUBY_CONTENTS_H

#include "model/heap/heap_content.h"
#include "ruby/ruby.h"

/*
 * How many bytes of all objects may be hashed. Objects that claim the same
 * buffer would take days otherwise.
 */
#define RCORE_CONTENTS_LIMIT (UINT64_C(64) << 30)

/*
 * Hashes the bytes, the encoding and the class of a String. Takes the bytes
 * from *budget. Returns false if they cannot be read, or are more.
 */
bool rcore_hash_string(struct rcore_ruby *ruby, uint64_t string, uint64_t *budget,
		       struct rcore_content *ret);

/*
 * Hashes the elements and the class of an Array in the same way. `same` returns
 * the value that stands for all values with equal contents.
 */
bool rcore_hash_array(struct rcore_ruby *ruby, uint64_t array, uint64_t *budget,
		      uint64_t (*same)(void *context, uint64_t value), void *context,
		      struct rcore_content *ret);

#endif
