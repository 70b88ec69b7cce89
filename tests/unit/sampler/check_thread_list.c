/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "sampler/sampler_private.h"
#include "suite.h"
#include "tables.h"

/*
 * Checks when copies prove that a list of threads is still the known one. Two
 * threads are known, and the first one sleeps: its copy is an old one.
 */

enum {
	VM = 0x80000,
	ID_RACTOR = 0x100000,
	FIRST = 0x200000,
	SECOND = 0x300000,
	OTHER = 0x400000
};

static struct rcore_layout layout;
static struct rcore_sampler sampler;
static struct rcore_sampled_ractor ractor;
static struct rcore_sampled_thread threads[2], *known[2] = {&threads[0], &threads[1]};

static void put(const struct rcore_piece *piece, int offset, uint64_t value, size_t size)
{
	memcpy(piece->bytes + offset, &value, size);
}

static uint64_t node_of(uint64_t thread)
{
	return thread + (uint64_t)layout.thread.node.offset;
}

static uint64_t head(void)
{
	return ID_RACTOR + (uint64_t)layout.ractor.threads_set.offset;
}

static void link_thread(size_t index, uint64_t next)
{
	put(&threads[index].track.stack.pieces[RCORE_PIECE_THREAD], layout.thread.node.offset,
	    next, sizeof(next));
}

static void set_last(uint64_t thread)
{
	put(&ractor.piece, layout.ractor.threads_set.offset + (int)sizeof(uint64_t),
	    node_of(thread), sizeof(uint64_t));
}

static void set_count(uint64_t count)
{
	put(&ractor.piece, layout.ractor.threads_count.offset, count,
	    layout.ractor.threads_count.size);
}

static void fill(struct rcore_piece *piece, uint64_t start, size_t size)
{
	ck_assert(rcore_piece_set(piece, start, size));
	memset(piece->bytes, 0, size);
	piece->read = size;
}

static void begin(void)
{
	static const uint64_t addresses[] = {FIRST, SECOND};
	layout = table_of("3.3.8-x86_64");
	sampler = (struct rcore_sampler){.layout = &layout, .sleeping = 1};
	sampler.ractors.items = &ractor;
	sampler.ractors.count = 1;
	sampler.threads.items = known;
	sampler.threads.count = RCORE_COUNT(known);
	ractor.address = ID_RACTOR;
	fill(&ractor.piece, ID_RACTOR, 4096);
	for (size_t i = 0; i < RCORE_COUNT(threads); i++) {
		threads[i].address = addresses[i];
		threads[i].ractor = ID_RACTOR;
		fill(&threads[i].track.stack.pieces[RCORE_PIECE_THREAD], addresses[i],
		     layout.thread.size);
	}
	put(&ractor.piece, layout.ractor.threads_set.offset, node_of(FIRST), sizeof(uint64_t));
	link_thread(0, node_of(SECOND));
	link_thread(1, head());
	set_last(SECOND);
	set_count(2);
}

static void end(void)
{
	free(ractor.piece.bytes);
	ractor = (struct rcore_sampled_ractor){0};
	for (size_t i = 0; i < RCORE_COUNT(threads); i++) {
		rcore_stack_deinit(&threads[i].track.stack);
		threads[i] = (struct rcore_sampled_thread){0};
	}
}

START_TEST(known_threads)
{
	begin();
	ck_assert(rcore_sampler_list_holds(&sampler));
	ck_assert(sampler.are_counted);
	end();
}
END_TEST

/* Without the count, the old copy proves nothing. */
START_TEST(counted_threads)
{
	begin();
	set_count(3);
	ck_assert(!rcore_sampler_list_holds(&sampler));
	ck_assert(!sampler.are_counted);
	sampler.sleeping = 0;
	ck_assert(rcore_sampler_list_holds(&sampler));
	end();
	begin();
	set_last(OTHER);
	ck_assert(!rcore_sampler_list_holds(&sampler));
	end();
}
END_TEST

/*
 * A thread has ended and another one has begun, so that the old copy has an old
 * link. It must be read again, or the list would not hold in the next tick.
 */
START_TEST(changed_threads)
{
	begin();
	link_thread(1, node_of(OTHER));
	set_last(OTHER);
	ck_assert(!rcore_sampler_list_holds(&sampler));
	ck_assert(!sampler.are_counted);
	end();
	begin();
	link_thread(0, node_of(OTHER));
	ck_assert(!rcore_sampler_list_holds(&sampler));
	ck_assert(!sampler.are_counted);
	end();
}
END_TEST

/* The list of a Ruby that starts is empty; later, Ractors come and go. */
START_TEST(changed_ractors)
{
	begin();
	sampler.ractors.count = sampler.threads.count = 0;
	ck_assert(!rcore_sampler_list_holds(&sampler));
	end();
	begin();
	const uint64_t ends[] = {ID_RACTOR, OTHER};
	fill(&sampler.ractor_list, VM, sizeof(ends));
	memcpy(sampler.ractor_ends, ends, sizeof(ends));
	for (int i = 0; i < (int)RCORE_COUNT(ends); i++) {
		for (int j = 0; j < (int)RCORE_COUNT(ends); j++)
			put(&sampler.ractor_list, j * (int)sizeof(*ends), ends[j],
			    sizeof(*ends));
		ck_assert(rcore_sampler_list_holds(&sampler));
		put(&sampler.ractor_list, i * (int)sizeof(*ends), SECOND, sizeof(*ends));
		ck_assert(!rcore_sampler_list_holds(&sampler));
	}
	free(sampler.ractor_list.bytes);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {known_threads, counted_threads, changed_threads,
				      changed_ractors};
	const struct rcore_test_suite suite = {
		.name = "thread list", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
