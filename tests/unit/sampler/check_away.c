/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "sampler/away/away.h"
#include "suite.h"
#include "target/live/live.h"

/* Tests how long threads were away if records are missing. */

enum {
	BEGUN = 1000,
	NO_THREAD = 0x7ffffffe, /* above PID_MAX_LIMIT */
};

static struct rcore_sampler sampler;
static int child;

static void setup(void)
{
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	sampler = (struct rcore_sampler){.profile = rcore_profile_new()};
	ck_assert_ptr_nonnull(sampler.profile);
	sampler.generation = sampler.profile->generation;
	ck_assert_ptr_null(rcore_live_open(child, &sampler.live));
}

static void teardown(void)
{
	rcore_away_deinit(&sampler);
	rcore_live_close(sampler.live);
	rcore_profile_free(sampler.profile);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static struct rcore_away *leave(uint32_t tid)
{
	struct rcore_away *away = rcore_away_add(&sampler, tid);
	ck_assert_ptr_nonnull(away);
	away->is_away = true;
	away->left = away->since = BEGUN;
	away->ran = 100;
	away->switches = 5;
	away->size = 1;
	away->generation = sampler.generation;
	return away;
}

static uint64_t returned(uint64_t switches, uint64_t ran)
{
	const struct rcore_bpf_record record = {
		.kind = RCORE_BPF_RETURNED,
		.time = BEGUN + 1000,
		.tid = NO_THREAD,
		.switches = switches,
		.ran = ran,
	};
	setup();
	struct rcore_away *away = leave(NO_THREAD);
	ck_assert_ptr_null(rcore_sampler_add_switch(&sampler, &record, RCORE_BPF_HEAD));
	ck_assert(!away->is_away);
	uint64_t wall = away->pending.sample.wall;
	teardown();
	return wall;
}

START_TEST(returns)
{
	ck_assert_uint_eq(returned(5, 100), 1000);
	/* It ran, and left again. */
	ck_assert_uint_eq(returned(6, 130), 970);
}
END_TEST

START_TEST(ends)
{
	setup();
	leave(NO_THREAD);
	/* The child has used a processor, but not since it left. */
	leave((uint32_t)child)->ran = UINT64_MAX;
	sampler.consumed = BEGUN + 500;
	rcore_away_settle(&sampler);
	/* Only the time of the thread that exists was added. */
	ck_assert_uint_eq(sampler.profile->samples.count, 1);
	/* Its records may still be in the ring buffer. */
	rcore_away_verify(&sampler);
	ck_assert_ptr_nonnull(rcore_away_find(&sampler, NO_THREAD));
	rcore_away_verify(&sampler);
	ck_assert_ptr_null(rcore_away_find(&sampler, NO_THREAD));
	ck_assert_ptr_nonnull(rcore_away_find(&sampler, (uint32_t)child));
	teardown();
}
END_TEST

/* Beyond the limit, the last records are not kept. */
START_TEST(limit)
{
	const struct rcore_bpf_record record = {.tid = NO_THREAD};
	uint64_t kept = RCORE_AWAY_KEPT_MAX - sizeof(record);
	setup();
	sampler.options.kept = &kept;
	struct rcore_away *away = leave(NO_THREAD), *other = leave((uint32_t)child);
	ck_assert(rcore_away_keep(&sampler, away, &record, sizeof(record)));
	ck_assert_ptr_nonnull(away->record);
	ck_assert_uint_eq(kept, RCORE_AWAY_KEPT_MAX);
	ck_assert(rcore_away_keep(&sampler, other, &record, RCORE_BPF_HEAD));
	ck_assert_ptr_null(other->record);
	ck_assert_uint_eq(other->size, RCORE_BPF_HEAD);
	/* It needs no more room than before. */
	ck_assert(rcore_away_keep(&sampler, away, &record, RCORE_BPF_HEAD));
	ck_assert_ptr_nonnull(away->record);
	rcore_away_forget(&sampler, away);
	ck_assert_uint_eq(kept, RCORE_AWAY_KEPT_MAX - sizeof(record));
	ck_assert(rcore_away_keep(&sampler, other, &record, sizeof(record)));
	ck_assert_ptr_nonnull(other->record);
	teardown();
	ck_assert_uint_eq(kept, RCORE_AWAY_KEPT_MAX - sizeof(record));
}
END_TEST

static void prepare(struct rcore_ruby *ruby, void *context)
{
}

static void finish(const struct rcore_ruby *ruby, void *context)
{
}

/* If the profile's tables are emptied, such a thread has an unknown stack. */
START_TEST(dropped)
{
	static const struct rcore_layout layout;
	const struct rcore_bpf_record record = {
		.kind = RCORE_BPF_RETURNED,
		.time = BEGUN + 1000,
		.tid = NO_THREAD,
		.switches = 5,
		.ran = 100,
	};
	setup();
	struct rcore_away *away = leave(NO_THREAD);
	rcore_codes_init(&sampler.codes, sampler.profile, rcore_live_bare_memory(sampler.live),
			 &layout, prepare, finish, NULL);
	rcore_profile_clear(sampler.profile);
	ck_assert_ptr_null(rcore_sampler_add_switch(&sampler, &record, RCORE_BPF_HEAD));
	ck_assert_uint_eq(away->generation, sampler.profile->generation);
	ck_assert_uint_eq(away->pending.sample.wall, 1000);
	ck_assert_uint_ne(away->pending.sample.node, 0);
	rcore_codes_deinit(&sampler.codes);
	teardown();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {returns, ends, limit, dropped};
	const struct rcore_test_suite suite = {
		.name = "away", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
