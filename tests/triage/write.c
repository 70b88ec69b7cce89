/* SPDX-License-Identifier: MIT */
/*
 * Writes each snapshot of the unit tests in each format to a folder, as NAME-FORMAT plus the format's ending.
 * formats.py then checks the files against their schemas.
 *
 *	write DIR
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "report/formats.h"
#include "report/result.h"
#include "snapshots.h"
#include "triage/blame.h"
#include "triage/signature.h"

enum { THREADS = 3000, DEPTH = 12 };

static void crash(struct rcore_snapshot *snapshot)
{
	struct rcore_crash_stack stack;
	snapshot->cause = (struct rcore_cause){
		.present = true, .signo = SIGSEGV, .text = "Killed by SIGSEGV"};
	struct rcore_error *err = rcore_crash_stack_init(snapshot, &stack);
	if (!err)
		err = rcore_blame_find(&stack, snapshot);
	if (!err)
		err = rcore_signature_find(&stack, snapshot);
	rcore_crash_stack_deinit(&stack);
	if (err)
		abort();
}

/* More lines of the application than GitHub shows. */
static void deep(struct rcore_snapshot *snapshot)
{
	rcore_test_deep(snapshot, 100, 100);
	crash(snapshot);
}

/* More than a step's summary may hold: of one thread, and of all together. */
static void wide(struct rcore_snapshot *snapshot)
{
	rcore_test_deep(snapshot, 20000, 20000);
	const struct rcore_thread first = snapshot->threads[0];
	const struct rcore_fiber fiber = snapshot->fibers[0];
	snapshot->threads =
		rcore_arena_alloc(&snapshot->arena, THREADS * sizeof(*snapshot->threads));
	snapshot->fibers =
		rcore_arena_alloc(&snapshot->arena, THREADS * sizeof(*snapshot->fibers));
	for (int i = 0; i < THREADS; i++) {
		struct rcore_thread *thread = &snapshot->threads[i];
		*thread = first;
		thread->tid = 1234 + i;
		thread->is_main = !i;
		thread->current_fiber = i;
		thread->fibers = rcore_arena_alloc(&snapshot->arena, sizeof(int));
		thread->fibers[0] = i;
		snprintf(thread->id, sizeof(thread->id), "T%d", i + 1);
		snapshot->fibers[i] = fiber;
		snapshot->fibers[i].thread = i;
		snapshot->fibers[i].frames += i ? i : 0;
		snapshot->fibers[i].frame_count = i ? DEPTH : fiber.frame_count;
		snprintf(snapshot->fibers[i].id, sizeof(snapshot->fibers[i].id), "T%d.F0",
			 i + 1);
	}
	snapshot->thread_count = snapshot->fiber_count = THREADS;
	crash(snapshot);
}

static void nothing(struct rcore_snapshot *snapshot)
{
	*snapshot = (struct rcore_snapshot){.cause = {.thread = -1, .fiber = -1},
					    .failure = "no Ruby"};
}

static const struct {
	const char *name;
	void (*make)(struct rcore_snapshot *);
} snapshots[] = {
	{"rich", rcore_test_rich},
	{"hostile", rcore_test_hostile},
	{"waits", rcore_test_waits},
	{"woven", rcore_test_woven},
	{"knowing", rcore_test_knowing},
	{"deep", deep},
	{"wide", wide},
	{"nothing", nothing},
};

static FILE *open_output(const char *folder, const char *name, const char *format,
			 const char *ending)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s-%s%s", folder, name, format, ending);
	FILE *out = fopen(path, "w");
	if (!out) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	return out;
}

static void check(struct rcore_error *err, FILE *out)
{
	if (err || fclose(out)) {
		fprintf(stderr, "%s\n", err ? err->message : "cannot be written");
		exit(2);
	}
}

static void write_all(const char *folder, const char *name,
		      const struct rcore_snapshot *snapshot)
{
	static const struct rcore_format others[] = {
		{"explain", ".json", rcore_report_explain_json},
		{"waits", ".json", rcore_report_waits_json},
		{"state", ".json", rcore_report_state_json},
		{0},
	};
	for (const struct rcore_format *lists[] = {rcore_formats, others, NULL}, **list = lists;
	     *list; list++)
		for (const struct rcore_format *format = *list; format->name; format++) {
			FILE *out = open_output(folder, name, format->name,
						format->ending ? format->ending : "");
			check(format->write(snapshot, NULL, out), out);
		}
	FILE *out = open_output(folder, name, "triage", ".json");
	struct rcore_arena arena = {0};
	struct rcore_result result;
	struct rcore_error *err = rcore_result_make("core.\n]]>\xff", 0, snapshot,
						    snapshot->failure, &arena, &result);
	check(err ? err : rcore_result_write(&result, out), out);
	rcore_arena_deinit(&arena);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 64;
	for (size_t i = 0; i < RCORE_COUNT(snapshots); i++) {
		struct rcore_snapshot snapshot = {0};
		snapshots[i].make(&snapshot);
		write_all(argv[1], snapshots[i].name, &snapshot);
		rcore_arena_deinit(&snapshot.arena);
	}
	return 0;
}
