/* SPDX-License-Identifier: MIT */
/* Tests which words of a slot may point to C memory. */
#include "base/count.h"
#include "random_heap.h"
#include "ruby/children/slot_words.h"
#include "ruby/object/array.h"
#include "ruby/object/string.h"
#include "ruby_suite.h"

enum { SLOT = 80 };

static struct rcore_slot_words look(uint64_t object)
{
	struct rcore_slot_words words;
	uint64_t flags;
	ck_assert_int_eq(rcore_read_u64(ruby.memory, object, &flags), 0);
	rcore_slot_words(&fake.layout, flags, SLOT, &words);
	return words;
}

/* Checks that the only word is one that contains `buffer`; 0: there is none. */
static void leads_to(uint64_t object, uint64_t buffer)
{
	struct rcore_slot_words words = look(object);
	uint64_t word;
	ck_assert_uint_eq(words.end - words.start, buffer ? sizeof(word) : 0);
	ck_assert(!words.leads_on);
	if (!buffer)
		return;
	ck_assert_int_eq(rcore_read_u64(ruby.memory, object + words.start, &word), 0);
	ck_assert_uint_eq(word, buffer);
}

START_TEST(test_buffers)
{
	uint64_t elements[] = {1, 3}, at, count;
	begin(_i);
	uint64_t string = fake_string_heap(&fake, "text", 4);
	OK(rcore_string_bytes(&ruby, string, &at, &count));
	leads_to(string, at);
	leads_to(fake_string_embedded(&fake, "text", 4), 0);
	uint64_t array = fake_array_heap(&fake, elements, RCORE_COUNT(elements));
	OK(rcore_array(&ruby, array, &at, &count));
	leads_to(array, at);
	leads_to(fake_array_embedded(&fake, elements, RCORE_COUNT(elements)), 0);
	leads_to(fake_object(&fake, RCORE_T_RATIONAL, SLOT), 0);
}
END_TEST

/*
 * If the C struct of a type is not known, as that of a T_DATA, the result is
 * all words after RBasic. For all other types it is fewer, or none.
 */
START_TEST(test_types)
{
	begin(_i);
	for (uint64_t type = RCORE_T_OBJECT; type <= RCORE_T_MASK; type++) {
		struct rcore_slot_words words =
			look(fake_object(&fake, type | 1 << (RCORE_FL_USHIFT + 3), SLOT));
		switch (type) {
		case RCORE_T_STRING:
		case RCORE_T_ARRAY:
		case RCORE_T_STRUCT:
		case RCORE_T_BIGNUM:
		case RCORE_T_OBJECT:
		case RCORE_T_REGEXP:
		case RCORE_T_FILE:
			ck_assert_uint_le(words.end - words.start, 8);
			break;
		case RCORE_T_HASH:
		case RCORE_T_MATCH:
			ck_assert_uint_ge(words.end - words.start, 8);
			break;
		case RCORE_T_FLOAT:
		case RCORE_T_RATIONAL:
		case RCORE_T_COMPLEX:
		case RCORE_T_SYMBOL:
		case RCORE_T_MOVED:
			ck_assert_uint_eq(words.start, words.end);
			break;
		default:
			ck_assert_uint_eq(words.start, 16);
			ck_assert_uint_eq(words.end, SLOT);
			ck_assert(words.leads_on);
		}
	}
}
END_TEST

/* The words are inside the slot, whatever its flags and its size are. */
START_TEST(test_limits)
{
	uint64_t seed = random_seed();
	begin(_i);
	for (int i = 0; i < 5000; i++) {
		struct rcore_slot_words words;
		uint64_t flags = (uint64_t)random_below(&seed, UINT32_MAX) << 32 |
				 random_below(&seed, UINT32_MAX);
		uint32_t size = random_below(&seed, 700);
		rcore_slot_words(&fake.layout, flags, size, &words);
		ck_assert_uint_le(words.start, words.end);
		ck_assert_uint_le(words.end, size);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_buffers, test_types, test_limits};
	return run_suite("slot words", tests, RCORE_COUNT(tests));
}
