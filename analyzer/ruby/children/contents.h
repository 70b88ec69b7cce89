/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CONTENTS_H
#define RCORE_RUBY_CONTENTS_H

#include "model/heap/heap_content.h"
#include "ruby/ruby.h"

/*
 * The first budget: how many bytes of all objects together may be hashed.
 * Without it, a hostile heap whose objects claim the same buffer takes days.
 */
#define RCORE_CONTENTS_LIMIT (UINT64_C(64) << 30)

/*
 * Hashes the bytes, the encoding and the class of a String. Subtracts the
 * number of bytes from *budget. Returns false if there are more than *budget or
 * than 1 GiB, or if they cannot be read.
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
