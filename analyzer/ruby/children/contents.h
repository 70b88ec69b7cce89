/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CONTENTS_H
#define RCORE_RUBY_CONTENTS_H

#include "model/heap_content.h"
#include "ruby/ruby.h"

/*
 * Hashes the bytes and the encoding of a String. Returns false if they cannot
 * be read.
 */
bool rcore_hash_string(struct rcore_ruby *ruby, uint64_t string, struct rcore_content *ret);

/*
 * Hashes the elements of an Array. `same` returns the value that stands for all
 * values with equal contents.
 */
bool rcore_hash_array(struct rcore_ruby *ruby, uint64_t array,
		      uint64_t (*same)(void *context, uint64_t value), void *context,
		      struct rcore_content *ret);

#endif
