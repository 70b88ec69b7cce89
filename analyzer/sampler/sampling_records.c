/* SPDX-License-Identifier: MIT */
#include "sampler/sampling_private.h"

#include "base/clock.h"
#include "base/hot.h"

enum {
	SECOND = 1000000000,
	/*
	 * How long one read may take. It would never end if records came faster
	 * than rcore adds them.
	 */
	READ_NS = 100000000,
};

/*
 * How long the last read may take, after a process or the recording has ended.
 * What is left then counts as lost. rcore can add a full ring buffer in two
 * seconds on a processor.
 */
static const uint64_t last_read_limit = 10ull * SECOND;

static void decode(struct rcore_sampling *sampling, struct rcore_member *member,
		   const struct rcore_bpf_record *record, size_t size)
{
	uint64_t cpu = (uint64_t)(SECOND / sampling->options->rate);
	if (record->kind == RCORE_BPF_SAMPLE)
		sampling->failure = rcore_sampler_add_record(member->sampler, record, cpu);
	else if (record->kind == RCORE_BPF_CALLED || record->kind == RCORE_BPF_ENTERED)
		sampling->failure = rcore_sampler_add_call(member->sampler, record);
	else
		sampling->failure = rcore_sampler_add_switch(member->sampler, record, size);
}

static bool add_record(const struct rcore_bpf_record *record, size_t size, void *context)
{
	struct rcore_sampling *sampling = context;
	struct rcore_reading *reading = &sampling->reading;
	struct rcore_member *member = rcore_member_find(sampling, (int)record->pid);
	bool is_late = rcore_clock_ns() >= reading->deadline;
	/* A record that is passed to this function is consumed: add it, too. */
	bool is_beyond = record->time > reading->begun;
	if (member && member->sampler && member->is_copied) {
		if (reading->is_last && is_late)
			sampling->late++;
		else
			decode(sampling, member, record, size);
	}
	if (reading->is_last)
		return !is_beyond && !sampling->failure;
	if (!is_late && !rcore_sampling_is_stopped(sampling->options))
		return !sampling->failure;
	reading->reached = record->time;
	return false;
}

static RCORE_HOT struct rcore_error *read_records(struct rcore_sampling *sampling)
{
	const struct rcore_sampling_options *options = sampling->options;
	uint64_t reached = sampling->reading.begun;
	if (options->bpf)
		options->engine->consume(options->bpf, add_record, sampling);
	if (sampling->reading.reached && sampling->reading.reached < reached)
		reached = sampling->reading.reached;
	for (size_t i = 0; options->bpf && i < sampling->members.count; i++)
		if (sampling->members.items[i].is_copied)
			rcore_sampler_end_records(sampling->members.items[i].sampler, reached);
	struct rcore_error *err = sampling->failure;
	sampling->failure = NULL;
	return err;
}

RCORE_HOT struct rcore_error *rcore_records_add(struct rcore_sampling *sampling)
{
	uint64_t now = rcore_clock_ns();
	sampling->reading = (struct rcore_reading){.begun = now, .deadline = now + READ_NS};
	return read_records(sampling);
}

struct rcore_error *rcore_records_add_last(struct rcore_sampling *sampling, uint64_t now)
{
	sampling->reading = (struct rcore_reading){
		.begun = rcore_clock_ns(), .deadline = now + last_read_limit, .is_last = true};
	return read_records(sampling);
}
