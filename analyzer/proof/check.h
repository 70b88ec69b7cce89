/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_CHECK_H
#define RCORE_PROOF_CHECK_H

#include <stdlib.h>

#include "ruby/id.h"
#include "ruby/value.h"
#include "proof/field_check.h"
#include "vm/list.h"
#include "vm/vm.h"

/*
 * What the judges of fields (field_check.h) share. A judge looks at the field of one instance: `s` is
 * the samples, `base` the instance's address.
 */
#define JUDGE(name)                                                                         \
	static inline enum rcore_verdict name(const struct rcore_samples *s, uint64_t base, \
					      const struct rcore_field *field)

#define RULE_ON(samples, struct_id, id, judge)                         \
	{                                                              \
		offsetof(struct rcore_layout, struct_id.id),           \
			offsetof(struct rcore_samples, samples), judge \
	}
#define RULE(struct_id, id, judge) RULE_ON(struct_id, struct_id, id, judge)

static inline enum rcore_verdict told(bool holds)
{
	return holds ? RCORE_HOLDS : RCORE_FAILS;
}

static inline const struct rcore_layout *layout_of(const struct rcore_samples *s)
{
	return s->ruby->layout;
}

static inline bool get(const struct rcore_samples *s, uint64_t base,
		       const struct rcore_field *field, uint64_t *ret)
{
	return rcore_sample_read(s, base, field, ret);
}

/* Whether the field of the struct at `base` has this very value. */
static inline bool leads(const struct rcore_samples *s, uint64_t base,
			 const struct rcore_field *field, uint64_t to)
{
	uint64_t value;
	return get(s, base, field, &value) && value == to;
}

static inline bool readable(const struct rcore_samples *s, uint64_t address)
{
	uint64_t word;
	return address && address % sizeof(word) == 0 &&
	       !rcore_read_u64(s->ruby->memory, address, &word);
}

#define TYPE(name) (1u << RCORE_T_##name)

/* Whether a VALUE is an object of one of `types`. */
static inline bool is_object(const struct rcore_samples *s, uint64_t value, uint32_t types)
{
	uint64_t flags;
	return rcore_is_object(s->ruby, value) &&
	       get(s, value, &layout_of(s)->basic.flags, &flags) &&
	       (types >> (flags & RCORE_T_MASK) & 1);
}

static inline bool is_imemo(const struct rcore_samples *s, uint64_t value, unsigned type)
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

static inline bool is_thread(const struct rcore_samples *s, uint64_t thread)
{
	return leads(s, thread, &layout_of(s)->thread.vm, s->vm.at[0]);
}

/* Whether it holds its EC. */
static inline bool is_fiber(const struct rcore_samples *s, uint64_t fiber)
{
	return fiber && leads(s, fiber + (uint64_t)layout_of(s)->fiber.saved_ec.offset,
			      &layout_of(s)->ec.fiber_ptr, fiber);
}

/* Whether it is a VALUE of what Ruby code can hold. */
static inline bool is_value(const struct rcore_samples *s, uint64_t value)
{
	enum rcore_immediate immediate = rcore_immediate(s->ruby, value);
	return immediate != RCORE_NO_IMMEDIATE
		       ? immediate != RCORE_UNDEF
		       : is_object(s, value, ~(TYPE(NONE) | TYPE(IMEMO) | TYPE(MOVED)));
}

/* A VALUE of one of `types`; nil, false or nothing at all is silent. */
static inline enum rcore_verdict object_of(const struct rcore_samples *s, uint64_t base,
					   const struct rcore_field *field, uint32_t types)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return rcore_is_nil(s->ruby, value) ? RCORE_SILENT : told(is_object(s, value, types));
}

/* Whether the symbol table has the ID. */
static inline bool has_name(const struct rcore_samples *s, uint64_t id)
{
	uint64_t name;
	rcore_auto_error err = rcore_id_string(s->ruby, id, &name);
	return !err;
}

/* An ID that the symbol table has; without that nothing is said. */
JUDGE(an_id)
{
	uint64_t id;
	if (!get(s, base, field, &id))
		return RCORE_FAILS;
	return s->ruby->global_symbols ? told(has_name(s, id)) : RCORE_SILENT;
}

/* A flag or a count that is mostly zero, and small. */
static inline enum rcore_verdict at_most(const struct rcore_samples *s, uint64_t base,
					 const struct rcore_field *field, uint64_t limit)
{
	uint64_t value;
	if (!get(s, base, field, &value) || value > limit)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}

/* Nodes of who waits lie on machine stacks, which a core may lack or have as zeroes. */
static inline bool is_lost(const struct rcore_samples *s, uint64_t node)
{
	uint64_t words[2];
	return rcore_is_object(s->ruby, node) &&
	       (rcore_read(s->ruby->memory, node, words, sizeof(words)) ||
		!(words[0] | words[1]));
}

/* A list that closes: each node's neighbours lead back to it, empty it leads to itself. How many are on it,
 * too (may be NULL). */
static inline enum rcore_verdict list_closes(const struct rcore_samples *s, uint64_t head,
					     size_t *ret_count)
{
	uint64_t *nodes, next;
	size_t count;
	rcore_auto_error err =
		rcore_list(s->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &count);
	bool lost = err &&
		    !rcore_read_u64(s->ruby->memory, count ? nodes[count - 1] : head, &next) &&
		    is_lost(s, next);
	free(nodes);
	if (ret_count)
		*ret_count = count;
	return lost ? RCORE_SILENT : told(!err);
}

JUDGE(a_list)
{
	return list_closes(s, member(base, field), NULL);
}

/* A function of C; NULL says nothing, nor does a core that has not the names of its files. */
JUDGE(a_function)
{
	uint64_t function;
	if (!get(s, base, field, &function))
		return RCORE_FAILS;
	return function && s->process && s->process->mapping_count
		       ? told(rcore_process_mapping(s->process, function) != NULL)
		       : RCORE_SILENT;
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
enum rcore_verdict rcore_judge_heap(const struct rcore_samples *s, uint64_t objspace);

#endif
