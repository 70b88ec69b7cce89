/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "profile/totals.h"
#include "profile/tree.h"
#include "suite.h"

/* Sums of samples, their times, and the trees that are made of them. */

enum { MS = 1000000 };

static struct rcore_profile *profile;
static struct rcore_totals *totals;
static struct rcore_totals_options options;

static void begin(struct rcore_totals_options wanted)
{
	options = wanted;
	profile = rcore_profile_new();
	ck_assert_ptr_nonnull(profile);
	ck_assert_ptr_null(rcore_totals_new(&options, &totals));
}

static void end(void)
{
	rcore_totals_free(totals);
	rcore_profile_free(profile);
	totals = NULL;
	profile = NULL;
}

/* A stack of functions with names of one letter, called in `line`. */
static uint32_t stack(const char *names, uint32_t line)
{
	uint32_t node = 0;
	for (; *names; names++) {
		const char label[] = {*names, '\0'};
		const struct rcore_profile_function function = {
			.kind = RCORE_FUNCTION_RUBY,
			.label = rcore_profile_string(profile, label)};
		node = rcore_profile_node(
			profile, node,
			rcore_profile_frame(profile, rcore_profile_function(profile, &function),
					    line));
	}
	return node;
}

static void sample(uint64_t ms, const char *names, uint32_t line, const char *thread,
		   const char *parked)
{
	const struct rcore_profile_thread record = {
		.id = rcore_profile_string(profile, thread)};
	const struct rcore_profile_fiber fiber = {
		.thread = rcore_profile_thread(profile, &record),
		.id = rcore_profile_string(profile, parked)};
	const struct rcore_profile_state state = {.kind = parked ? RCORE_SAMPLE_PARKED
								 : RCORE_SAMPLE_RUNNING};
	const struct rcore_profile_sample added = {
		.time = ms * MS,
		.wall = 10 * (uint64_t)MS,
		.cpu = 5 * (uint64_t)MS,
		.node = stack(names, line),
		.thread = fiber.thread,
		.fiber = parked ? rcore_profile_fiber(profile, &fiber) : 0,
		.state = rcore_profile_state(profile, &state),
		.count = 1,
	};
	rcore_profile_sample(profile, &added);
}

static void add(enum rcore_side side)
{
	ck_assert_ptr_null(rcore_totals_add(totals, profile, side));
	profile->samples.count = 0;
}

START_TEST(equal_stacks_are_added_up)
{
	begin((struct rcore_totals_options){.keeps_lines = true});
	sample(10, "ab", 1, "T1", NULL);
	sample(20, "ab", 1, "T2", NULL);
	sample(30, "ab", 2, "T1", NULL);
	add(RCORE_SIDE_NEW);
	ck_assert_uint_eq(totals->keys.count, 2);
	ck_assert_uint_eq(rcore_totals_amounts(totals, 0, RCORE_SIDE_NEW).count, 2);
	ck_assert_uint_eq(rcore_totals_amounts(totals, 0, RCORE_SIDE_NEW).wall, 20 * MS);
	ck_assert_uint_eq(rcore_totals_amounts(totals, 1, RCORE_SIDE_NEW).cpu, 5 * MS);
	ck_assert_uint_eq(rcore_totals_amounts(totals, 0, RCORE_SIDE_OLD).count, 0);
	ck_assert_uint_eq(totals->sums[RCORE_SIDE_NEW].wall, 30 * MS);
	ck_assert_uint_eq(totals->durations[RCORE_SIDE_NEW], 30 * MS);
}
END_TEST

/* A thread that sleeps for a second is one sample, with the time of the first of many. */
START_TEST(samples_that_were_added_up_last)
{
	begin((struct rcore_totals_options){0});
	sample(15, "ab", 1, "T1", NULL);
	profile->samples.items[0].count = 99;
	profile->samples.items[0].wall = 990 * (uint64_t)MS;
	add(RCORE_SIDE_NEW);
	ck_assert_uint_eq(totals->durations[RCORE_SIDE_NEW], 990 * (uint64_t)MS);
	sample(1005, "ab", 2, "T1", NULL);
	add(RCORE_SIDE_NEW);
	ck_assert_uint_eq(totals->durations[RCORE_SIDE_NEW], 1000 * (uint64_t)MS);
}
END_TEST

START_TEST(lines_are_left_out)
{
	begin((struct rcore_totals_options){0});
	sample(10, "ab", 1, "T1", NULL);
	sample(20, "ab", 2, "T1", NULL);
	add(RCORE_SIDE_NEW);
	ck_assert_uint_eq(totals->keys.count, 1);
	ck_assert_uint_eq(totals->profile->nodes.count, 3);
	ck_assert_uint_eq(totals->timelines[RCORE_SIDE_NEW].count, 0);
}
END_TEST

START_TEST(sides_are_apart)
{
	begin((struct rcore_totals_options){0});
	for (uint64_t i = 1; i <= 200; i++) {
		char names[] = {'a', (char)('a' + i % 26), (char)('a' + i / 26), '\0'};
		sample(10 * i, names, 1, "T1", NULL);
	}
	add(RCORE_SIDE_OLD);
	sample(10, "a", 1, "T1", NULL);
	add(RCORE_SIDE_NEW);
	ck_assert_uint_eq(totals->keys.count, 201);
	for (size_t i = 0; i < totals->keys.count; i++)
		for (int side = 0; side < RCORE_SIDES; side++)
			ck_assert_uint_eq(rcore_totals_amounts(totals, i, side).count,
					  (i == 200) == (side == RCORE_SIDE_NEW));
	rcore_totals_scale(totals);
	ck_assert_uint_eq(totals->sums[RCORE_SIDE_OLD].wall, 200 * (10 * MS / 200));
}
END_TEST

/* A profile that gets the address of one that was freed. */
START_TEST(profiles_at_one_address_are_apart)
{
	begin((struct rcore_totals_options){0});
	sample(10, "abc", 1, "T1", NULL);
	sample(20, "d", 1, "T2", NULL);
	add(RCORE_SIDE_NEW);
	rcore_totals_forget_profile(totals);
	struct rcore_profile *other = rcore_profile_new();
	ck_assert_ptr_nonnull(other);
	const struct rcore_profile moved = *profile;
	*profile = *other;
	*other = moved;
	rcore_profile_free(other);
	sample(10, "d", 1, "T2", NULL);
	add(RCORE_SIDE_OLD);
	ck_assert_uint_eq(totals->keys.count, 2);
	ck_assert_uint_eq(rcore_totals_amounts(totals, 0, RCORE_SIDE_OLD).count, 0);
	ck_assert_uint_eq(rcore_totals_amounts(totals, 1, RCORE_SIDE_OLD).count, 1);
}
END_TEST

static void expect_timed(size_t index, uint64_t ms, uint64_t wall_ms)
{
	const struct rcore_timeline *timeline = &totals->timelines[RCORE_SIDE_NEW];
	ck_assert_uint_lt(index, timeline->count);
	ck_assert_uint_eq(timeline->items[index].time, ms * MS);
	ck_assert_uint_eq(timeline->items[index].wall, wall_ms * MS);
}

/* A run of equal samples of a thread is one, whatever others do meanwhile. */
START_TEST(samples_keep_their_times)
{
	begin((struct rcore_totals_options){.keeps_threads = true, .keeps_times = true});
	sample(10, "a", 1, "T1", NULL);
	sample(11, "b", 1, "T2", NULL);
	sample(12, "p", 1, "T1", "T1.F1");
	sample(13, "p", 1, "T1", "T1.F2");
	sample(20, "a", 1, "T1", NULL);
	sample(22, "p", 1, "T1", "T1.F1");
	add(RCORE_SIDE_NEW);
	sample(30, "a", 1, "T1", NULL);
	sample(40, "b", 1, "T1", NULL);
	sample(50, "a", 1, "T1", NULL);
	add(RCORE_SIDE_NEW);
	ck_assert_uint_eq(totals->timelines[RCORE_SIDE_NEW].count, 6);
	expect_timed(0, 10, 30);
	expect_timed(1, 11, 10);
	expect_timed(2, 12, 20);
	expect_timed(3, 13, 10);
	expect_timed(4, 40, 10);
	expect_timed(5, 50, 10);
}
END_TEST

/* Once memory is full, samples make those of their kind longer. */
START_TEST(full_timelines_stay_small)
{
	begin((struct rcore_totals_options){.keeps_threads = true, .keeps_times = true});
	totals->is_full = true;
	for (uint64_t i = 0; i < 1000; i++)
		sample(10 * i, i % 2 ? "a" : "b", 1, "T1", NULL);
	add(RCORE_SIDE_NEW);
	uint64_t wall = 0;
	const struct rcore_timeline *timeline = &totals->timelines[RCORE_SIDE_NEW];
	ck_assert_uint_le(timeline->count, totals->keys.count);
	for (size_t i = 0; i < timeline->count; i++)
		wall += timeline->items[i].wall;
	ck_assert_uint_eq(wall, 10000 * (uint64_t)MS);
}
END_TEST

/* "label self total" of each node, in depth-first order. */
static void expect_tree(uint64_t least_ms, size_t left_out, const char *wanted)
{
	struct rcore_tree *tree;
	char found[256] = "";
	ck_assert_ptr_null(rcore_tree_new(totals, RCORE_MEASURE_WALL, least_ms * MS, &tree));
	ck_assert_uint_eq(tree->left_out, left_out);
	for (uint32_t node = 0; (node = rcore_tree_next(tree, node));) {
		const struct rcore_tree_node *at = &tree->items[node];
		size_t used = strlen(found);
		snprintf(found + used, sizeof(found) - used, "%u%s %d %d;", at->depth,
			 rcore_tree_label(tree, node), (int)(at->self[RCORE_SIDE_NEW] / MS),
			 (int)(at->total[RCORE_SIDE_NEW] / MS));
	}
	ck_assert_str_eq(found, wanted);
	ck_assert_uint_eq(tree->items[0].total[RCORE_SIDE_NEW],
			  totals->sums[RCORE_SIDE_NEW].wall);
	rcore_tree_free(tree);
}

START_TEST(trees_leave_out_what_is_short)
{
	begin((struct rcore_totals_options){.keeps_lines = true});
	sample(10, "ab", 1, "T1", NULL);
	sample(20, "ab", 2, "T1", NULL);
	sample(30, "a", 1, "T1", NULL);
	sample(40, "acd", 1, "T1", NULL);
	sample(50, "e", 1, "T1", NULL);
	add(RCORE_SIDE_NEW);
	expect_tree(0, 0, "1a 10 40;2b 20 20;2c 0 10;3d 10 10;1e 10 10;");
	expect_tree(20, 3, "1a 10 40;2b 20 20;");
	expect_tree(50, 5, "");
}
END_TEST

static uint32_t thread_of(uint32_t pid, uint32_t use, const char *title)
{
	const struct rcore_profile_process process = {.pid = pid, .use = use};
	const struct rcore_profile_thread thread = {
		.pid = pid,
		.id = rcore_profile_string(profile, "T1"),
		.process = use ? rcore_profile_process(profile, &process) : 0};
	if (title)
		rcore_profile_set_title(profile, thread.process,
					rcore_profile_string(profile, title));
	return rcore_profile_thread(profile, &thread);
}

/*
 * Samples of a process are one group although its title changes, and not those
 * of a later process with the same id. Recordings of older rcores know no
 * processes.
 */
START_TEST(processes_are_groups)
{
	static const struct {
		uint32_t pid, use;
		const char *title;
	} samples[] = {
		{7, 1, "ruby a"}, {8, 1, "irb"}, {7, 1, "puma\n"}, {7, 2, "rake"},
		{9, 0, NULL},     {0, 0, NULL},  {7, 1, NULL},     {10, 1, NULL},
	};
	begin((struct rcore_totals_options){.by = RCORE_BY_PROCESS});
	for (size_t i = 0; i < RCORE_COUNT(samples); i++) {
		const struct rcore_profile_sample added = {
			.wall = MS,
			.node = stack("a", 1),
			.thread = thread_of(samples[i].pid, samples[i].use, samples[i].title),
			.count = 1,
		};
		rcore_profile_sample(profile, &added);
		add(RCORE_SIDE_NEW);
	}
	rcore_totals_name_processes(totals);
	expect_tree(0, 0,
		    "1(unknown) 0 1;2a 1 1;110 0 1;2a 1 1;17 (2) rake 0 1;2a 1 1;"
		    "17 puma\\n 0 3;2a 3 3;18 irb 0 1;2a 1 1;19 0 1;2a 1 1;");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		equal_stacks_are_added_up,
		samples_that_were_added_up_last,
		lines_are_left_out,
		sides_are_apart,
		profiles_at_one_address_are_apart,
		samples_keep_their_times,
		full_timelines_stay_small,
		trees_leave_out_what_is_short,
		processes_are_groups,
	};
	const struct rcore_test_suite suite = {
		.name = "totals", .tests = tests, .count = RCORE_COUNT(tests), .end = end};
	return rcore_test_suite_run(&suite);
}
