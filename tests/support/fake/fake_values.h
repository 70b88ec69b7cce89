/* SPDX-License-Identifier: MIT */
#ifndef FAKE_VALUES_H
#define FAKE_VALUES_H

#include "fake_ruby.h"

/* Values in fake memory, laid out as the layout's Ruby does. */

#define FAKE_FIXNUM(number) ((uint64_t)(number) << 1 | 1)

uint64_t fake_symbol(struct fake_ruby *ruby, const char *name);

/* Makes a class of that name, derived from another one (0: from none). */
uint64_t fake_named_class(struct fake_ruby *ruby, const char *name, uint64_t super);

/* Makes the object an instance of that class, and returns it. */
uint64_t fake_instance(struct fake_ruby *ruby, uint64_t object, uint64_t klass);

uint64_t fake_float(struct fake_ruby *ruby, double number);
uint64_t fake_bignum(struct fake_ruby *ruby, const uint32_t *digits, size_t count,
		     bool negative, bool embedded);
uint64_t fake_rational(struct fake_ruby *ruby, uint64_t num, uint64_t den);
uint64_t fake_complex(struct fake_ruby *ruby, uint64_t real, uint64_t imag);

struct fake_pair {
	uint64_t key, value;
};
/* At most 8 pairs; the first `deleted` of them were deleted again. */
uint64_t fake_hash_ar(struct fake_ruby *ruby, const struct fake_pair *pairs, size_t count,
		      size_t deleted);
uint64_t fake_hash_st(struct fake_ruby *ruby, const struct fake_pair *pairs, size_t count,
		      size_t deleted);

uint64_t fake_struct(struct fake_ruby *ruby, uint64_t klass, const uint64_t *members,
		     size_t count, bool embedded);

uint64_t fake_regexp(struct fake_ruby *ruby, const char *source, unsigned options);

/* A T_FILE; path 0: none. */
uint64_t fake_file(struct fake_ruby *ruby, int fd, uint64_t path);

#endif
