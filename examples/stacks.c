/* SPDX-License-Identifier: MIT */
/*
 * Prints the stack of each fiber of a Ruby process, with its context:
 *
 *	cc -o stacks stacks.c $(pkg-config --cflags --libs rcore)
 *	./stacks CORE|PID
 */
#include <ctype.h>
#include <rcore.h>
#include <stdlib.h>

/* Strings of the target are raw bytes, which must not control the terminal. */
static void print_text(const char *text)
{
	for (text = text ? text : "?"; *text; text++)
		putchar(iscntrl((unsigned char)*text) ? '?' : *text);
}

static void print_fiber(const struct rcore_fiber *fiber)
{
	const struct rcore_frame *frame;
	printf("  fiber %s\n", fiber->id);
	for (size_t i = 0; i < fiber->context.pair_count; i++) {
		const struct rcore_variable *variable = &fiber->context.pairs[i].variable;
		fputs("    ", stdout);
		print_text(variable->name);
		fputs(": ", stdout);
		print_text(variable->value.text);
		putchar('\n');
	}
	for (int i = 0; (frame = rcore_fiber_frame(fiber, i)); i++) {
		fputs("    ", stdout);
		print_text(frame->problem ? frame->problem : frame->label);
		if (frame->path) {
			fputs(" at ", stdout);
			print_text(frame->path);
			printf(":%d", frame->line);
		}
		putchar('\n');
	}
}

static void print_threads(const struct rcore_snapshot *snapshot)
{
	const struct rcore_thread *thread;
	for (int i = 0; (thread = rcore_snapshot_thread(snapshot, i)); i++) {
		printf("thread %s%s\n", thread->id, thread->is_crashed ? " (crashed)" : "");
		for (size_t j = 0; j < thread->fiber_count; j++)
			print_fiber(rcore_snapshot_fiber(snapshot, thread->fibers[j]));
	}
	for (size_t i = 0; i < snapshot->problem_count; i++)
		fprintf(stderr, "stacks: %s\n", snapshot->problems[i]);
}

int main(int argc, char **argv)
{
	const char *target = argc == 2 ? argv[1] : "";
	struct rcore_options options = {.size = sizeof(options), .no_native = true};
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *err = atoi(target) > 0
					  ? rcore_open_pid(atoi(target), &options, &session)
					  : rcore_open_core(target, &options, &session);
	if (!err)
		err = rcore_load(session, &snapshot);
	if (err)
		fprintf(stderr, "stacks: %s\n", err->message);
	else
		print_threads(snapshot);
	int status = err ? EXIT_FAILURE : EXIT_SUCCESS;
	rcore_error_free(err);
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	return status;
}
