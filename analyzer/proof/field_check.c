/* SPDX-License-Identifier: MIT */
#include "proof/field_check.h"

#include <stdlib.h>

#include "base/count.h"
#include "proof/check.h"
#include "vm/find/running.h"

#define ROW(struct_id, field_id, first, second, run, why)            \
	{.group = #struct_id,                                        \
	 .id = #field_id,                                            \
	 .field = offsetof(struct rcore_layout, struct_id.field_id), \
	 .samples = {first, second},                                 \
	 .check = run,                                               \
	 .reason = why},
#define LIST(id)                             offsetof(struct rcore_samples, id)
#define RCORE_CHECK(struct_id, field, check) RCORE_CHECK_ON(struct_id, field, struct_id, check)
#define RCORE_CHECK_ON(struct_id, field, list, check) \
	ROW(struct_id, field, LIST(list), RCORE_NO_SAMPLES, rcore_check_##check, NULL)
#define RCORE_CHECK_BOTH(struct_id, field, first, second, check) \
	ROW(struct_id, field, LIST(first), LIST(second), rcore_check_##check, NULL)
#define RCORE_NO_CHECK(struct_id, field, reason) \
	ROW(struct_id, field, RCORE_NO_SAMPLES, RCORE_NO_SAMPLES, NULL, reason)

const struct rcore_check_row rcore_check_rows[] = {
#include "layout/fields.def"
};
const size_t rcore_check_row_count = RCORE_COUNT(rcore_check_rows);

enum {
	FIELD_COUNT = 0
#define RCORE_FIELD(struct_id, id, paths) +1
#include "layout/fields.def"
};
_Static_assert(RCORE_COUNT(rcore_check_rows) == FIELD_COUNT,
	       "fields.def has one row of a check for each field");
_Static_assert(LIST(ruby) == RCORE_NO_SAMPLES, "no list of samples comes first");

static int compare(const void *key, const void *row)
{
	size_t field = *(const size_t *)key,
	       other = ((const struct rcore_check_row *)row)->field;
	return (field > other) - (field < other);
}

/*
 * The rows have the order of fields.def and struct rcore_layout; a unit test
 * checks this.
 */
const struct rcore_check_row *rcore_check_row(size_t field)
{
	return bsearch(&field, rcore_check_rows, rcore_check_row_count,
		       sizeof(*rcore_check_rows), compare);
}

static const struct rcore_field *field_of(const struct rcore_samples *samples, size_t field)
{
	return (const void *)((const char *)samples->ruby->layout + field);
}

/*
 * A running thread has these structs at hand all the time: that says nothing
 * about whether they are being made.
 */
static bool is_always_at_hand(const struct rcore_samples *samples,
			      const struct rcore_sample_list *list)
{
	return list == &samples->vm || list == &samples->ractor || list == &samples->thread ||
	       list == &samples->native_thread || list == &samples->ec ||
	       list == &samples->fiber || list == &samples->cfp || list == &samples->objspace;
}

struct wrapped {
	const struct rcore_samples *samples;
	uint64_t base;
};

/* Whether `word` is a T_DATA that points to the struct, or a little before. */
static bool wraps(void *context, uint64_t word)
{
	enum { REACH = 64 };
	const struct wrapped *wrapped = context;
	struct rcore_ruby *ruby = wrapped->samples->ruby;
	uint64_t flags, data;
	return rcore_is_object(ruby, word) &&
	       !rcore_read_field(ruby->memory, word, &ruby->layout->basic.flags, &flags) &&
	       (flags & RCORE_T_MASK) == RCORE_T_DATA &&
	       !rcore_read_field(ruby->memory, word, &ruby->layout->data.data, &data) && data &&
	       wrapped->base - data < REACH;
}

/*
 * A waiter is in the frame of its thread, and others point to it. A compiler
 * may link it before all of it is written (Debian's 3.3, thread_join() of
 * thread.c). An object gets its type before the rest: until then, it points to
 * what the slot's previous object had (rb_data_typed_object_wrap() of gc.c).
 * From 3.3 on, its struct may be in its own slot (RTYPEDDATA_EMBEDDED_P() of
 * rtypeddata.h).
 */
static bool is_being_made(const struct rcore_samples *samples,
			  const struct rcore_sample_list *list, uint64_t base)
{
	struct rcore_memory *memory = samples->ruby->memory;
	uint64_t object = base - (uint64_t)samples->ruby->layout->data.data.offset;
	struct wrapped wrapped = {samples, base};
	return !is_always_at_hand(samples, list) &&
	       (rcore_is_in_running_frame(memory, samples->process, base) ||
		rcore_is_at_hand(memory, samples->process, base) ||
		rcore_is_at_hand(memory, samples->process, object) ||
		rcore_any_at_hand(memory, samples->process, wraps, &wrapped));
}

/*
 * One corrupt sample among many does not make the layout wrong. Nor does an
 * object that is being created, or is dead and not swept yet, if the check is
 * silent on all others.
 */
static enum rcore_verdict check_all(const struct rcore_samples *samples,
				    const struct rcore_sample_list *list,
				    const struct rcore_check_row *row)
{
	enum { MANY = 16 };
	const struct rcore_field *field = field_of(samples, row->field);
	size_t held = 0, failed = 0;

	for (size_t i = 0; i < list->count; i++) {
		enum rcore_verdict verdict = row->check(samples, list->at[i], field);
		if (verdict == RCORE_FAILS && is_being_made(samples, list, list->at[i]))
			verdict = RCORE_SILENT;
		held += verdict == RCORE_HOLDS;
		failed += verdict == RCORE_FAILS;
	}
	return failed >= held && failed * MANY > list->count ? RCORE_FAILS
	       : held                                        ? RCORE_HOLDS
							     : RCORE_SILENT;
}

enum rcore_verdict rcore_check_field(const struct rcore_samples *samples,
				     const struct rcore_check_row *row)
{
	enum rcore_verdict verdict = RCORE_SILENT;
	if (!row->check || !rcore_has_place(field_of(samples, row->field)))
		return RCORE_SILENT;
	for (size_t i = 0; i < RCORE_CHECK_LISTS && verdict != RCORE_FAILS; i++) {
		if (row->samples[i] == RCORE_NO_SAMPLES)
			continue;
		enum rcore_verdict one = check_all(
			samples, (const void *)((const char *)samples + row->samples[i]), row);
		verdict = one == RCORE_SILENT ? verdict : one;
	}
	return verdict;
}

enum rcore_verdict rcore_check_sample(const struct rcore_samples *samples, size_t field,
				      uint64_t base)
{
	return rcore_check_row(field)->check(samples, base, field_of(samples, field));
}
