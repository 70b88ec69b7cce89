/* SPDX-License-Identifier: MIT */
#include "cli/profile/record_summary.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/signal_name.h"
#include "base/text.h"

/* What follows the number of events. */
static const char *unit_of(const struct rcore_record_summary *shown)
{
	bool is_one = shown->summary->total.samples == 1;
	if (shown->is_functions)
		return is_one ? "call" : "calls";
	if (shown->is_calls)
		return is_one ? "system call" : "system calls";
	return is_one ? "time" : "times";
}

void rcore_record_progress(const struct rcore_record_summary *shown)
{
	const struct rcore_sampling_summary *summary = shown->summary;
	if (shown->is_off_cpu || shown->is_calls) {
		fprintf(stderr,
			"\rrcore: %.0f s, %s%llu %s, rcore uses %.1f %% of a processor (Ctrl-C "
			"stops it)\033[K",
			summary->seconds,
			shown->is_calls ? "" : "threads left their processors ",
			(unsigned long long)summary->total.samples, unit_of(shown),
			summary->own_percent);
		fflush(stderr);
		return;
	}
	fprintf(stderr,
		"\rrcore: %.0f s, %llu sample%s at %.1f per second, %llu read again, rcore "
		"uses "
		"%.1f %% of a processor (Ctrl-C stops it)\033[K",
		summary->seconds, (unsigned long long)summary->total.samples,
		rcore_plural(summary->total.samples), summary->achieved,
		(unsigned long long)summary->total.rejected, summary->own_percent);
	fflush(stderr);
}

/* Writes what became of the program that rcore started. */
static void write_program(const struct rcore_started *started, FILE *out)
{
	char name[RCORE_SIGNAL_SIZE];
	if (!started->has_ended)
		fprintf(out, "; the program continues as process %d", started->pid);
	else if (WIFSIGNALED(started->status))
		fprintf(out, "; %s ended the program",
			rcore_signal_name(WTERMSIG(started->status), name));
	else if (WEXITSTATUS(started->status))
		fprintf(out, "; the program ended with exit status %d",
			WEXITSTATUS(started->status));
}

void rcore_record_write_end(const struct rcore_record_summary *shown, FILE *out)
{
	const struct rcore_sampling_summary *summary = shown->summary;
	char why[2 * sizeof(summary->why)];
	if (shown->started) {
		write_program(shown->started, out);
		return;
	}
	if (summary->is_alive && !summary->is_foreign)
		fprintf(out, "; the process can no longer be sampled%s%s",
			summary->why[0] ? ": " : "",
			rcore_escape(why, sizeof(why), summary->why));
	else if (summary->is_alive)
		fputs("; the process became a program that is not Ruby", out);
	else if (summary->has_executed)
		fputs("; the process became another program", out);
	if (summary->has_ended && !summary->is_alive)
		fputs(summary->has_executed    ? ", and ended"
		      : summary->processes > 1 ? "; all processes ended"
					       : "; the process ended",
		      out);
}

static void summarize_own(const struct rcore_record_summary *shown)
{
	rcore_record_write_end(shown, stderr);
	fprintf(stderr, "; rcore used %.2f %% of a processor\n", shown->summary->own_percent);
}

/* Of native frames in records of the BPF program. */
static void summarize_unwinding(const struct rcore_record_summary *shown)
{
	const struct rcore_sampler_statistics *total = &shown->summary->total;
	if (!shown->is_native)
		return;
	fprintf(stderr, "; %llu of %llu native stack%s could not be unwound completely",
		(unsigned long long)total->not_unwound, (unsigned long long)total->unwound,
		rcore_plural(total->unwound));
}

static void summarize_labels(const struct rcore_sampler_statistics *total)
{
	if (total->unlabelled)
		fprintf(stderr, ", %llu %s a label that changed before rcore could read it",
			(unsigned long long)total->unlabelled,
			total->unlabelled == 1 ? "lacks" : "lack");
}

static void summarize_events(const struct rcore_record_summary *shown)
{
	const struct rcore_sampling_summary *summary = shown->summary;
	const struct rcore_sampler_statistics *total = &summary->total;
	fprintf(stderr, "rcore: in %.1f s, %s%llu %s; %llu record%s lost", summary->seconds,
		shown->is_calls ? "" : "threads left their processors ",
		(unsigned long long)total->samples, unit_of(shown),
		(unsigned long long)total->overruns, total->overruns == 1 ? " was" : "s were");
	if (total->overruns)
		fputs(" because rcore was too slow", stderr);
	if (total->unread)
		fprintf(stderr, ", %llu stack%s could not be read",
			(unsigned long long)total->unread, rcore_plural(total->unread));
	summarize_labels(total);
	summarize_unwinding(shown);
	summarize_own(shown);
}

/* Summarizes the samples of the BPF program. */
static void summarize_copied(const struct rcore_record_summary *shown)
{
	const struct rcore_sampling_summary *summary = shown->summary;
	const struct rcore_sampler_statistics *total = &summary->total;
	fprintf(stderr,
		"rcore: %llu sample%s in %.1f s, %zu per second on a processor; %llu %s lost",
		(unsigned long long)total->samples, rcore_plural(total->samples),
		summary->seconds, shown->rate, (unsigned long long)total->overruns,
		total->overruns == 1 ? "was" : "were");
	if (total->overruns)
		fputs(" because rcore was too slow", stderr);
	if (total->unread || total->foreign)
		fprintf(stderr, ", %llu %s no Ruby stack (%llu could not be read)",
			(unsigned long long)total->foreign,
			total->foreign == 1 ? "has" : "have",
			(unsigned long long)total->unread);
	summarize_labels(total);
	if (summary->copied < summary->processes)
		fprintf(stderr, "; %zu of %zu process%s %s sampled without BPF",
			summary->processes - summary->copied, summary->processes,
			summary->processes == 1 ? "" : "es",
			summary->processes - summary->copied == 1 ? "was" : "were");
	summarize_unwinding(shown);
	summarize_own(shown);
}

static void summarize_failures(const struct rcore_sampler_statistics *total)
{
	char name[4 * sizeof(total->tracer_name)];
	if (!total->not_stopped)
		return;
	fprintf(stderr, "; the process could not be stopped %llu time%s",
		(unsigned long long)total->not_stopped, rcore_plural(total->not_stopped));
	if (total->tracer)
		fprintf(stderr, " because process %d%s%s%s traces it", total->tracer,
			total->tracer_name[0] ? " (" : "",
			rcore_escape(name, sizeof(name), total->tracer_name),
			total->tracer_name[0] ? ")" : "");
	fputs(", so native frames are missing", stderr);
}

/* Of parked fibers, if there were too many for the rate. */
static void summarize_fibers(const struct rcore_sampler_statistics *total)
{
	double all = (double)(total->parked + total->parked_left);
	if (total->parked_left)
		fprintf(stderr,
			"; parked fibers were sampled %.1f times per second (--fiber-rate %d "
			"samples all of them)",
			RCORE_SAMPLER_FIBER_RATE * (double)total->parked / all,
			RCORE_SAMPLER_FIBER_RATE);
}

static void summarize_queue(const struct rcore_record_summary *shown)
{
	double queued = rcore_sampling_queued_percent(&shown->summary->total);
	if (queued > 0 && !shown->has_table)
		fprintf(stderr,
			"; threads waited for a processor for %.0f %% of the time, so the CPU "
			"times of methods may be wrong (--ebpf measures them)",
			queued);
}

static void summarize(const struct rcore_record_summary *shown)
{
	const struct rcore_sampling_summary *summary = shown->summary;
	const struct rcore_sampler_statistics *total = &summary->total;
	double asked = (double)shown->rate;
	fprintf(stderr, "rcore: %llu sample%s in %.1f s, %.1f per second%s; %llu %s read again",
		(unsigned long long)total->samples, rcore_plural(total->samples),
		summary->seconds, summary->achieved,
		summary->achieved < 0.95 * asked
			? " (fewer than requested: rcore got too little time)"
			: "",
		(unsigned long long)total->rejected, total->rejected == 1 ? "was" : "were");
	if (total->partial || total->lost)
		fprintf(stderr, ", %llu %s outer frames only, %llu %s no frames",
			(unsigned long long)total->partial,
			total->partial == 1 ? "has" : "have", (unsigned long long)total->lost,
			total->lost == 1 ? "has" : "have");
	summarize_labels(total);
	if (total->stopped)
		fprintf(stderr,
			"; stopped %llu time%s, for %.1f ms on average and %.1f at most",
			(unsigned long long)total->stopped, rcore_plural(total->stopped),
			(double)total->stopped_ns / 1e6 / (double)total->stopped,
			(double)total->longest_stop_ns / 1e6);
	summarize_failures(total);
	summarize_fibers(total);
	summarize_queue(shown);
	summarize_own(shown);
}

void rcore_record_end(const struct rcore_record_summary *shown)
{
	if (shown->is_terminal)
		fputs("\r\033[K", stderr);
	if (shown->is_off_cpu || shown->is_calls)
		summarize_events(shown);
	else if (shown->summary->copied)
		summarize_copied(shown);
	else
		summarize(shown);
}

void rcore_left_out_add(struct rcore_left_out *left_out, int pid, const char *title,
			const char *why)
{
	enum { NAMED = 4, WHY_SIZE = 160 };
	size_t used = strlen(left_out->text);
	char name[48], reason[WHY_SIZE];
	if (left_out->count++ >= NAMED)
		return;
	left_out->named++;
	rcore_escape(name, sizeof(name), title ? title : "");
	rcore_format(left_out->text + used, sizeof(left_out->text) - used, "%s%d%s%s%s: %s",
		     used ? "; " : "", pid, name[0] ? " (" : "", name, name[0] ? ")" : "",
		     rcore_escape(reason, sizeof(reason), why));
}

void rcore_left_out_print(const struct rcore_left_out *left_out)
{
	if (!left_out->count)
		return;
	fprintf(stderr, "rcore: %zu Ruby process%s could not be sampled: %s%s\n",
		left_out->count, left_out->count > 1 ? "es" : "", left_out->text,
		left_out->count > left_out->named ? "; ..." : "");
}
