/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "fake_values.h"
#include "ruby/children/contents.h"
#include "ruby_suite.h"

static uint64_t same(void *context, uint64_t value)
{
	(void)context;
	return value;
}

static bool hash(uint64_t object, bool is_array, uint64_t *budget, struct rcore_content *ret)
{
	memset(ret, 0, sizeof(*ret));
	return is_array ? rcore_hash_array(&ruby, object, budget, same, NULL, ret)
			: rcore_hash_string(&ruby, object, budget, ret);
}

static bool is_equal(uint64_t a, uint64_t b, bool is_array)
{
	struct rcore_content first, second;
	uint64_t budget = 1 << 20;
	ck_assert(hash(a, is_array, &budget, &first));
	ck_assert(hash(b, is_array, &budget, &second));
	return !memcmp(first.hash, second.hash, sizeof(first.hash));
}

/* Two Arrays or Strings, the second of which is of another class. */
START_TEST(test_classes)
{
	begin(_i);
	uint64_t base = fake_named_class(&fake, "Base", 0);
	uint64_t derived = fake_named_class(&fake, "Derived", base);
	const uint64_t elements[] = {FAKE_FIXNUM(1), FAKE_FIXNUM(2)};
	for (size_t count = 0; count <= RCORE_COUNT(elements); count++) {
		uint64_t arrays[3], strings[3];
		for (int i = 0; i < 3; i++) {
			uint64_t klass = i == 2 ? derived : base;
			arrays[i] = fake_instance(
				&fake, fake_array_embedded(&fake, elements, count), klass);
			strings[i] = fake_instance(
				&fake, fake_string_embedded(&fake, "ab", count), klass);
		}
		ck_assert(is_equal(arrays[0], arrays[1], true));
		ck_assert(!is_equal(arrays[0], arrays[2], true));
		ck_assert(is_equal(strings[0], strings[1], false));
		ck_assert(!is_equal(strings[0], strings[2], false));
	}
}
END_TEST

/* What is hashed is limited in all. */
START_TEST(test_budget)
{
	begin(_i);
	uint64_t klass = fake_named_class(&fake, "Base", 0), budget = 24;
	const uint64_t elements[] = {FAKE_FIXNUM(1)};
	uint64_t string = fake_instance(&fake, fake_string_heap(&fake, "12345678", 8), klass);
	uint64_t array = fake_instance(&fake, fake_array_heap(&fake, elements, 1), klass);
	struct rcore_content content;
	ck_assert(hash(string, false, &budget, &content));
	ck_assert(hash(array, true, &budget, &content));
	ck_assert_uint_eq(budget, 8);
	ck_assert(hash(string, false, &budget, &content));
	ck_assert_uint_eq(budget, 0);
	ck_assert(!hash(string, false, &budget, &content));
	ck_assert(!hash(array, true, &budget, &content));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_classes, test_budget};
	return run_suite("contents", tests, RCORE_COUNT(tests));
}
