/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FIELD_JUDGE_H
#define RCORE_VM_FIELD_JUDGE_H

#include "ruby/value.h"
#include "vm/field_proof.h"

/*
 * What the judges of fields (field_proof.h) share. A judge looks at the field of one instance: `s` is
 * the specimens, `base` the instance's address.
 */
#define JUDGE(name)                                                                           \
	static inline enum rcore_verdict name(const struct rcore_specimens *s, uint64_t base, \
					      const struct rcore_field *field)

#define RULE(struct_id, id, judge)                                         \
	{                                                                  \
		offsetof(struct rcore_layout, struct_id.id),               \
			offsetof(struct rcore_specimens, struct_id), judge \
	}

static inline enum rcore_verdict told(bool holds)
{
	return holds ? RCORE_HOLDS : RCORE_FAILS;
}

static inline const struct rcore_layout *layout_of(const struct rcore_specimens *s)
{
	return s->ruby->layout;
}

static inline bool get(const struct rcore_specimens *s, uint64_t base,
		       const struct rcore_field *field, uint64_t *ret)
{
	return rcore_specimen_read(s, base, field, ret);
}

/* Whether the field of the struct at `base` has this very value. */
static inline bool leads(const struct rcore_specimens *s, uint64_t base,
			 const struct rcore_field *field, uint64_t to)
{
	uint64_t value;
	return get(s, base, field, &value) && value == to;
}

static inline bool readable(const struct rcore_specimens *s, uint64_t address)
{
	uint64_t word;
	return address && address % sizeof(word) == 0 &&
	       !rcore_read_u64(s->ruby->memory, address, &word);
}

#define TYPE(name) (1u << RCORE_T_##name)

/* Whether a VALUE is an object of one of `types`. */
static inline bool is_object(const struct rcore_specimens *s, uint64_t value, uint32_t types)
{
	uint64_t flags;
	return rcore_is_object(s->ruby, value) &&
	       get(s, value, &layout_of(s)->basic.flags, &flags) &&
	       (types >> (flags & RCORE_T_MASK) & 1);
}

static inline bool is_imemo(const struct rcore_specimens *s, uint64_t value, unsigned type)
{
	uint64_t flags;
	return rcore_is_object(s->ruby, value) &&
	       get(s, value, &layout_of(s)->basic.flags, &flags) &&
	       rcore_imemo_type(flags) == (int)type;
}

static inline uint64_t member(uint64_t base, const struct rcore_field *field)
{
	return base + (uint64_t)field->offset;
}

static inline bool is_thread(const struct rcore_specimens *s, uint64_t thread)
{
	return leads(s, thread, &layout_of(s)->thread.vm, s->vm.at[0]);
}

/* Says nothing for a field, only against it. */
JUDGE(pointer_or_null)
{
	uint64_t value;
	if (!get(s, base, field, &value) || (value && !readable(s, value)))
		return RCORE_FAILS;
	return RCORE_SILENT;
}

/* Whether the object heap of an objspace can be walked. */
enum rcore_verdict rcore_judge_heap(const struct rcore_specimens *s, uint64_t objspace);

#endif
