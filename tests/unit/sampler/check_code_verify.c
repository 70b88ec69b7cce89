/* SPDX-License-Identifier: MIT */
/*
 * Tests that exactly the code is forgotten whose objects another object has
 * replaced. A child of this program has the objects, in memory that both share.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/count.h"
#include "live_child.h"
#include "sampler/code_private.h"
#include "suite.h"
#include "tables.h"

enum { CODES = 300, SIZE = 1024, PARTS = 3, ROUNDS = 20 };

/* rb_iseq_t, its body, and a method entry. */
struct objects {
	uint8_t parts[PARTS][SIZE];
};

static struct rcore_layout layout;
static struct objects *objects;
static struct rcore_live *live;
static struct child child;
static struct rcore_codes codes;

static void prepare(struct rcore_ruby *ruby, void *context)
{
}

static void finish(const struct rcore_ruby *ruby, void *context)
{
}

static uint64_t part(size_t index, size_t number)
{
	return address_of(objects[index].parts[number]);
}

/* A third has no method entry, and a third no iseq. */
static struct rcore_code_key key_of(size_t index)
{
	return (struct rcore_code_key){.iseq = index % 3 == 1 ? 0 : part(index, 0),
				       .method = index % 3 == 2 ? 0 : part(index, 2),
				       .flags = 1};
}

static void add(size_t index)
{
	struct rcore_code *code = calloc(1, sizeof(*code));
	ck_assert_ptr_nonnull(code);
	code->key = key_of(index);
	code->body = code->key.iseq ? part(index, 1) : 0;
	rcore_code_identify(&layout, codes.memory, code, &code->identity);
	HASH_ADD(hh, codes.entries, key, sizeof(code->key), code);
	codes.count++;
}

static struct rcore_code *get(size_t index)
{
	struct rcore_code_key key = key_of(index);
	struct rcore_code *code;
	HASH_FIND(hh, codes.entries, &key, sizeof(key), code);
	return code;
}

static void setup(int table)
{
	layout = series_at(table);
	srand((unsigned)time(NULL));
	objects = mmap(NULL, CODES * sizeof(*objects), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(objects, MAP_FAILED);
	for (size_t i = 0; i < CODES * sizeof(*objects); i++)
		((uint8_t *)objects)[i] = (uint8_t)rand();
	child = child_start(child_sleeps, NULL);
	live = live_opened(child.pid);
	struct rcore_profile *profile = rcore_profile_new();
	ck_assert_ptr_nonnull(profile);
	rcore_codes_init(&codes, profile, rcore_live_bare_memory(live), &layout, prepare,
			 finish, NULL);
	for (size_t i = 0; i < CODES; i++)
		add(i);
}

static void teardown(void)
{
	rcore_codes_deinit(&codes);
	rcore_profile_free(codes.profile);
	rcore_live_close(live);
	child_stop(&child);
	munmap(objects, CODES * sizeof(*objects));
}

/* Changes one of the words that show it. */
static void replace(size_t index)
{
	const struct {
		size_t part;
		const struct rcore_field *field;
	} words[] = {
		{0, &layout.iseq.flags},
		{0, &layout.iseq.body},
		{1, &layout.iseq_body.iseq_encoded},
		{1, &layout.iseq_body.pathobj},
		{1, &layout.iseq_body.label},
		{2, &layout.cme.flags},
		{2, &layout.cme.defined_class},
		{2, &layout.cme.def},
		{2, &layout.cme.called_id},
		{2, &layout.cme.owner},
	};
	size_t from = index % 3 == 1 ? 5 : 0, to = index % 3 == 2 ? 5 : RCORE_COUNT(words);
	size_t which;
	do
		which = from + (size_t)rand() % (to - from);
	while (!rcore_has_place(words[which].field));
	objects[index].parts[words[which].part][words[which].field->offset] ^= 1;
}

static void see(size_t index)
{
	if (get(index))
		get(index)->is_used = true;
}

START_TEST(replaced)
{
	bool is_there[CODES];
	setup(_i);
	for (size_t i = 0; i < CODES; i++)
		is_there[i] = true;
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < CODES; i++) {
			bool is_seen = rand() % 4 != 0;
			bool is_replaced = is_there[i] && is_seen && rand() % 20 == 0;
			if (is_seen)
				see(i);
			if (is_replaced)
				replace(i);
			is_there[i] &= !is_replaced;
		}
		rcore_codes_verify(&codes, live);
		for (size_t i = 0; i < CODES; i++)
			ck_assert_int_eq(get(i) != NULL, is_there[i]);
		rcore_codes_begin_tick(&codes);
	}
	teardown();
}
END_TEST

/* What nobody has seen since the last time is not verified. */
START_TEST(unseen)
{
	setup(_i);
	for (size_t i = 0; i < CODES; i++)
		replace(i);
	rcore_codes_verify(&codes, live);
	ck_assert_uint_eq(codes.count, CODES);
	for (size_t i = 0; i < CODES; i++)
		see(i);
	rcore_codes_verify(&codes, live);
	ck_assert_uint_eq(codes.count, 0);
	teardown();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {replaced, unseen};
	const struct rcore_test_suite suite = {.name = "code, verified",
					       .tests = tests,
					       .count = RCORE_COUNT(tests),
					       .loops = series_count()};
	return rcore_test_suite_run(&suite);
}
