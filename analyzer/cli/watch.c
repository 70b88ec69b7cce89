/* SPDX-License-Identifier: MIT */
#include "cli/watch.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(item) ((item)->is_lost = true)
#include <uthash.h>

#include "base/text.h"
#include "cli/start.h"
#include "report/text/style.h"
#include "report/text/process/text_stack.h"
#include "target/live/live_files.h"

/* The state of a fiber when it was last seen. */
struct seen {
	char id[24];
	uint64_t stack; /* a hash of its frames */
	char *text;
	bool is_here, is_lost;
	UT_hash_handle hh;
};

struct watch {
	struct rcore_pen pen;
	struct seen *seen;
	bool is_first;
	size_t changed, unchanged, printed;
};

enum { SHOWN = 40 }; /* changes of one look */

/* FNV-1a; a collision hides one change. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; text && *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_stack(const struct rcore_fiber *fiber)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < fiber->frame_count; i++) {
		hash = add_text(hash, fiber->frames[i].label);
		hash = add_text(hash, fiber->frames[i].path);
		hash = (hash ^ (uint64_t)fiber->frames[i].line) * UINT64_C(0x100000001b3);
	}
	return hash;
}

/* "waits for Mutex 0x7f12 held by T3 in Rate.fetch (app.rb:14)", malloc'ed. */
static char *describe(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	char *text = NULL;
	size_t size;
	const struct rcore_frame *place = rcore_text_place(fiber);
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return NULL;
	if (fiber->wait)
		rcore_wait_write(snapshot, fiber->wait, out);
	else
		fputs(fiber->is_current ? "runs" : "is parked", out);
	if (place && place->label) {
		fputs(" in ", out);
		rcore_escape_write(out, place->label);
		fputs(" (", out);
		rcore_escape_write(out, place->path);
		fprintf(out, ":%d)", place->line);
	}
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* Prints the id of a thread's root fiber, T1.F0, as T1. */
static void print_name(const struct watch *watch, const char *id)
{
	const char *root = strstr(id, ".F0");
	int length = root && !root[3] ? (int)(root - id) : (int)strlen(id);
	rcore_styled(&watch->pen, RCORE_STYLE_ID, "  %.*s", length, id);
	fputs("  ", watch->pen.out);
}

/* Begins a line for a change; returns false if there are too many. */
static bool begin(struct watch *watch, const char *id)
{
	watch->changed++;
	if (watch->is_first || watch->printed >= SHOWN)
		return false;
	watch->printed++;
	print_name(watch, id);
	return true;
}

static bool compare(struct watch *watch, struct seen *seen, uint64_t stack, char *text)
{
	bool same_text = !strcmp(seen->text, text);
	seen->is_here = true;
	if (same_text && seen->stack == stack) {
		watch->unchanged++;
		free(text);
		return true;
	}
	if (begin(watch, seen->id) && same_text)
		fprintf(watch->pen.out, "%s, called from elsewhere\n", text);
	else if (!watch->is_first && watch->printed <= SHOWN)
		fprintf(watch->pen.out, "%s  (before: %s)\n", text, seen->text);
	free(seen->text);
	seen->text = text;
	seen->stack = stack;
	return true;
}

static bool look_at(struct watch *watch, const struct rcore_snapshot *snapshot,
		    const struct rcore_fiber *fiber)
{
	struct seen *seen;
	char *text = describe(snapshot, fiber);
	if (!text)
		return false;
	uint64_t stack = hash_stack(fiber);
	HASH_FIND_STR(watch->seen, fiber->id, seen);
	if (seen)
		return compare(watch, seen, stack, text);
	seen = calloc(1, sizeof(*seen));
	if (seen) {
		memcpy(seen->id, fiber->id, sizeof(seen->id));
		HASH_ADD_STR(watch->seen, id, seen);
	}
	if (!seen || seen->is_lost) {
		free(seen);
		free(text);
		return false;
	}
	seen->stack = stack;
	seen->text = text;
	seen->is_here = true;
	if (begin(watch, seen->id))
		fprintf(watch->pen.out, "is new: %s\n", text);
	return true;
}

/* Forgets fibers that were not seen this time. */
static void drop_ended(struct watch *watch)
{
	struct seen *seen = NULL, *next = NULL;
	HASH_ITER (hh, watch->seen, seen, next) {
		if (!seen->is_here) {
			if (begin(watch, seen->id))
				fprintf(watch->pen.out, "has ended  (before: %s)\n",
					seen->text);
			HASH_DEL(watch->seen, seen);
			free(seen->text);
			free(seen);
			continue;
		}
		seen->is_here = false;
	}
}

static bool is_alive(const struct rcore_snapshot *snapshot, const struct rcore_fiber *fiber)
{
	return fiber->thread >= 0 && !snapshot->threads[fiber->thread].is_ended &&
	       fiber->status != RCORE_FIBER_TERMINATED && fiber->status != RCORE_FIBER_CREATED;
}

static void print_time(FILE *out)
{
	char text[16];
	struct tm local;
	time_t now = time(NULL);
	if (localtime_r(&now, &local) && strftime(text, sizeof(text), "%T", &local))
		fprintf(out, "\n%s", text);
}

static bool look_at_all(struct watch *watch, const struct rcore_snapshot *snapshot)
{
	watch->changed = watch->unchanged = watch->printed = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (is_alive(snapshot, &snapshot->fibers[i]) &&
		    !look_at(watch, snapshot, &snapshot->fibers[i]))
			return false;
	drop_ended(watch);
	return true;
}

/* The number of changes comes first. */
static struct rcore_error *print_changes(struct watch *watch,
					 const struct rcore_snapshot *snapshot, FILE *out)
{
	char *text = NULL;
	size_t size;
	watch->pen.out = rcore_open_text(&text, &size);
	if (!watch->pen.out)
		return rcore_error_no_memory();
	bool done = look_at_all(watch, snapshot);
	if (fclose(watch->pen.out) || !done) {
		free(text);
		return rcore_error_no_memory();
	}
	if (!watch->is_first) {
		print_time(out);
		fprintf(out, "  %zu of %zu threads and fibers changed\n%s", watch->changed,
			watch->changed + watch->unchanged, text);
		if (watch->changed > watch->printed)
			fprintf(out, "  and %zu more\n", watch->changed - watch->printed);
	}
	watch->is_first = false;
	free(text);
	return rcore_pen_error(out);
}

static struct rcore_error *look(struct watch *watch, const struct rcore_cli_target *target,
				FILE *out)
{
	struct rcore_session *session;
	struct rcore_snapshot *snapshot;
	struct rcore_error *err = rcore_cli_target_open(target, &session);
	if (err)
		return err;
	err = rcore_load(session, &snapshot);
	if (!err) {
		err = print_changes(watch, snapshot, out);
		rcore_snapshot_free(snapshot);
	}
	rcore_close(session);
	return err;
}

/* The first look prints nothing, because the report was just printed. */
static struct rcore_error *repeat(struct watch *watch, const struct rcore_cli_target *target,
				  FILE *out)
{
	const volatile sig_atomic_t *interrupted = rcore_start_interrupted();
	rcore_start_watch();
	for (;;) {
		struct rcore_error *err = look(watch, target, out);
		if (err && rcore_live_has_ended(target->pid)) {
			rcore_error_free(err);
			fprintf(out, "\nprocess %d has ended\n", target->pid);
			return rcore_pen_error(out);
		}
		if (err)
			return err;
		const struct timespec pause = {.tv_sec = (time_t)target->watch};
		if (*interrupted || (nanosleep(&pause, NULL) && *interrupted))
			return NULL;
	}
}

struct rcore_error *rcore_cli_watch(const struct rcore_cli_target *given, FILE *out)
{
	struct rcore_cli_target target = *given;
	struct watch watch = {.pen = {.color = given->color}, .is_first = true};
	struct seen *seen = NULL, *next = NULL;
	target.options.ids = rcore_ids_open();
	target.options.choice = rcore_choice_open();
	target.options.no_native = true;
	struct rcore_error *err = target.options.ids && target.options.choice
					  ? repeat(&watch, &target, out)
					  : rcore_error_no_memory();
	HASH_ITER (hh, watch.seen, seen, next) {
		HASH_DEL(watch.seen, seen);
		free(seen->text);
		free(seen);
	}
	rcore_ids_close(target.options.ids);
	rcore_choice_close(target.options.choice);
	return err;
}
