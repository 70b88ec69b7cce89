/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "referrers.h"
#include "ruby/children/children.h"
#include "ruby_suite.h"

enum { FOUND = 4096, SLOT_LIMIT = 320, READ_LIMIT = 1 << 20 };

/* What rcore_children_of() visited. */
struct found {
	uint64_t values[FOUND];
	uint64_t count;
	uint8_t state;
};

static void note(void *context, const struct rcore_child *child)
{
	struct found *found = context;
	if (found->count < FOUND)
		found->values[found->count] = child->value;
	found->count++;
}

/* Copies what is mapped of an object's slot. Returns the size of the copy. */
static size_t slot_of(uint64_t object, unsigned char *slot)
{
	size_t size = SLOT_LIMIT;
	while (size && rcore_read(ruby.memory, object, slot, size))
		size -= 8;
	return size;
}

static void look(const struct referrer *referrer, const unsigned char *slot, size_t size,
		 uint64_t total, struct found *found)
{
	struct rcore_children children;
	found->count = 0;
	OK(rcore_children_init(&children, &ruby, note, found));
	children.total = total;
	rcore_children_of(&children, referrer->object, slot, size);
	found->state = children.state;
	rcore_children_deinit(&children);
}

static bool has(const uint64_t *values, size_t count, uint64_t value)
{
	for (size_t i = 0; i < count && i < FOUND; i++)
		if (values[i] == value)
			return true;
	return false;
}

/* The fields of `rcore heap` are not measured for every Ruby. */
static bool is_measured(void)
{
	return rcore_has_place(&fake.layout.memo.v1);
}

static bool make(size_t index, struct referrer *referrer)
{
	*referrer = (struct referrer){0};
	referrers[index](&fake, referrer);
	return referrer->name;
}

START_TEST(test_references)
{
	static struct found found;
	unsigned char slot[SLOT_LIMIT];
	struct referrer referrer;
	begin(_i);
	for (size_t i = 0; is_measured() && i < referrer_count; i++) {
		if (!make(i, &referrer))
			continue;
		read_again();
		look(&referrer, slot, slot_of(referrer.object, slot), 0, &found);
		for (size_t j = 0; j < referrer.count; j++)
			ck_assert_msg(has(found.values, found.count, referrer.references[j]),
				      "%s: reference %zu of %zu was not found", referrer.name,
				      j, referrer.count);
		for (size_t j = 0; j < found.count && !referrer.is_scanned; j++)
			ck_assert_msg(has(referrer.references, referrer.count, found.values[j]),
				      "%s: visit %zu: the object does not refer to this one",
				      referrer.name, j);
		ck_assert_msg(!(found.state & RCORE_HEAP_PARTIAL), "%s is partial",
			      referrer.name);
	}
}
END_TEST

/* If a reference cannot be read, the result says that some are missing. */
START_TEST(test_faults)
{
	static struct found whole, found;
	unsigned char slot[SLOT_LIMIT];
	struct referrer referrer;
	begin(_i);
	for (size_t i = 0; is_measured() && i < referrer_count; i++) {
		if (!make(i, &referrer))
			continue;
		size_t size = slot_of(referrer.object, slot);
		read_again();
		fake_target_fault(&fake.target, 0, false);
		look(&referrer, slot, size, 0, &whole);
		size_t reads = fake.target.reads;
		for (size_t fail = 1; fail <= 2 * reads; fail++) {
			read_again();
			fake_target_fault(&fake.target, (fail + 1) / 2, fail % 2);
			look(&referrer, slot, size, 0, &found);
			ck_assert_msg(found.count >= whole.count ||
					      found.state &
						      (RCORE_HEAP_PARTIAL | RCORE_HEAP_OPAQUE),
				      "%s: read %zu of %zu fails: %d references are lost",
				      referrer.name, (fail + 1) / 2, reads,
				      (int)(whole.count - found.count));
		}
		fake_target_fault(&fake.target, 0, false);
	}
}
END_TEST

/*
 * Damages each word of the ranges from `first_range` on, which include the slot.
 * However wrong a word is, the number of reads has a limit.
 */
static void damage(const struct referrer *referrer, size_t first_range)
{
	static struct found found;
	unsigned char slot[SLOT_LIMIT];
	for (size_t r = first_range; r < fake.target.range_count; r++) {
		struct fake_range *range = &fake.target.ranges[r];
		for (size_t at = 0; at + 8 <= range->size && at < 1024; at += 8) {
			const uint64_t values[] = {0,
						   8,
						   300,
						   UINT64_C(1) << 60,
						   UINT64_MAX,
						   referrer->object,
						   range->start,
						   range->start + at};
			uint64_t old;
			memcpy(&old, range->bytes + at, sizeof(old));
			for (size_t v = 0; v < RCORE_COUNT(values); v++) {
				memcpy(range->bytes + at, &values[v], sizeof(old));
				read_again();
				size_t size = slot_of(referrer->object, slot);
				fake_target_fault(&fake.target, 0, false);
				look(referrer, slot, size, 0, &found);
				ck_assert_msg(fake.target.reads < READ_LIMIT,
					      "%s: %zu reads after word %zu became %#lx",
					      referrer->name, fake.target.reads, at / 8,
					      (unsigned long)values[v]);
			}
			memcpy(range->bytes + at, &old, sizeof(old));
		}
	}
}

START_TEST(test_damage)
{
	struct referrer referrer;
	begin(_i);
	for (size_t i = 0; is_measured() && i < referrer_count; i++) {
		size_t first_range = fake.target.range_count;
		if (make(i, &referrer))
			damage(&referrer, first_range);
	}
}
END_TEST

/* The references of all objects together have a limit, too. */
START_TEST(test_total)
{
	static struct found found;
	unsigned char slot[SLOT_LIMIT];
	uint64_t elements[8];
	begin(_i);
	if (!is_measured())
		return;
	for (size_t i = 0; i < RCORE_COUNT(elements); i++)
		elements[i] = fake_string(&fake, "element");
	struct referrer referrer = {.object = fake_array_heap(&fake, elements, 8)};
	size_t size = slot_of(referrer.object, slot);
	look(&referrer, slot, size, RCORE_CHILD_TOTAL_LIMIT - 16, &found);
	ck_assert_uint_eq(found.count, RCORE_COUNT(elements));
	ck_assert_int_eq(found.state, 0);
	for (uint64_t left = 0; left < RCORE_COUNT(elements); left++) {
		look(&referrer, slot, size, RCORE_CHILD_TOTAL_LIMIT - left, &found);
		ck_assert_uint_le(found.count, left);
		ck_assert_int_eq(found.state, RCORE_HEAP_PARTIAL);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_references, test_faults, test_damage, test_total};
	return run_suite("children", tests, RCORE_COUNT(tests));
}
