/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_MEMSIZE_PRIVATE_H
#define RCORE_RUBY_MEMSIZE_PRIVATE_H

#include "ruby/children/children_private.h"

/* A length that no object has. */
#define RCORE_MEMSIZE_LIMIT (UINT64_C(1) << 44)
enum { POWER_LIMIT = 40, TABLE_LIMIT = 1 << 20, WORD = sizeof(uint64_t) };

struct rcore_sizing {
	struct rcore_ruby *ruby; /* NULL: only `memory` may be read */
	struct rcore_memory *memory;
	const struct rcore_layout *layout;
	uint64_t object, flags;
	const void *copy;
	size_t size;
	bool failed; /* not all of it is known */
};

static inline uint64_t rcore_sizing_field(struct rcore_sizing *sizing,
					  const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) && !rcore_field_of(sizing->copy, sizing->size, field, &value))
		sizing->failed = true;
	return value;
}

static inline uint64_t rcore_sizing_read(struct rcore_sizing *sizing, uint64_t base,
					 const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) && rcore_read_field(sizing->memory, base, field, &value)) {
		sizing->failed = true;
		return 0;
	}
	return value;
}

/* Returns false, and that the size is not known, if there is no decoder. */
static inline bool rcore_sizing_can_decode(struct rcore_sizing *sizing)
{
	sizing->failed |= !sizing->ruby;
	return sizing->ruby;
}

#define FIELD(struct_id, id)      rcore_sizing_field(sizing, &sizing->layout->struct_id.id)
#define READ(base, struct_id, id) rcore_sizing_read(sizing, base, &sizing->layout->struct_id.id)

static inline uint64_t rcore_sizing_bounded(struct rcore_sizing *sizing, uint64_t count,
					    uint64_t each)
{
	if (count <= RCORE_MEMSIZE_LIMIT / (each ? each : 1))
		return count * each;
	sizing->failed = true;
	return 0;
}

/* A hash table, which may be NULL: st_memsize() of st.c. */
uint64_t rcore_sizing_st(struct rcore_sizing *sizing, uint64_t table);
/* A table by IDs, which may be NULL. */
uint64_t rcore_sizing_id_table(struct rcore_sizing *sizing, uint64_t table);

/* memsize_class.c */
uint64_t rcore_sizing_of_class(struct rcore_sizing *sizing);
uint64_t rcore_sizing_of_iclass(struct rcore_sizing *sizing);

/* memsize_data.c */
uint64_t rcore_sizing_of_data(struct rcore_sizing *sizing);

/* memsize_iseq.c */
uint64_t rcore_sizing_of_iseq(struct rcore_sizing *sizing);

#endif
