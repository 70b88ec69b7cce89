/* SPDX-License-Identifier: MIT */
/*
 * Prints how many nanoseconds each function of functions.bpf.c took, in the
 * order of functions.h, once enough calls were measured.
 *
 *	functions < params
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rcore/ruby.bpf.h>

#include "functions.h"
#include "functions.skel.h"

enum { ENOUGH = 2000, SECONDS = 30 };

int main(void)
{
	struct rcore_ruby_params params;
	const __u32 zero = 0;
	if (read(0, &params, sizeof(params)) != sizeof(params) ||
	    params.version != RCORE_RUBY_PARAMS_VERSION)
		return 1;
	struct functions *program = functions__open_and_load();
	if (program)
		program->bss->pid_namespace = params.pid_namespace;
	if (!program || functions__attach(program) ||
	    bpf_map__update_elem(program->maps.rubies, &zero, sizeof(zero), &params,
				 sizeof(params), BPF_ANY)) {
		fprintf(stderr, "BPF: %s\n", strerror(errno));
		return 2;
	}
	for (int i = 0; i < SECONDS && program->bss->calls[LABELLED] < ENOUGH * LABELS; i++)
		sleep(1);
	const double clock =
		(double)program->bss->nanoseconds[CLOCK] / (double)program->bss->calls[CLOCK];
	for (int i = 0; i < FUNCTIONS && program->bss->calls[LABELLED]; i++) {
		/* The clock is read once for all labels. */
		double calls = (double)program->bss->calls[i];
		double reads = i == LABELLED ? calls / LABELS : calls;
		printf("%.0f\n",
		       ((double)program->bss->nanoseconds[i] - (i ? reads * clock : 0)) /
			       calls);
	}
	functions__destroy(program);
	return 0;
}
