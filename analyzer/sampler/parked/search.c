/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "sampler/sampler_private.h"
#include "vm/find/fiber_search.h"
#include "vm/vm.h"

/*
 * Fibers that were created since the last round are found by reading the list
 * of all. From 3.3 on, that is the VM's list; before, it requires a walk over
 * the heap. rcore spends at most 1/SEARCH_SHARE of a processor on that, ten
 * times less on walks if these find nothing new, and less still as long as each
 * thread has only been seen with one fiber, and no other one was found. It does
 * not look if no thread has run since the last time. When a thread is seen to
 * run a fiber, that fiber is known from then on.
 */
enum { SEARCH_SHARE = 100, SEARCH_SHARE_IDLE = 1000, SEARCH_SHARE_NONE = 5000 };

static uint64_t largest_share(const struct rcore_sampler *sampler)
{
	return sampler->has_fibers ? SEARCH_SHARE_IDLE : SEARCH_SHARE_NONE;
}

/* Returns how much longer than a search the pause after it must be. */
static uint64_t share_of(const struct rcore_sampler *sampler, bool found)
{
	const uint64_t largest = largest_share(sampler);
	if (found || sampler->layout->traits.fibers_listed || !sampler->search_share)
		return SEARCH_SHARE;
	return sampler->search_share < largest / 2 ? 2 * sampler->search_share : largest;
}

/* The second fiber that a thread is seen to run shortens a long pause. */
static bool is_pausing(const struct rcore_sampler *sampler, uint64_t now)
{
	uint64_t share = sampler->search_share, largest = largest_share(sampler);
	if (share > largest)
		share = largest;
	return now - sampler->last_search < share * sampler->search_cost;
}

/* Notes whether the thread runs another fiber than at first. */
static void look_at_first(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			  uint64_t fiber)
{
	if (!thread->first_fiber)
		thread->first_fiber = fiber;
	sampler->has_fibers |= fiber != thread->first_fiber;
}

static struct rcore_error *add(void *context, uint64_t address)
{
	struct rcore_sampler *sampler = context;
	if (sampler->parked.count >= RCORE_FIBER_LIMIT ||
	    rcore_address_map_get(&sampler->parked_at, address) >= 0)
		return NULL;
	struct rcore_parked *parked = calloc(1, sizeof(*parked));
	struct rcore_parked **slot = parked ? rcore_push(&sampler->parked) : NULL;
	if (!slot) {
		free(parked);
		return rcore_error_no_memory();
	}
	*slot = parked;
	parked->address = address;
	parked->number = sampler->fibers_found++;
	parked->begun = sampler->last_search ? sampler->fiber_rounds : 0;
	parked->looked = sampler->complete;
	if (sampler->complete)
		parked->unseen = sampler->last_fibers - sampler->complete;
	parked->track.stack.ec = address + (uint64_t)sampler->layout->fiber.saved_ec.offset;
	if (!rcore_address_map_put(&sampler->parked_at, address, 1))
		return rcore_error_no_memory();
	return NULL;
}

static int by_address(const void *left, const void *right)
{
	const struct rcore_parked *const *a = left, *const *b = right;
	return (*a)->address < (*b)->address ? -1 : (*a)->address > (*b)->address;
}

/* With ruby->live, two threads read a large heap with few system calls. */
static struct rcore_error *search(struct rcore_sampler *sampler, uint64_t any)
{
	struct rcore_ruby *ruby = &sampler->codes.ruby;
	struct rcore_snapshot ignored = {0};
	ruby->live = sampler->live;
	ruby->reads_now = true;
	struct rcore_error *err =
		rcore_fiber_search(ruby, NULL, sampler->vm, any, add, sampler, &ignored);
	ruby->live = NULL;
	ruby->reads_now = false;
	rcore_arena_deinit(&ignored.arena);
	return err;
}

struct rcore_error *rcore_parked_search(struct rcore_sampler *sampler, uint64_t now)
{
	struct rcore_error *err = NULL;
	uint64_t any = 0;
	for (size_t i = 0; !err && i < sampler->threads.count; i++) {
		struct rcore_sampled_thread *thread = sampler->threads.items[i];
		uint64_t ec = thread->track.stack.ec;
		if (!ec)
			continue;
		any = ec - (uint64_t)sampler->layout->fiber.saved_ec.offset;
		look_at_first(sampler, thread, any);
		err = add(sampler, any);
	}
	if (sampler->last_search && (sampler->have_all_rested || is_pausing(sampler, now))) {
		if (sampler->have_all_rested)
			sampler->complete = now;
		return err;
	}
	sampler->have_all_rested = true;
	const uint64_t begun = rcore_clock_process_ns();
	size_t before = sampler->parked.count;
	if (!err)
		err = search(sampler, any);
	if (sampler->parked.count)
		qsort(sampler->parked.items, sampler->parked.count,
		      sizeof(*sampler->parked.items), by_address);
	sampler->complete = now;
	sampler->last_search = rcore_clock_ns();
	sampler->search_cost = rcore_clock_process_ns() - begun;
	sampler->has_fibers |= sampler->parked.count > before;
	sampler->search_share = share_of(sampler, sampler->parked.count > before);
	return err;
}
