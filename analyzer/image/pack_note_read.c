/* SPDX-License-Identifier: MIT */
#include <json-c/json.h>
#include <limits.h>
#include <string.h>

#include "base/count.h"
#include "base/json_member.h"
#include "image/pack_note.h"
#include "image/pack_note_format.h"

enum { MAX_FRAMES = 4 << 20 };

struct reader {
	struct rcore_arena *arena;
	struct rcore_native_frame *code;
	size_t code_count, frames_left;
	bool no_memory;
};

static const char *text_of(struct reader *reader, struct json_object *object, const char *key)
{
	struct json_object *value = rcore_json_member(object, key, json_type_string);
	if (!value)
		return NULL;
	const char *copy = rcore_arena_strdup(reader->arena, json_object_get_string(value));
	reader->no_memory |= !copy;
	return copy;
}

static int int_of(struct json_object *object, const char *key)
{
	uint64_t number = rcore_json_count(object, key);
	return number <= INT_MAX ? (int)number : 0;
}

static bool read_code(struct reader *reader, struct json_object *code)
{
	reader->code_count = json_object_array_length(code);
	reader->code =
		rcore_arena_array(reader->arena, reader->code_count, sizeof(*reader->code));
	for (size_t i = 0; reader->code && i < reader->code_count; i++) {
		struct json_object *object = json_object_array_get_idx(code, i);
		if (!json_object_is_type(object, json_type_object))
			continue;
		reader->code[i] = (struct rcore_native_frame){
			.pc = rcore_json_count(object, "pc"),
			.function_start = rcore_json_count(object, "start"),
			.part_of = rcore_json_count(object, "part_of"),
			.function_offset = rcore_json_count(object, "offset"),
			.function = text_of(reader, object, "function"),
			.module = text_of(reader, object, "module"),
			.module_offset = rcore_json_count(object, "module_offset"),
			.gem = text_of(reader, object, "gem"),
			.file = text_of(reader, object, "file"),
			.line = int_of(object, "line"),
			.is_signal = rcore_json_count(object, "signal"),
			.is_inlined = rcore_json_count(object, "inlined"),
			.is_interpreter = rcore_json_count(object, "interpreter"),
		};
	}
	return reader->code && !reader->no_memory;
}

static bool read_frames(struct reader *reader, struct json_object *words,
			struct rcore_packed_stack *stack)
{
	size_t count = words ? json_object_array_length(words) / RCORE_PACKED_WORDS : 0;
	if (count > reader->frames_left)
		return false;
	reader->frames_left -= count;
	struct rcore_native_frame *frames =
		rcore_arena_array(reader->arena, count, sizeof(*frames));
	if (!frames) {
		reader->no_memory = true;
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t code = json_object_get_uint64(
			json_object_array_get_idx(words, RCORE_PACKED_WORDS * i));
		uint64_t trust = json_object_get_uint64(
			json_object_array_get_idx(words, RCORE_PACKED_WORDS * i + 2));
		if (code >= reader->code_count || trust > RCORE_TRUST_SCANNED)
			return false;
		frames[i] = reader->code[code];
		frames[i].sp = json_object_get_uint64(
			json_object_array_get_idx(words, RCORE_PACKED_WORDS * i + 1));
		frames[i].trust = (enum rcore_trust)trust;
	}
	stack->frames = frames;
	stack->frame_count = count;
	return true;
}

static bool read_fibers(struct reader *reader, struct json_object *fibers,
			struct rcore_pack_facts *facts)
{
	size_t count = json_object_array_length(fibers);
	uint64_t *addresses = rcore_arena_array(reader->arena, count, sizeof(*addresses));
	reader->no_memory |= !addresses;
	for (size_t i = 0; addresses && i < count; i++)
		addresses[i] = json_object_get_uint64(json_object_array_get_idx(fibers, i));
	facts->fibers = addresses;
	facts->fiber_count = count;
	return addresses;
}

static bool read_segments(struct reader *reader, struct json_object *words,
			  struct rcore_pack_facts *facts)
{
	size_t count = json_object_array_length(words) / RCORE_PACKED_SEGMENT_WORDS;
	struct rcore_segment *segments =
		rcore_arena_array(reader->arena, count, sizeof(*segments));
	reader->no_memory |= !segments;
	for (size_t i = 0; segments && i < count; i++) {
		uint64_t word[RCORE_PACKED_SEGMENT_WORDS];
		for (size_t j = 0; j < RCORE_PACKED_SEGMENT_WORDS; j++)
			word[j] = json_object_get_uint64(json_object_array_get_idx(
				words, RCORE_PACKED_SEGMENT_WORDS * i + j));
		if (word[1] > UINT64_MAX - word[0] || (i && word[0] < segments[i - 1].start))
			return false;
		segments[i] = (struct rcore_segment){
			.start = word[0],
			.size = word[1],
			.saved = word[2],
			.readable = word[3] & RCORE_PACKED_READABLE,
			.writable = word[3] & RCORE_PACKED_WRITABLE,
			.executable = word[3] & RCORE_PACKED_EXECUTABLE,
		};
	}
	facts->segments = segments;
	facts->segment_count = count;
	return segments;
}

static bool read_stacks(struct reader *reader, struct json_object *stacks,
			struct rcore_pack_facts *facts)
{
	size_t count = json_object_array_length(stacks);
	facts->stacks = rcore_arena_array(reader->arena, count, sizeof(*facts->stacks));
	reader->no_memory |= !facts->stacks;
	for (size_t i = 0; facts->stacks && i < count; i++) {
		struct json_object *object = json_object_array_get_idx(stacks, i);
		struct rcore_packed_stack *stack = &facts->stacks[i];
		stack->fiber = rcore_json_count(object, "fiber");
		stack->tid = int_of(object, "tid");
		stack->problem = text_of(reader, object, "problem");
		if (!read_frames(reader, rcore_json_member(object, "frames", json_type_array),
				 stack))
			return false;
		facts->stack_count++;
	}
	return !reader->no_memory;
}

/* Leaves out a number that is not an int, and a link that is not a string. */
static void read_fds(struct reader *reader, struct json_object *words,
		     struct rcore_packed_live *live)
{
	size_t count = words ? json_object_array_length(words) / RCORE_PACKED_FD_WORDS : 0;
	struct rcore_packed_fd *fds = rcore_arena_array(reader->arena, count, sizeof(*fds));
	reader->no_memory |= !fds;
	for (size_t i = 0; fds && i < count; i++) {
		struct json_object *fd =
			json_object_array_get_idx(words, RCORE_PACKED_FD_WORDS * i);
		struct json_object *link =
			json_object_array_get_idx(words, RCORE_PACKED_FD_WORDS * i + 1);
		if (!json_object_is_type(fd, json_type_int) ||
		    !json_object_is_type(link, json_type_string))
			continue;
		const char *copy =
			rcore_arena_strdup(reader->arena, json_object_get_string(link));
		reader->no_memory |= !copy;
		fds[live->fd_count++] = (struct rcore_packed_fd){json_object_get_int(fd), copy};
	}
	live->fds = fds;
}

static void read_unstopped(struct reader *reader, struct json_object *tids,
			   struct rcore_packed_live *live)
{
	size_t count = tids ? json_object_array_length(tids) : 0;
	int *unstopped = rcore_arena_array(reader->arena, count, sizeof(*unstopped));
	reader->no_memory |= !unstopped;
	for (size_t i = 0; unstopped && i < count; i++)
		unstopped[i] = json_object_get_int(json_object_array_get_idx(tids, i));
	live->unstopped = unstopped;
	live->unstopped_count = unstopped ? count : 0;
}

static void read_live(struct reader *reader, struct json_object *note,
		      struct rcore_packed_live *live)
{
	struct json_object *object = rcore_json_member(note, "live", json_type_object);
	if (!object)
		return;
	live->facts = (struct rcore_live_facts){
		.present = true,
		.stopped = rcore_json_count(object, "stopped"),
		.pause_ns = rcore_json_count(object, "pause_ns"),
		.thread_count = rcore_json_count(object, "threads"),
		.inner_pid = int_of(object, "inner_pid"),
	};
	live->overdue = rcore_json_count(object, "overdue");
	live->arguments = text_of(reader, object, "arguments");
	read_unstopped(reader, rcore_json_member(object, "unstopped", json_type_array), live);
	read_fds(reader, rcore_json_member(object, "fds", json_type_array), live);
}

/* Accepts only sources that rcore writes. */
static const char *source_of(struct json_object *object, const char *key)
{
	static const char *const sources[] = {"clock",       "systemd", "file",
					      "environment", "machine", "option"};
	struct json_object *value = rcore_json_member(object, key, json_type_string);
	for (size_t i = 0; value && i < RCORE_COUNT(sources); i++)
		if (!strcmp(json_object_get_string(value), sources[i]))
			return sources[i];
	return NULL;
}

static void read_deployment(struct reader *reader, struct json_object *note,
			    struct rcore_deployment *ret)
{
	struct json_object *object = rcore_json_member(note, "deployment", json_type_object);
	if (!object)
		return;
	*ret = (struct rcore_deployment){
		.time = rcore_json_count(object, "time"),
		.time_source = source_of(object, "time_source"),
		.host = text_of(reader, object, "host"),
		.host_source = source_of(object, "host_source"),
		.service = text_of(reader, object, "service"),
		.release = text_of(reader, object, "release"),
	};
}

static void read_redacted(struct json_object *note, struct rcore_pack_facts *facts)
{
	struct json_object *counts = rcore_json_member(note, "redacted", json_type_array);
	facts->redact = rcore_json_count(note, "redact");
	for (size_t i = 0; counts && i < RCORE_PACK_REDACTED; i++)
		facts->redacted[i] =
			json_object_get_uint64(json_object_array_get_idx(counts, i));
}

struct rcore_error *rcore_pack_note_read(const char *text, size_t size,
					 struct rcore_arena *arena,
					 struct rcore_pack_facts *ret)
{
	struct reader reader = {.arena = arena, .frames_left = MAX_FRAMES};
	struct rcore_pack_facts facts = {0};
	struct json_tokener *tokener = json_tokener_new();
	if (!tokener)
		return rcore_error_no_memory();
	size = size < INT_MAX ? size : INT_MAX;
	struct json_object *note = json_tokener_parse_ex(tokener, text, (int)size);
	reader.no_memory = !note && rcore_json_lacks_memory(tokener, text, size);
	struct json_object *code = rcore_json_member(note, "code", json_type_array);
	struct json_object *stacks = rcore_json_member(note, "stacks", json_type_array);
	struct json_object *fibers = rcore_json_member(note, "fibers", json_type_array);
	struct json_object *segments = rcore_json_member(note, "segments", json_type_array);
	bool fine = rcore_json_count(note, "pack") == RCORE_PACKED_VERSION && code && stacks &&
		    fibers && segments;
	if (fine) {
		facts.layout = text_of(&reader, note, "layout");
		facts.layout_source = text_of(&reader, note, "layout_source");
		facts.rubyopt = text_of(&reader, note, "rubyopt");
		facts.activation = rcore_json_count(note, "activation");
		facts.activation_source = rcore_json_count(note, "activation_source");
		facts.values = rcore_json_count(note, "values");
		facts.has_heap = rcore_json_count(note, "heap");
		read_redacted(note, &facts);
		read_live(&reader, note, &facts.live);
		read_deployment(&reader, note, &facts.deployment);
		fine = read_fibers(&reader, fibers, &facts) &&
		       read_segments(&reader, segments, &facts) && read_code(&reader, code) &&
		       read_stacks(&reader, stacks, &facts);
	}
	json_object_put(note);
	json_tokener_free(tokener);
	if (reader.no_memory)
		return rcore_error_no_memory();
	if (!fine)
		return rcore_error_create(
			RCORE_ERROR_FORMAT,
			"the note of the pack is damaged, or was written by a newer rcore");
	*ret = facts;
	return NULL;
}
