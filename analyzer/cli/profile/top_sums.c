/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "base/grow.h"
#include "cli/profile/top_screen.h"
#include "report/profile/application.h"

/* Sums of the samples of the last seconds. */

/* Begins a second, in place of the oldest one. */
static void turn(struct rcore_top *top)
{
	uint64_t now = rcore_clock_ns();
	top->seconds++;
	top->slot = (top->slot + 1) % RCORE_TOP_WINDOW;
	top->elapsed[top->slot] =
		top->turned ? now - top->turned : (uint64_t)(top->summary.seconds * 1e9);
	top->turned = now;
	for (size_t i = 0; i < top->methods.count; i++)
		for (size_t mode = 0; mode < RCORE_TOP_MODES; mode++)
			for (size_t j = 0; j < RCORE_TOP_ORDERS; j++)
				top->methods.items[i].times[mode][j][top->slot] = 0;
	for (size_t i = 0; i < top->threads.count; i++)
		for (size_t j = 0; j < RCORE_SAMPLE_STATES; j++)
			top->threads.items[i].states[j][top->slot] = 0;
	for (size_t i = 0; i < top->processes.count; i++) {
		struct rcore_top_process *process = &top->processes.items[i];
		process->cpu[top->slot] = process->threads[top->slot] =
			process->gvl[top->slot] = 0;
	}
}

static bool reserve(struct rcore_top *top)
{
	while (top->methods.count < top->profile->functions.count)
		if (!rcore_push(&top->methods))
			return false;
	while (top->threads.count < top->profile->threads.count)
		if (!rcore_push(&top->threads))
			return false;
	while (top->processes.count < top->profile->processes.count)
		if (!rcore_push(&top->processes))
			return false;
	return true;
}

/* Adds the times of a sample to the self, total or application times. */
static void add_times(struct rcore_top *top, struct rcore_top_method *method,
		      enum rcore_top_order order, const struct rcore_profile_sample *sample)
{
	method->times[RCORE_TOP_CPU][order][top->slot] += sample->cpu;
	method->times[RCORE_TOP_WALL][order][top->slot] += sample->wall;
}

static void add_to_process(struct rcore_top *top, const struct rcore_profile_sample *sample,
			   uint32_t state)
{
	uint32_t number = rcore_profile_thread_at(top->profile, sample->thread)->process;
	struct rcore_top_process *process = &top->processes.items[number];
	process->cpu[top->slot] += sample->cpu;
	if (state != RCORE_SAMPLE_PARKED)
		process->threads[top->slot] += sample->wall;
	if (state == RCORE_SAMPLE_GVL)
		process->gvl[top->slot] += sample->wall;
}

/* `owners` is that of rcore_application_owners(). */
static void add_sample(struct rcore_top *top, const struct rcore_profile_sample *sample,
		       const uint32_t *owners)
{
	const struct rcore_profile *profile = top->profile;
	uint32_t state = rcore_profile_state_at(profile, sample->state)->kind;
	bool is_innermost = true;
	top->samples++;
	add_to_process(top, sample, state);
	if (state != RCORE_SAMPLE_PARKED && state < RCORE_SAMPLE_STATES)
		top->threads.items[sample->thread].states[state][top->slot] += sample->wall;
	if (owners[sample->node])
		add_times(top, &top->methods.items[owners[sample->node]], RCORE_TOP_OWN,
			  sample);
	for (uint32_t node = sample->node; node;
	     node = rcore_profile_node_at(profile, node)->parent) {
		uint32_t frame = rcore_profile_node_at(profile, node)->frame;
		struct rcore_top_method *method =
			&top->methods.items[rcore_profile_frame_at(profile, frame)->function];
		if (is_innermost)
			add_times(top, method, RCORE_TOP_SELF, sample);
		is_innermost = false;
		if (method->seen != top->samples)
			add_times(top, method, RCORE_TOP_TOTAL, sample);
		method->seen = top->samples;
	}
}

bool rcore_top_add_samples(struct rcore_top *top)
{
	struct rcore_profile *profile = top->profile;
	turn(top);
	uint32_t *owners = rcore_application_owners(profile);
	if (!owners || !reserve(top)) {
		free(owners);
		return false;
	}
	for (size_t i = 0; i < profile->samples.count; i++)
		add_sample(top, &profile->samples.items[i], owners);
	free(owners);
	return true;
}

void rcore_top_forget(struct rcore_top *top)
{
	top->profile->samples.count = 0;
	if (rcore_profile_memory(top->profile) < RCORE_PROFILE_MEMORY_MAX)
		return;
	rcore_profile_clear(top->profile);
	top->methods.count = top->threads.count = top->processes.count = 0;
}
