/* SPDX-License-Identifier: MIT */
#include "cli/profile/recording.h"

#include "base/count.h"
#include "sampler/bpf/engine.h"
#include "sampler/native/kernel_symbols.h"

/* Options, and what their BPF program does. */
static const struct {
	const char *option;
	struct rcore_bpf_options how;
} recordings[] = {
	{"--ebpf", {.event = RCORE_BPF_EVENT_CPU, .rate = 1}},
	{"--ebpf --native", {.event = RCORE_BPF_EVENT_CPU, .rate = 1, .native = true}},
	{"--ebpf --kernel", {.event = RCORE_BPF_EVENT_CPU, .rate = 1, .kernel = true}},
	{"--off-cpu", {.event = RCORE_BPF_EVENT_OFF_CPU}},
	{"--event", {.event = RCORE_BPF_EVENT_CALLS}},
	{"--system", {.event = RCORE_BPF_EVENT_CPU, .rate = 1}},
};

/* Without BPF, rcore samples all processes from user space. */
static bool needs_bpf(size_t index)
{
	return index + 1 < RCORE_COUNT(recordings);
}

static void print_names(FILE *out)
{
	struct rcore_kernel_symbols *symbols = NULL;
	struct rcore_error *err = rcore_kernel_symbols_read("/proc/kallsyms", &symbols);
	if (err || rcore_kernel_symbols_are_hidden(symbols))
		fputs(", but functions of the kernel have no names without CAP_SYSLOG", out);
	rcore_kernel_symbols_free(symbols);
	rcore_error_free(err);
}

void rcore_cli_print_recording(FILE *out)
{
	for (size_t i = 0; i < RCORE_COUNT(recordings); i++) {
		struct rcore_bpf *bpf = NULL;
		struct rcore_error *err = rcore_bpf_engine.open(&recordings[i].how, &bpf);
		if (!err)
			rcore_bpf_engine.close(bpf);
		fprintf(out, "rcore record %s %s", recordings[i].option,
			!err           ? "works here"
			: needs_bpf(i) ? "does not work here"
				       : "works here, but without BPF");
		if (err)
			fprintf(out, ": %s", err->message);
		else if (recordings[i].how.kernel)
			print_names(out);
		putc('\n', out);
		rcore_error_free(err);
	}
}
