/* SPDX-License-Identifier: MIT */
/*
 * Counts the bytes that Ruby processes write with write(2), by the request_id
 * of the context in which they do it, until it is interrupted:
 *
 *	writes PID...
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <rcore/ruby.bpf.h>

#include "writes.h"
#include "writes.skel.h"

static int add(struct writes *program, const char *pid)
{
	char command[100];
	struct rcore_ruby_params params;
	snprintf(command, sizeof(command), "rcore bpf-params -p %lu --key request_id --binary",
		 strtoul(pid, NULL, 10));
	FILE *pipe = popen(command, "r");
	size_t count = pipe ? fread(&params, sizeof(params), 1, pipe) : 0;
	if (!pipe || pclose(pipe) || !count || params.version != RCORE_RUBY_PARAMS_VERSION)
		return -1;
	program->bss->pid_namespace = params.pid_namespace;
	return bpf_map__update_elem(program->maps.rubies, &params.pid, sizeof(params.pid),
				    &params, sizeof(params), BPF_ANY);
}

static void print(struct writes *program)
{
	struct request request, *last = NULL;
	struct count count;
	while (!bpf_map__get_next_key(program->maps.counts, last, &request, sizeof(request))) {
		bpf_map__lookup_elem(program->maps.counts, &request, sizeof(request), &count,
				     sizeof(count), 0);
		printf("%10llu bytes %8llu calls  %.*s\n", count.bytes, count.calls,
		       (int)sizeof(request.id), request.id);
		last = &request;
	}
}

int main(int argc, char **argv)
{
	sigset_t signals;
	int number;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	struct writes *program = writes__open_and_load();
	if (!program) {
		fprintf(stderr, "cannot load the BPF program: %s\n", strerror(errno));
		return 2;
	}
	for (int i = 1; i < argc; i++)
		if (add(program, argv[i]))
			return 1;
	if (writes__attach(program)) {
		fprintf(stderr, "cannot attach the BPF program: %s\n", strerror(errno));
		return 2;
	}
	fputs("counting\n", stderr);
	sigwait(&signals, &number);
	print(program);
	writes__destroy(program);
	return 0;
}
