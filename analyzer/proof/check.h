/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_CHECK_H
#define RCORE_PROOF_CHECK_H

#include <stdlib.h>

#include "ruby/symbol/id.h"
#include "ruby/object/value.h"
#include "proof/field_check.h"
#include "vm/find/list_change.h"
#include "vm/vm.h"

/*
 * What the checks of fields.def (check_*.c) share. A check looks at the field
 * of one sample object. `s` is all samples, `base` is the object's address,
 * `field` is where the layout has the field. CHECK(name) defines the check that
 * a row of fields.def calls `name`; field_check.h explains what it returns.
 */
#define CHECK(name)                                                                         \
	enum rcore_verdict rcore_check_##name(const struct rcore_samples *s, uint64_t base, \
					      const struct rcore_field *field)

#define RCORE_CHECK(struct_id, field, check)          rcore_check rcore_check_##check;
#define RCORE_CHECK_ON(struct_id, field, list, check) rcore_check rcore_check_##check;
#define RCORE_CHECK_BOTH(struct_id, field, first, second, check) \
	rcore_check rcore_check_##check;
#include "layout/fields.def"

/* Limits for what is read of one object. */
enum {
	COUNT_LIMIT = 1 << 24,
	ENTRY_LIMIT = 4096, /* in a table */
};

static inline enum rcore_verdict verdict_of(bool holds)
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

/* Whether the field of the struct at `base` has this value. */
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

/*
 * Whether the value was a File, a Symbol or a T_DATA that Ruby freed because it
 * ends: others still refer to it (rb_objspace_call_finalizer() of gc.c;
 * rb_ec_cleanup() of eval.c marks the main thread before).
 */
static inline bool is_freed(const struct rcore_samples *s, uint64_t value)
{
	return is_object(s, value, TYPE(NONE) | TYPE(ZOMBIE)) &&
	       leads(s, rcore_samples_main_thread(s), &layout_of(s)->thread.status,
		     RCORE_THREAD_KILLED);
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

/* Whether the fiber contains its EC. */
static inline bool is_fiber(const struct rcore_samples *s, uint64_t fiber)
{
	return fiber && leads(s, fiber + (uint64_t)layout_of(s)->fiber.saved_ec.offset,
			      &layout_of(s)->ec.fiber_ptr, fiber);
}

/* Whether this is a VALUE that Ruby code can have. */
static inline bool is_value(const struct rcore_samples *s, uint64_t value)
{
	enum rcore_immediate immediate = rcore_immediate(s->ruby, value);
	return immediate != RCORE_NO_IMMEDIATE
		       ? immediate != RCORE_UNDEF
		       : is_object(s, value, ~(TYPE(NONE) | TYPE(IMEMO) | TYPE(MOVED))) ||
				 is_freed(s, value);
}

/* HOLDS for a VALUE of one of `types`. Silent for nil, false and 0. */
static inline enum rcore_verdict object_of(const struct rcore_samples *s, uint64_t base,
					   const struct rcore_field *field, uint32_t types)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return rcore_is_nil(s->ruby, value) || is_freed(s, value)
		       ? RCORE_SILENT
		       : verdict_of(is_object(s, value, types));
}

/* Whether the symbol table has the ID. */
static inline bool has_name(const struct rcore_samples *s, uint64_t id)
{
	uint64_t name;
	rcore_auto_error err = rcore_id_string(s->ruby, id, &name);
	return !rcore_sample_failed(s, err);
}

/* HOLDS for a flag or a count that is small and mostly zero. */
static inline enum rcore_verdict at_most(const struct rcore_samples *s, uint64_t base,
					 const struct rcore_field *field, uint64_t limit)
{
	uint64_t value;
	if (!get(s, base, field, &value) || value > limit)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}

/*
 * Waiters' nodes are on machine stacks, which a core may lack or contain as
 * zeroes.
 */
static inline bool is_lost(const struct rcore_samples *s, uint64_t node)
{
	uint64_t words[2];
	return rcore_is_object(s->ruby, node) &&
	       (rcore_read(s->ruby->memory, node, words, sizeof(words)) ||
		!(words[0] | words[1]));
}

/*
 * HOLDS if the list is closed: the neighbours of each node point back to it,
 * and an empty list points to itself. *ret_count (may be NULL) is the number of
 * nodes.
 */
static inline enum rcore_verdict list_closes(const struct rcore_samples *s, uint64_t head,
					     size_t *ret_count)
{
	uint64_t *nodes, next;
	size_t count;
	rcore_auto_error err = rcore_list_of_waiters(s->ruby->memory, s->process, head,
						     RCORE_THREAD_LIMIT, &nodes, &count);
	bool lost = err &&
		    !rcore_read_u64(s->ruby->memory, count ? nodes[count - 1] : head, &next) &&
		    is_lost(s, next);
	free(nodes);
	if (ret_count)
		*ret_count = count;
	return lost ? RCORE_SILENT : verdict_of(!rcore_sample_failed(s, err));
}

/*
 * Returns the length of the list at `head` if it has a node in [start, end),
 * otherwise -1.
 */
static inline long list_through(const struct rcore_samples *s, uint64_t head, uint64_t start,
				uint64_t end)
{
	uint64_t *nodes;
	size_t count;
	bool is_through = false;
	rcore_auto_error err =
		rcore_list(s->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &count);
	for (size_t i = 0; i < count; i++)
		is_through |= nodes[i] >= start && nodes[i] < end;
	free(nodes);
	return !rcore_sample_failed(s, err) && is_through ? (long)count : -1;
}

static inline uint64_t flags_of(const struct rcore_samples *s, uint64_t object)
{
	uint64_t flags;
	return get(s, object, &layout_of(s)->basic.flags, &flags) ? flags : 0;
}

static inline bool word_at(const struct rcore_samples *s, uint64_t address, uint64_t *ret)
{
	return address % sizeof(*ret) == 0 && !rcore_read_u64(s->ruby->memory, address, ret);
}

/*
 * Whether the field begins right after RBasic.klass, as the contents of a slot
 * do.
 */
static inline bool follows_class(const struct rcore_samples *s, uint64_t object,
				 const struct rcore_field *field)
{
	uint64_t klass, before;
	return get(s, object, &layout_of(s)->basic.klass, &klass) &&
	       word_at(s, member(object, field) - sizeof(before), &before) && klass == before;
}

/* Stacks grow down from their start. */
static inline bool within_stack(uint64_t start, uint64_t size, uint64_t address)
{
	return address < start && start - address <= size;
}

/* `size` is in words. The pc of a frame is that of its next instruction. */
static inline bool within_code(uint64_t code, uint64_t size, uint64_t pc)
{
	return pc >= code && pc - code <= size * sizeof(uint64_t);
}

/*
 * Whether `start` can be where a stack starts: it is aligned, and the word
 * below it can be read.
 */
bool rcore_check_stack_start(const struct rcore_samples *s, uint64_t start);

/*
 * Whether the address is on the machine stack of this EC. Silent if the EC's
 * stack cannot start where it says.
 */
enum rcore_verdict rcore_check_stack_address(const struct rcore_samples *s, uint64_t ec,
					     uint64_t address);

#endif
