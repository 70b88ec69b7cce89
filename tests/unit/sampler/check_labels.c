/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "sampler/sampler_private.h"
#include "suite.h"

/* Tests for which contexts a record of the BPF program is complete. */

enum { ID_KEY = 0x123, ID_STRING = 0x7000, ID_OBJECT = 0x8000 };

static struct rcore_bpf_record record;

static bool is_whole(uint64_t value)
{
	record.slots[2] = ID_KEY;
	record.slots[3] = value;
	return rcore_sampler_has_whole_context(&record);
}

START_TEST(values_that_were_copied)
{
	static const uint64_t immediates[] = {0, 4, 8, 0x14, 0x24, 85, 0x3002, 0x1230c};
	record = (struct rcore_bpf_record){.capacity = 2, .has_slots = 1, .string_count = 1};
	record.strings[0].value = ID_STRING;
	for (size_t i = 0; i < RCORE_COUNT(immediates); i++)
		ck_assert(is_whole(immediates[i]));
	ck_assert(is_whole(ID_STRING));
	/* The object may change although the record stays the same. */
	ck_assert(!is_whole(ID_OBJECT));
	/* An empty slot has no value. */
	record.slots[2] = 0;
	ck_assert(rcore_sampler_has_whole_context(&record));
	record.has_slots = 0;
	ck_assert(!rcore_sampler_has_whole_context(&record));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {values_that_were_copied};
	const struct rcore_test_suite suite = {
		.name = "labels", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
