/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "ruby/iseq/frame_flags.h"
#include "ruby/iseq/method.h"
#include "ruby_suite.h"

enum {
	FLAGS = RCORE_FRAME_MAGIC_BLOCK,
	LOCAL = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
	TOP = RCORE_FRAME_MAGIC_TOP | RCORE_ENV_LOCAL,
};

static void check_env(uint64_t ep, uint64_t expected)
{
	uint64_t method = 1;
	OK(rcore_frame_method_entry(&ruby, ep, &method));
	ck_assert_uint_eq(method, expected);
}

START_TEST(test_env)
{
	begin(_i);
	const struct rcore_traits *traits = &fake.layout.traits;
	uint64_t method = fake_method(&fake, RCORE_METHOD_ISEQ, 0, '+', 0), found;
	uint64_t cref = fake_imemo(&fake, traits->imemo_cref, 40);
	uint64_t svar = fake_imemo(&fake, traits->imemo_svar, 40);
	fake_put_field(&fake.target, svar, &fake.layout.svar.cref_or_me, method);
	uint64_t local = fake_env(&fake, method, 0, LOCAL);
	check_env(local, method);
	check_env(fake_env(&fake, 0, 0, TOP), 0);
	check_env(fake_env(&fake, cref, 0, TOP), 0);
	check_env(fake_env(&fake, svar, 0, LOCAL), method);
	uint64_t block = fake_env(&fake, 0, local | 1, FLAGS);
	check_env(block, method);
	check_env(fake_env(&fake, cref, block | 1, FLAGS), method);
	/* A svar is only in local environments. */
	check_env(fake_env(&fake, svar, fake_env(&fake, 0, 0, TOP) | 1, FLAGS), 0);
	/* define_method: the block's own environment has the method. */
	uint64_t other = fake_method(&fake, RCORE_METHOD_BMETHOD, 0, '-', 0);
	check_env(fake_env(&fake, other, local | 1, FLAGS), other);

	/* Just being moved to the heap. */
	uint64_t env = fake_imemo(&fake, traits->imemo_env, 64);
	fake_put_field(&fake.target, env, &fake.layout.env.ep, local);
	check_env(fake_env(&fake, 0, fake_env(&fake, 0, 0, env) | 1, FLAGS), method);
	fake_put_field(&fake.target, env, &fake.layout.env.ep, fake_env(&fake, 0, 0, env));
	ck_assert_int_eq(
		code(rcore_frame_method_entry(&ruby, fake_env(&fake, 0, 0, env), &found)),
		RCORE_ERROR_LIMIT);

	uint64_t ring = fake_env(&fake, 0, 0, FLAGS);
	fake_put(&fake.target, ring - 8, ring | 1);
	ck_assert_int_eq(code(rcore_frame_method_entry(&ruby, ring, &found)),
			 RCORE_ERROR_LIMIT);
}
END_TEST

/*
 * Which local environments may have no method entry. If one is freed before it
 * is read, the word may be 0 or lead to an object of any other kind.
 */
static const struct {
	uint32_t flags;
	bool may_have_none;
} kinds[] = {
	{RCORE_FRAME_MAGIC_METHOD, false},
	{RCORE_FRAME_MAGIC_CFUNC | RCORE_FRAME_CFRAME, false},
	{RCORE_FRAME_MAGIC_BLOCK, false},
	{RCORE_FRAME_MAGIC_EVAL, false},
	{RCORE_FRAME_MAGIC_RESCUE, false},
	/* A copy that env_copy() has not finished: no frame refers to it. */
	{RCORE_FRAME_MAGIC_BLOCK | RCORE_ENV_ISOLATED, false},
	{RCORE_FRAME_MAGIC_TOP | RCORE_ENV_ISOLATED, true},
	{RCORE_FRAME_MAGIC_TOP, true},
	{RCORE_FRAME_MAGIC_CLASS, true},
	{RCORE_FRAME_MAGIC_IFUNC | RCORE_FRAME_CFRAME, true},
	{RCORE_FRAME_MAGIC_DUMMY, true},
};

START_TEST(test_no_entry)
{
	begin(_i);
	const struct rcore_traits *traits = &fake.layout.traits;
	uint64_t svar = fake_imemo(&fake, traits->imemo_svar, 40), found;
	const uint64_t words[] = {
		0,
		svar,
		fake_imemo(&fake, traits->imemo_cref, 40),
		fake_imemo(&fake, traits->imemo_env, 64),
	};
	for (size_t i = 0; i < RCORE_COUNT(kinds); i++) {
		for (size_t j = 0; j < RCORE_COUNT(words); j++) {
			uint64_t local =
				fake_env(&fake, words[j], 0, kinds[i].flags | RCORE_ENV_LOCAL);
			uint64_t block = fake_env(&fake, 0, local | 1, FLAGS);
			int expected = kinds[i].may_have_none ? 0 : RCORE_ERROR_CORRUPT;
			ck_assert_int_eq(code(rcore_frame_method_entry(&ruby, local, &found)),
					 expected);
			ck_assert_int_eq(code(rcore_frame_method_entry(&ruby, block, &found)),
					 expected);
		}
	}
}
END_TEST

/* What is no environment. */
START_TEST(test_damaged)
{
	begin(_i);
	uint64_t found;
	uint64_t string = fake_string(&fake, "no method entry");
	ck_assert_int_eq(code(rcore_frame_method_entry(&ruby, fake_env(&fake, string, 0, LOCAL),
						       &found)),
			 RCORE_ERROR_CORRUPT);
	ck_assert_int_eq(
		code(rcore_frame_method_entry(&ruby, fake_env(&fake, 0, 0, string), &found)),
		RCORE_ERROR_CORRUPT);
	ck_assert_int_eq(code(rcore_frame_method_entry(&ruby, 0, &found)), RCORE_ERROR_CORRUPT);
	ck_assert_int_eq(code(rcore_frame_method_entry(&ruby, 0x10000, &found)),
			 RCORE_ERROR_FAULT);
	/* A word with the tag of flags that has none of the magics, or other bits. */
	uint64_t method = fake_method(&fake, RCORE_METHOD_ISEQ, 0, '+', 0);
	static const uint64_t flags[] = {3, 0x12340003, (uint64_t)1 << 40 | LOCAL, UINT64_MAX};
	for (size_t i = 0; i < RCORE_COUNT(flags); i++)
		ck_assert_int_eq(code(rcore_frame_method_entry(
					 &ruby, fake_env(&fake, method, 0, flags[i]), &found)),
				 RCORE_ERROR_CORRUPT);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_env, test_no_entry, test_damaged};
	return run_suite("env", tests, RCORE_COUNT(tests));
}
