/* SPDX-License-Identifier: MIT */
#include "report/result.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/signal_name.h"
#include "base/text.h"

enum { TOP_FRAMES = 5 };

static bool is_ruby(const struct rcore_signature_frame *frame)
{
	return frame->origin == RCORE_ORIGIN_APP || frame->origin == RCORE_ORIGIN_GEM ||
	       frame->origin == RCORE_ORIGIN_STDLIB || frame->origin == RCORE_ORIGIN_CORE;
}

/* "Cart#total (app/cart.rb)", "xmlGetNsList (libxml2.so.2)" */
static const char *name_of(const struct rcore_signature_frame *frame, struct rcore_arena *arena)
{
	const char *name = frame->name ? frame->name : "(no name)";
	/* Without a symbol, the name is "libxml2.so.2+0x1234". */
	bool says_place = frame->place && !is_ruby(frame) &&
			  !strncmp(name, frame->place, strlen(frame->place));
	return frame->place && !says_place
		       ? rcore_arena_printf(arena, "%s (%s)", name, frame->place)
		       : rcore_arena_strdup(arena, name);
}

static bool take_frames(const struct rcore_signature *signature, bool ruby,
			struct rcore_arena *arena, struct rcore_result_texts *ret)
{
	ret->items = rcore_arena_array(arena, TOP_FRAMES, sizeof(*ret->items));
	for (size_t i = 0; ret->items && i < signature->frame_count && ret->count < TOP_FRAMES;
	     i++) {
		if (is_ruby(&signature->frames[i]) != ruby)
			continue;
		ret->items[ret->count] = name_of(&signature->frames[i], arena);
		if (!ret->items[ret->count++])
			return false;
	}
	return ret->items;
}

/* Returns NULL if the time is unknown, or after the year 9999. */
static const char *time_text(uint64_t seconds, struct rcore_arena *arena)
{
	const uint64_t year_10000 = UINT64_C(253402300800);
	const time_t time = (time_t)seconds;
	struct tm parts;
	char text[32];
	if (!seconds || seconds >= year_10000 || !gmtime_r(&time, &parts) ||
	    !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts))
		return NULL;
	return rcore_arena_strdup(arena, text);
}

void rcore_result_date(struct rcore_arena *arena, struct rcore_result *result)
{
	struct stat status;
	if (result->time || stat(result->core, &status) || status.st_mtime <= 0)
		return;
	result->time = time_text((uint64_t)status.st_mtime, arena);
	result->time_source = result->time ? "file" : NULL;
}

static void take_deployment(const struct rcore_deployment *deployment,
			    struct rcore_arena *arena, struct rcore_result *result)
{
	result->time = time_text(deployment->time, arena);
	result->time_source = result->time ? deployment->time_source : NULL;
	result->host = deployment->host;
	result->host_source = deployment->host_source;
	result->service = deployment->service;
	result->release = deployment->release;
}

static void take_signal(const struct rcore_cause *cause, struct rcore_arena *arena,
			struct rcore_result *result)
{
	char name[RCORE_SIGNAL_SIZE];
	int signo = cause->original_signo ? cause->original_signo : cause->signo;
	if (cause->present && signo)
		result->signal = rcore_arena_strdup(arena, rcore_signal_name(signo, name));
}

static void take_blame(const struct rcore_blame *blame, struct rcore_result *result)
{
	if (!blame->present)
		return;
	result->blame = blame->name ? blame->name : blame->module;
	result->path = blame->path;
	result->line = blame->line;
	result->gem = blame->gem;
	result->native = blame->native;
}

struct rcore_error *rcore_result_make(const char *core, int status,
				      const struct rcore_snapshot *snapshot, const char *error,
				      struct rcore_arena *arena, struct rcore_result *ret)
{
	*ret = (struct rcore_result){.core = core, .status = status, .error = error};
	if (!snapshot)
		return NULL;
	ret->ruby = snapshot->ruby_version;
	ret->cause = snapshot->cause.text;
	ret->bug = snapshot->cause.bug;
	ret->abort_message = snapshot->cause.abort_message;
	ret->loose = snapshot->signature.loose;
	ret->strict = snapshot->signature.strict;
	ret->loose_text = snapshot->signature.loose_text;
	ret->pid = snapshot->pid;
	take_blame(&snapshot->blame, ret);
	take_signal(&snapshot->cause, arena, ret);
	take_deployment(&snapshot->deployment, arena, ret);
	for (size_t i = 0; i < snapshot->module_count && !ret->build_id; i++)
		if (snapshot->modules[i].is_ruby)
			ret->build_id = snapshot->modules[i].build_id;
	return take_frames(&snapshot->signature, true, arena, &ret->ruby_frames) &&
			       take_frames(&snapshot->signature, false, arena,
					   &ret->native_frames)
		       ? NULL
		       : rcore_error_no_memory();
}

struct rcore_error *rcore_result_add_heap(const struct rcore_heap_census *census, size_t limit,
					  struct rcore_arena *arena, struct rcore_result *ret)
{
	size_t count = limit < census->class_count ? limit : census->class_count;
	/* Totals of a part of the heap would mislead. */
	if (census->absent_pages) {
		ret->heap.problem = rcore_arena_printf(
			arena,
			"%" PRIu64 " page%s of the heap %s not in the file, as in a pack",
			census->absent_pages, rcore_plural(census->absent_pages),
			rcore_are(census->absent_pages));
		return ret->heap.problem ? NULL : rcore_error_no_memory();
	}
	struct rcore_result_heap heap = {
		.is_known = true,
		.objects = census->objects,
		.bytes = census->bytes,
		.classes.items = rcore_arena_array(arena, count, sizeof(char *)),
		.class_objects = rcore_arena_array(arena, count, sizeof(uint64_t)),
		.class_bytes = rcore_arena_array(arena, count, sizeof(uint64_t)),
	};
	if (!heap.classes.items || !heap.class_objects || !heap.class_bytes)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++) {
		heap.classes.items[i] = census->classes[i].name;
		heap.class_objects[i] = census->classes[i].count;
		heap.class_bytes[i] = census->classes[i].bytes;
	}
	heap.classes.count = count;
	ret->heap = heap;
	return NULL;
}
