/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "sampler/sampling_private.h"

enum { SECOND = 1000000000 };

double rcore_sampling_cpu(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
	       (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

void rcore_statistics_add(struct rcore_sampler_statistics *total,
			  const struct rcore_sampler_statistics *one)
{
	total->samples += one->samples;
	total->rejected += one->rejected;
	total->partial += one->partial;
	total->unlabelled += one->unlabelled;
	total->lost += one->lost;
	total->unfilled += one->unfilled;
	total->ran_ns += one->ran_ns;
	total->queued_ns += one->queued_ns;
	total->reads += one->reads;
	total->parked += one->parked;
	total->parked_left += one->parked_left;
	total->stopped += one->stopped;
	total->stopped_ns += one->stopped_ns;
	if (one->longest_stop_ns > total->longest_stop_ns)
		total->longest_stop_ns = one->longest_stop_ns;
	total->not_stopped += one->not_stopped;
	if (!total->tracer && one->tracer) {
		total->tracer = one->tracer;
		memcpy(total->tracer_name, one->tracer_name, sizeof(total->tracer_name));
	}
	total->gaps += one->gaps;
	total->unwound += one->unwound;
	total->not_unwound += one->not_unwound;
	total->foreign += one->foreign;
	total->threads += one->threads;
	total->fibers += one->fibers;
}

double rcore_sampling_queued_percent(const struct rcore_sampler_statistics *statistics)
{
	double all = (double)statistics->ran_ns + (double)statistics->queued_ns;
	double percent = all > 0 ? 100 * (double)statistics->queued_ns / all : 0;
	return percent < RCORE_SAMPLING_QUEUED ? 0 : percent;
}

void rcore_sampling_summary(const struct rcore_sampling *sampling,
			    struct rcore_sampling_summary *ret)
{
	*ret = sampling->summary;
	for (size_t i = 0; i < sampling->members.count; i++)
		if (sampling->members.items[i].sampler)
			rcore_statistics_add(
				&ret->total,
				rcore_sampler_statistics(sampling->members.items[i].sampler));
	const uint64_t now = rcore_clock_ns();
	const uint64_t end = sampling->ended ? sampling->ended : now;
	ret->total.ticks = sampling->ticks;
	ret->seconds = sampling->begun ? (double)(end - sampling->begun) / SECOND : 0;
	ret->achieved = ret->seconds > 0 ? (double)sampling->ticks / ret->seconds : 0;
	double elapsed = sampling->begun ? (double)(now - sampling->begun) / SECOND : 0;
	ret->own_percent =
		elapsed > 0 ? 100 * (rcore_sampling_cpu() - sampling->cpu_begun) / elapsed : 0;
	if (!ret->copied)
		return;
	struct rcore_bpf_counts counts;
	sampling->options->engine->counts(sampling->options->bpf, &counts);
	ret->total.overruns = counts.overruns + sampling->late;
	ret->total.unread = counts.unread;
	double taken = (double)ret->total.samples;
	ret->achieved = taken > 0 ? sampling->options->rate * taken /
					    (taken + (double)ret->total.overruns)
				  : 0;
}

/*
 * Whether a program that has ended may be the reason for this error. It may
 * still have been the loader of the program, or a VM that was being made.
 */
static bool is_of_start(const struct rcore_error *err)
{
	return !err || err->code == RCORE_ERROR_NOT_RUBY || err->code == RCORE_ERROR_CORRUPT ||
	       err->code == RCORE_ERROR_FAULT || err->code == RCORE_ERROR_OS;
}

/* Returns the error of a program that ended soon after its start, or NULL. */
static struct rcore_error *why_too_late(const struct rcore_sampling *sampling,
					const struct rcore_error *last)
{
	enum { SOON = 1000000000 };
	const struct rcore_sampling_options *options = sampling->options;
	uint64_t lived = rcore_clock_ns() - options->began;
	enum rcore_error_code code = last ? last->code : RCORE_ERROR_OS;
	bool is_foreign = code == RCORE_ERROR_NOT_RUBY,
	     has_more = last && code == RCORE_ERROR_OS;
	if (!options->began || lived >= SOON || !is_of_start(last) ||
	    rcore_process_is_alive(options->pid))
		return NULL;
	return rcore_error_create(is_foreign ? RCORE_ERROR_NOT_RUBY : RCORE_ERROR_OS,
				  "no samples: the program ended within %.1f s of its start, "
				  "before %s%s%s",
				  ceil((double)lived / 1e8) / 10,
				  is_foreign ? "it was seen to run Ruby" : "the first one",
				  has_more ? "; " : "", has_more ? last->message : "");
}

struct rcore_error *rcore_sampling_why_nothing(struct rcore_sampling *sampling,
					       struct rcore_error *last)
{
	if (sampling->options->system) {
		rcore_error_free(last);
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "no Ruby process could be sampled");
	}
	if (!last && sampling->members.count) {
		last = sampling->members.items[0].problem;
		sampling->members.items[0].problem = NULL;
	}
	struct rcore_error *err = why_too_late(sampling, last);
	if (!err)
		return last;
	rcore_error_free(last);
	return err;
}
