/* SPDX-License-Identifier: MIT */
/* Compares owners of random chunks with what a naive search finds. */
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "fake_target.h"
#include "malloc/owners.h"
#include "random_heap.h"
#include "suite.h"

enum { CHUNKS = 60, OWNERS = 4, WORDS = 6, WORLDS = 300, FAR = 1000 };

static struct {
	struct fake_target target;
	struct rcore_malloc heap;
	struct rcore_malloc_parts parts;
	struct rcore_chunk_region region;
	uint32_t offset[CHUNKS];
	uint8_t state[CHUNKS];
	uint64_t address[CHUNKS];
	/* What chunks and owners point to; a chunk is free if its state says so. */
	uint64_t words[CHUNKS][WORDS], roots[OWNERS][WORDS];
	struct rcore_chunk_owners owners;
	uint64_t seed;
} world;

static uint64_t draw_word(void)
{
	uint64_t address = world.address[random_below(&world.seed, CHUNKS)];
	switch (random_below(&world.seed, 4)) {
	case 0:
		return address;
	case 1:
		return address + 8; /* into it */
	default:
		return random_below(&world.seed, 2) ? 0 : address - 16;
	}
}

static void begin(uint64_t seed)
{
	enum { CHUNK_SIZE = 16 + WORDS * 8 };
	memset(&world, 0, sizeof(world));
	world.seed = seed;
	fake_target_init(&world.target);
	uint64_t start = fake_alloc(&world.target, CHUNKS * CHUNK_SIZE + 16, 16);
	world.region = (struct rcore_chunk_region){
		.start = start, .end = start + CHUNKS * CHUNK_SIZE, .count = CHUNKS};
	world.heap = (struct rcore_malloc){
		.is_known = true,
		.regions = &world.region,
		.region_count = 1,
		.offset = world.offset,
		.state = world.state,
		.chunk_count = CHUNKS,
	};
	for (uint32_t i = 0; i < CHUNKS; i++) {
		world.offset[i] = i * CHUNK_SIZE / 16;
		world.address[i] = start + i * CHUNK_SIZE + 16;
		if (random_below(&world.seed, 10) == 0)
			world.state[i] = RCORE_CHUNK_FREE;
	}
	for (int i = 0; i < CHUNKS; i++)
		for (int k = 0; k < WORDS; k++)
			if (random_below(&world.seed, 4) == 0) {
				world.words[i][k] = draw_word();
				fake_put(&world.target, world.address[i] + (uint64_t)k * 8,
					 world.words[i][k]);
			}
	for (int i = 0; i < OWNERS; i++)
		for (int k = 0; k < WORDS / 2; k++)
			world.roots[i][k] = draw_word();
	ck_assert_ptr_null(rcore_chunk_owners_init(&world.target.memory, &world.parts,
						   &world.heap, &world.owners));
}

static void end(void)
{
	rcore_chunk_owners_deinit(&world.owners);
	fake_target_deinit(&world.target);
}

static int lead(uint64_t word, bool inside)
{
	for (int i = 0; i < CHUNKS; i++)
		if (world.state[i] == RCORE_CHUNK_USED &&
		    (word == world.address[i] || (inside && word > world.address[i] &&
						  word < world.address[i] + WORDS * 8)))
			return i;
	return -1;
}

/* How many pointers lead from an owner to each chunk. */
static void measure(int owner, bool inside, int *distance)
{
	for (int i = 0; i < CHUNKS; i++)
		distance[i] = FAR;
	for (int k = 0; k < WORDS; k++)
		if (lead(world.roots[owner][k], inside) >= 0)
			distance[lead(world.roots[owner][k], inside)] = 1;
	for (int step = 1; step < FAR; step++) {
		bool found = false;
		for (int i = 0; i < CHUNKS; i++) {
			for (int k = 0; distance[i] == step && k < WORDS; k++) {
				int next = lead(world.words[i][k], inside);
				if (next >= 0 && distance[next] > step + 1) {
					distance[next] = step + 1;
					found = true;
				}
			}
		}
		if (!found && step > CHUNKS)
			return;
	}
}

static void give_all(void)
{
	for (uint32_t i = 0; i < OWNERS; i++)
		rcore_chunk_owners_give(&world.owners, world.roots[i], WORDS, i);
	rcore_chunk_owners_follow(&world.owners);
}

static void expect_nearest(bool inside)
{
	static int distance[OWNERS][CHUNKS];
	for (int i = 0; i < OWNERS; i++)
		measure(i, inside, distance[i]);
	for (int n = 0; n < CHUNKS; n++) {
		int nearest = 0;
		for (int i = 1; i < OWNERS; i++)
			if (distance[i][n] < distance[nearest][n])
				nearest = i;
		if (distance[nearest][n] == FAR)
			ck_assert_uint_eq(world.owners.owner[n], RCORE_CHUNK_OWNER_NONE);
		else
			ck_assert_int_eq(distance[world.owners.owner[n]][n],
					 distance[nearest][n]);
	}
}

START_TEST(the_nearest_owner_gets_a_chunk)
{
	uint64_t seed = random_seed();
	for (int i = 0; i < WORLDS; i++) {
		begin(seed + (uint64_t)i);
		give_all();
		expect_nearest(false);
		end();
	}
}
END_TEST

/* Before any other search, so that distances are those of all pointers. */
START_TEST(pointers_into_chunks_lead_to_them)
{
	uint64_t seed = random_seed();
	for (int i = 0; i < WORLDS; i++) {
		begin(seed + (uint64_t)i);
		rcore_chunk_owners_look_inside(&world.owners);
		give_all();
		expect_nearest(true);
		end();
	}
}
END_TEST

/* What has an owner keeps it, and the rest is found by pointers into chunks. */
START_TEST(looking_inside_adds_owners)
{
	uint64_t seed = random_seed();
	for (int i = 0; i < WORLDS; i++) {
		uint32_t before[CHUNKS];
		int distance[CHUNKS];
		begin(seed + (uint64_t)i);
		give_all();
		memcpy(before, world.owners.owner, sizeof(before));
		rcore_chunk_owners_look_inside(&world.owners);
		give_all();
		for (int n = 0; n < CHUNKS; n++) {
			bool is_reached = false;
			for (int k = 0; k < OWNERS; k++) {
				measure(k, true, distance);
				is_reached |= distance[n] != FAR;
			}
			if (before[n] != RCORE_CHUNK_OWNER_NONE)
				ck_assert_uint_eq(world.owners.owner[n], before[n]);
			ck_assert((world.owners.owner[n] != RCORE_CHUNK_OWNER_NONE) ==
				  is_reached);
		}
		end();
	}
}
END_TEST

/* A chunk that was taken, or is text, is not followed. */
START_TEST(taken_chunks_lead_nowhere)
{
	begin(1);
	memset(world.state, RCORE_CHUNK_USED, sizeof(world.state));
	fake_put(&world.target, world.address[0], world.address[1]);
	rcore_chunk_owners_take(&world.owners, world.address[0] + 20, 3);
	rcore_chunk_owners_follow(&world.owners);
	ck_assert_uint_eq(world.owners.owner[0], 3);
	ck_assert_uint_eq(world.owners.owner[1], RCORE_CHUNK_OWNER_NONE);
	fake_put(&world.target, world.address[2], world.address[4]);
	uint64_t place = fake_alloc(&world.target, 8, 8);
	fake_put(&world.target, place, world.address[2]);
	rcore_chunk_owners_give_last(&world.owners, place, place + 8, 1);
	rcore_chunk_owners_follow(&world.owners);
	ck_assert_uint_eq(world.owners.owner[2], 1);
	ck_assert_uint_eq(world.owners.owner[4], RCORE_CHUNK_OWNER_NONE);
	/* Another owner cannot have it. */
	rcore_chunk_owners_give(&world.owners, world.address, 1, 2);
	ck_assert_uint_eq(world.owners.owner[0], 3);
	end();
}
END_TEST

/* Ranges with absent pages, odd ends, and of any length, are survived. */
START_TEST(absent_memory_is_left_out)
{
	begin(2);
	memset(world.state, RCORE_CHUNK_USED, sizeof(world.state));
	uint64_t place = fake_alloc(&world.target, 64, 8);
	fake_put(&world.target, place, world.address[5]);
	fake_put(&world.target, place + 56, world.address[6]);
	rcore_chunk_owners_give_range(&world.owners, place + 1, place + 63, 1);
	ck_assert_uint_eq(world.owners.owner[5], RCORE_CHUNK_OWNER_NONE);
	rcore_chunk_owners_give_range(&world.owners, place - 3, place + 63, 1);
	ck_assert_uint_eq(world.owners.owner[5], 1);
	ck_assert_uint_eq(world.owners.owner[6], RCORE_CHUNK_OWNER_NONE);
	rcore_chunk_owners_give_range(&world.owners, place + 1, place + 64, 2);
	ck_assert_uint_eq(world.owners.owner[6], 2);
	rcore_chunk_owners_give_range(&world.owners, 0x1000, UINT64_C(1) << 62, 1);
	rcore_chunk_owners_give_range(&world.owners, 5, 4, 1);
	rcore_chunk_owners_give_range(&world.owners, UINT64_MAX - 3, UINT64_MAX, 1);
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {the_nearest_owner_gets_a_chunk,
				      pointers_into_chunks_lead_to_them,
				      looking_inside_adds_owners, taken_chunks_lead_nowhere,
				      absent_memory_is_left_out};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "owners", .tests = tests, .count = RCORE_COUNT(tests), .timeout = 60});
}
