/* SPDX-License-Identifier: MIT */
#ifndef REFERRERS_H
#define REFERRERS_H

#include "fake_ruby.h"

/*
 * Objects in fake memory, one for each way in which a type refers to others, and what
 * they refer to.
 */
enum { REFERENCES = 48 };

struct referrer {
	const char *name; /* NULL: this Ruby has no such object */
	uint64_t object;
	uint64_t references[REFERENCES];
	size_t count;
	/* Words that no rule reads may look like references: only a scan finds all. */
	bool is_scanned;
};

typedef void make_referrer(struct fake_ruby *ruby, struct referrer *ret);

extern make_referrer *const referrers[];
extern const size_t referrer_count;

/* A new String that the referrer refers to. */
uint64_t refer(struct fake_ruby *ruby, struct referrer *referrer);

/* Makes a rb_data_type_t with a dmark function, and a T_DATA of it around `data`. */
uint64_t fake_typed(struct fake_ruby *ruby, const char *type, uint64_t data);

#endif
