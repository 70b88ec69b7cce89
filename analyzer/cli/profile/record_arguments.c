/* SPDX-License-Identifier: MIT */
#include "cli/profile/record_arguments.h"

#include <string.h>

#include "profile/format.h"
#include "sampler/sampler.h"

/* In the order of enum rcore_ebpf. */
static const char *const ebpf_names[] = {"no", "auto", "require", NULL};

const struct rcore_record_arguments rcore_record_defaults = {
	.ebpf = RCORE_EBPF_UNSAID,
};

#define MEMBER(name) offsetof(struct rcore_record_arguments, name)

const struct rcore_option rcore_record_options[] = {
	{"pid", 'p', RCORE_OPTION_PID, MEMBER(pid), "PID|NAME", "Sample a running process",
	 .completion = RCORE_COMPLETE_NOTHING},
	RCORE_PROFILE_OPTIONS(struct rcore_record_arguments, profile),
	{"duration", 'd', RCORE_OPTION_TIME, MEMBER(seconds), "TIME",
	 "Stop after TIME: seconds, or 90s, 5m or 1h; by default, when the program ends or at "
	 "Ctrl-C",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"rate", 'r', RCORE_OPTION_AMOUNT, MEMBER(rate), "HZ",
	 "Samples per second of each thread (99; 10 with --native and without BPF)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"fiber-rate", 0, RCORE_OPTION_AMOUNT, MEMBER(fiber_rate), "HZ",
	 "Samples per second of each fiber that no thread runs (10, or fewer if that would "
	 "take more than 1 % of a processor)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"children", 0, RCORE_OPTION_FLAG, MEMBER(children),
	 .help = "Also sample its descendants", .adds_descendants = true},
	{"system", 0, RCORE_OPTION_FLAG, MEMBER(system),
	 .help = "Sample each process of this machine that runs Ruby, as rcore ps lists them, "
		 "also in containers, and those that start later. Uses BPF, like --ebpf; with "
		 "--ebpf=no, samples them without BPF"},
	{"native", 0, RCORE_OPTION_FLAG, MEMBER(native),
	 .help = "Add native frames: stops the program briefly for each sample, but not with "
		 "--ebpf, --off-cpu or --event"},
	{"ebpf", 0, RCORE_OPTION_CHOICE, MEMBER(ebpf), "WHEN",
	 "Copy stacks in the kernel, and only of threads that run on a processor. auto (if "
	 "WHEN is left out): if this is impossible, say why and sample without BPF; require: "
	 "fail instead; no: the default, except with --system",
	 ebpf_names, .completion = RCORE_COMPLETE_NOTHING, .implied = "auto"},
	{"kernel", 0, RCORE_OPTION_FLAG, MEMBER(kernel),
	 .help = "Add the kernel's frames. Works with --ebpf, --system and --off-cpu"},
	{"off-cpu", 0, RCORE_OPTION_FLAG, MEMBER(off_cpu),
	 .help = "Instead of sampling, record each time that a thread leaves its processor: "
		 "where, and for how long. Needs BPF, like --ebpf"},
	{"event", 'e', RCORE_OPTION_LIST, MEMBER(events), "EVENT",
	 "Instead of sampling, record every event and its stack. syscalls:NAME,...: these "
	 "system calls when they return, and how many bytes they moved. "
	 "uprobe:FILE:FUNCTION,...: each call of these C functions of a library or program, "
	 "such as uprobe:libc.so.6:malloc. Can be repeated. Needs BPF, like --ebpf",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"label", 0, RCORE_OPTION_LIST, MEMBER(labels), "KEY",
	 "Keep only labels named KEY: a key of a fiber's context, or a field of what it works "
	 "on, such as request_id. Can be repeated",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"recognizers", 0, RCORE_OPTION_TEXT, MEMBER(recognizers), "FILE",
	 "Also find what fibers work on with the entries of FILE (see docs/recognizers.md)",
	 .completion = RCORE_COMPLETE_FILE},
	{0},
};

bool rcore_record_is_of_events(const struct rcore_record_arguments *asked)
{
	return asked->off_cpu || asked->events.count;
}

enum rcore_ebpf rcore_record_ebpf(const struct rcore_record_arguments *asked)
{
	if (asked->ebpf != RCORE_EBPF_UNSAID)
		return (enum rcore_ebpf)asked->ebpf;
	return asked->system ? RCORE_EBPF_AUTO : RCORE_EBPF_NO;
}

/* Without BPF, native frames need a stop, which takes a millisecond or more. */
size_t rcore_record_rate(const struct rcore_record_arguments *asked, bool has_bpf)
{
	if (asked->rate)
		return asked->rate;
	return asked->native && !has_bpf ? RCORE_SAMPLER_NATIVE_RATE : RCORE_SAMPLER_RATE;
}

/* Options of sampling cannot be used with events. */
static struct rcore_error *check_events(const struct rcore_record_arguments *asked,
					const struct rcore_bpf_options *how)
{
	const char *name = asked->off_cpu ? "off-cpu" : "event";
	const char *other = asked->off_cpu && asked->events.count ? "event"
			    : asked->rate                         ? "rate"
			    : asked->fiber_rate                   ? "fiber-rate"
								  : NULL;
	if (!rcore_record_is_of_events(asked))
		return asked->profile.mode == RCORE_MODE_BYTES
			       ? rcore_error_create(
					 RCORE_ERROR_USAGE,
					 "'--mode bytes' needs '--event=" RCORE_EVENT_CALLS
					 "NAME'")
			       : NULL;
	if (other)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "options '--%s' and '--%s' cannot be used together",
					  name, other);
	if (asked->ebpf == RCORE_EBPF_NO)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'--%s' needs BPF: leave out '--ebpf=no'", name);
	if (asked->profile.mode == RCORE_MODE_CPU)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'--%s' records no time on a processor: leave out "
					  "'--mode cpu'",
					  name);
	if (asked->profile.mode == RCORE_MODE_BYTES && (asked->off_cpu || how->function_count))
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'--mode bytes' needs '--event=" RCORE_EVENT_CALLS
					  "NAME'");
	return NULL;
}

static struct rcore_error *check_kernel(const struct rcore_record_arguments *asked)
{
	if (asked->kernel && asked->events.count)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"options '--event' and '--kernel' cannot be used together: when a "
			"system call returns, the kernel's functions that it called have "
			"returned");
	if (asked->kernel && !rcore_record_ebpf(asked) && !asked->off_cpu)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'--kernel' needs BPF: '--ebpf', '--off-cpu', or "
					  "'--system' without '--ebpf=no'");
	return NULL;
}

static struct rcore_error *check_target(const struct rcore_record_arguments *asked)
{
	const char *other = asked->pid             ? "option '-p'"
			    : asked->command.count ? "a command"
			    : asked->children      ? "option '--children'"
						   : NULL;
	if (asked->system)
		return other ? rcore_error_create(RCORE_ERROR_USAGE,
						  "%s cannot be used with '--system', which "
						  "samples each process that runs Ruby",
						  other)
			     : NULL;
	if (!asked->pid == !asked->command.count)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "name a process with -p PID or a command after --%s",
					  asked->pid ? ", not both" : ", or use --system");
	return NULL;
}

/* Without BPF, each process would be stopped at each sample. */
static struct rcore_error *check_native(const struct rcore_record_arguments *asked)
{
	if (asked->system && asked->native && !rcore_record_ebpf(asked) &&
	    !rcore_record_is_of_events(asked))
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"'--system --native' needs BPF: leave out '--ebpf=no' or '--native'");
	return NULL;
}

struct rcore_error *rcore_record_check(const struct rcore_record_arguments *asked,
				       const struct rcore_bpf_options *how)
{
	struct rcore_error *err = check_target(asked);
	if (!err)
		err = check_events(asked, how);
	if (!err)
		err = check_kernel(asked);
	if (!err)
		err = check_native(asked);
	if (err)
		return err;
	if (asked->rate > RCORE_SAMPLER_RATE_MAX || asked->fiber_rate > RCORE_SAMPLER_RATE_MAX)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "a rate can be at most %d samples per second",
					  RCORE_SAMPLER_RATE_MAX);
	return NULL;
}
