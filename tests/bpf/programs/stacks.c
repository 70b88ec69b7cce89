/* SPDX-License-Identifier: MIT */
/*
 * Prints a line for each write(2) to file descriptor 99 of a Ruby process: the
 * number in the written text, the time, the context and the labels as the BPF
 * program saw them. Ends when its input ends.
 *
 *	stacks < params
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <rcore/ruby.bpf.h>

#include "stacks.h"
#include "stacks.skel.h"

static int print(void *context __attribute__((unused)), void *data,
		 size_t size __attribute__((unused)))
{
	const struct event *event = data;
	printf("%d\t%llu\t%lld\t", atoi(event->number), event->time, event->found);
	if (event->context_length < 0)
		putchar('-');
	else
		printf("=%.*s", event->context_length, event->context);
	putchar('\t');
	for (__u32 i = 0; i < FRAMES && i < event->depth; i++) {
		if (event->lengths[i] < 0)
			fputs("?;", stdout);
		else if (event->lengths[i])
			printf("%.*s;", event->lengths[i], event->labels[i]);
	}
	putchar('\n');
	return 0;
}

int main(void)
{
	struct rcore_ruby_params params;
	if (read(0, &params, sizeof(params)) != sizeof(params) ||
	    params.version != RCORE_RUBY_PARAMS_VERSION)
		return 1;
	struct stacks *program = stacks__open_and_load();
	if (program)
		program->bss->pid_namespace = params.pid_namespace;
	if (!program || stacks__attach(program) ||
	    bpf_map__update_elem(program->maps.rubies, &params.pid, sizeof(params.pid), &params,
				 sizeof(params), BPF_ANY)) {
		fprintf(stderr, "BPF: %s\n", strerror(errno));
		return 2;
	}
	struct ring_buffer *ring =
		ring_buffer__new(bpf_map__fd(program->maps.events), print, NULL, NULL);
	struct pollfd input = {.fd = 0, .events = POLLIN};
	if (!ring)
		return 2;
	fputs("ready\n", stderr);
	while (poll(&input, 1, 0) == 0)
		ring_buffer__poll(ring, 20);
	ring_buffer__consume(ring);
	printf("lost %llu\n", program->bss->lost);
	ring_buffer__free(ring);
	stacks__destroy(program);
	return 0;
}
