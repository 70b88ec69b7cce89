/* SPDX-License-Identifier: MIT */
#include "image/pack_note.h"

#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(item) ((item)->lost = true)
#include <uthash.h>

/*
 * {"pack": 1, "layout": "...", "layout_source": "exact", "rubyopt": "...",
 *  "fibers": [...], "segments": [start, size, saved, flags, ...],
 *  "code": [{"pc": ..., "function": ...}, ...],
 *  "stacks": [{"fiber": ..., "frames": [code, sp, trust, ...]}, ...]}
 *
 * 2,000 fibers are parked at the same few dozen addresses, so the name of an
 * address is written only once.
 */
enum { VERSION = 1, WORDS = 3, SEGMENT_WORDS = 4, MAX_FRAMES = 4 << 20 };
enum { READABLE = 4, WRITABLE = 2, EXECUTABLE = 1 };

struct known {
	struct {
		uint64_t pc;
		/* The snapshot shares the strings of one function. */
		const char *function;
		bool is_inlined;
	} key;
	size_t index;
	bool lost;
	UT_hash_handle hh;
};

struct writer {
	struct json_object *code;
	struct known *known;
	bool no_memory;
};

static void add(struct writer *writer, struct json_object *object, const char *key,
		struct json_object *value)
{
	if (!object || !value || json_object_object_add(object, key, value) < 0) {
		writer->no_memory = true;
		json_object_put(value);
	}
}

static void add_text(struct writer *writer, struct json_object *object, const char *key,
		     const char *text)
{
	if (text)
		add(writer, object, key, json_object_new_string(text));
}

static void add_number(struct writer *writer, struct json_object *object, const char *key,
		       uint64_t number)
{
	if (number)
		add(writer, object, key, json_object_new_uint64(number));
}

static void append(struct writer *writer, struct json_object *array, struct json_object *value)
{
	if (!array || !value || json_object_array_add(array, value) < 0) {
		writer->no_memory = true;
		json_object_put(value);
	}
}

static void add_code(struct writer *writer, const struct rcore_native_frame *frame)
{
	struct json_object *object = json_object_new_object();
	add_number(writer, object, "pc", frame->pc);
	add_number(writer, object, "start", frame->function_start);
	add_number(writer, object, "part_of", frame->part_of);
	add_number(writer, object, "offset", frame->function_offset);
	add_text(writer, object, "function", frame->function);
	add_text(writer, object, "module", frame->module);
	add_number(writer, object, "module_offset", frame->module_offset);
	add_text(writer, object, "gem", frame->gem);
	add_text(writer, object, "file", frame->file);
	add_number(writer, object, "line", (uint64_t)frame->line);
	add_number(writer, object, "signal", frame->is_signal);
	add_number(writer, object, "inlined", frame->is_inlined);
	add_number(writer, object, "interpreter", frame->is_interpreter);
	append(writer, writer->code, object);
}

static size_t code_of(struct writer *writer, const struct rcore_native_frame *frame)
{
	struct known wanted = {0}, *known;
	memset(&wanted, 0, sizeof(wanted));
	wanted.key.pc = frame->pc;
	wanted.key.function = frame->function;
	wanted.key.is_inlined = frame->is_inlined;
	HASH_FIND(hh, writer->known, &wanted.key, sizeof(wanted.key), known);
	if (known)
		return known->index;
	known = malloc(sizeof(*known));
	if (!known) {
		writer->no_memory = true;
		return 0;
	}
	*known = wanted;
	known->index = json_object_array_length(writer->code);
	add_code(writer, frame);
	HASH_ADD(hh, writer->known, key, sizeof(known->key), known);
	if (known->lost) {
		free(known);
		writer->no_memory = true;
		return 0;
	}
	return known->index;
}

static struct json_object *stack_object(struct writer *writer,
					const struct rcore_packed_stack *stack)
{
	struct json_object *object = json_object_new_object();
	struct json_object *frames = json_object_new_array();
	add_number(writer, object, "fiber", stack->fiber);
	add_number(writer, object, "tid", (uint64_t)stack->tid);
	add_text(writer, object, "problem", stack->problem);
	for (size_t i = 0; i < stack->frame_count && !writer->no_memory; i++) {
		const struct rcore_native_frame *frame = &stack->frames[i];
		append(writer, frames, json_object_new_uint64(code_of(writer, frame)));
		append(writer, frames, json_object_new_uint64(frame->sp));
		append(writer, frames, json_object_new_uint64(frame->trust));
	}
	add(writer, object, "frames", frames);
	return object;
}

static void append_segment(struct writer *writer, struct json_object *segments,
			   const struct rcore_segment *segment)
{
	unsigned flags = (segment->readable ? READABLE : 0) |
			 (segment->writable ? WRITABLE : 0) |
			 (segment->executable ? EXECUTABLE : 0);
	append(writer, segments, json_object_new_uint64(segment->start));
	append(writer, segments, json_object_new_uint64(segment->size));
	append(writer, segments, json_object_new_uint64(segment->saved));
	append(writer, segments, json_object_new_uint64(flags));
}

static struct json_object *redacted_array(struct writer *writer,
					  const struct rcore_pack_facts *facts)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < RCORE_PACK_REDACTED; i++)
		append(writer, array, json_object_new_uint64(facts->redacted[i]));
	return array;
}

char *rcore_pack_note_write(const struct rcore_pack_facts *facts, size_t *ret_size)
{
	struct writer writer = {.code = json_object_new_array()};
	struct json_object *note = json_object_new_object(), *stacks = json_object_new_array();
	struct json_object *fibers = json_object_new_array();
	struct json_object *segments = json_object_new_array();
	struct known *known, *next;
	add_number(&writer, note, "pack", VERSION);
	add_text(&writer, note, "layout", facts->layout);
	add_text(&writer, note, "layout_source", facts->layout_source);
	add_text(&writer, note, "rubyopt", facts->rubyopt);
	add_number(&writer, note, "activation", facts->activation);
	add_number(&writer, note, "activation_source", facts->activation_source);
	for (size_t i = 0; i < facts->stack_count && !writer.no_memory; i++)
		append(&writer, stacks, stack_object(&writer, &facts->stacks[i]));
	for (size_t i = 0; i < facts->fiber_count && !writer.no_memory; i++)
		append(&writer, fibers, json_object_new_uint64(facts->fibers[i]));
	add(&writer, note, "fibers", fibers);
	for (size_t i = 0; i < facts->segment_count && !writer.no_memory; i++)
		append_segment(&writer, segments, &facts->segments[i]);
	add(&writer, note, "segments", segments);
	add(&writer, note, "code", writer.code);
	add(&writer, note, "stacks", stacks);
	if (facts->redact)
		add(&writer, note, "redacted", redacted_array(&writer, facts));
	add_number(&writer, note, "redact", facts->redact);
	const char *text =
		writer.no_memory ? NULL
				 : json_object_to_json_string_ext(note, JSON_C_TO_STRING_PLAIN);
	char *copy = text ? strdup(text) : NULL;
	*ret_size = copy ? strlen(copy) : 0;
	HASH_ITER (hh, writer.known, known, next) {
		HASH_DEL(writer.known, known);
		free(known);
	}
	json_object_put(note);
	return copy;
}

struct reader {
	struct rcore_arena *arena;
	struct rcore_native_frame *code;
	size_t code_count, frames_left;
	bool no_memory;
};

static struct json_object *member(struct json_object *object, const char *key,
				  enum json_type type)
{
	struct json_object *value;
	return json_object_object_get_ex(object, key, &value) &&
			       json_object_is_type(value, type)
		       ? value
		       : NULL;
}

static const char *text_of(struct reader *reader, struct json_object *object, const char *key)
{
	struct json_object *value = member(object, key, json_type_string);
	if (!value)
		return NULL;
	const char *copy = rcore_arena_strdup(reader->arena, json_object_get_string(value));
	reader->no_memory |= !copy;
	return copy;
}

static uint64_t number_of(struct json_object *object, const char *key)
{
	struct json_object *value = member(object, key, json_type_int);
	return value ? json_object_get_uint64(value) : 0;
}

static int int_of(struct json_object *object, const char *key)
{
	uint64_t number = number_of(object, key);
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
			.pc = number_of(object, "pc"),
			.function_start = number_of(object, "start"),
			.part_of = number_of(object, "part_of"),
			.function_offset = number_of(object, "offset"),
			.function = text_of(reader, object, "function"),
			.module = text_of(reader, object, "module"),
			.module_offset = number_of(object, "module_offset"),
			.gem = text_of(reader, object, "gem"),
			.file = text_of(reader, object, "file"),
			.line = int_of(object, "line"),
			.is_signal = number_of(object, "signal"),
			.is_inlined = number_of(object, "inlined"),
			.is_interpreter = number_of(object, "interpreter"),
		};
	}
	return reader->code && !reader->no_memory;
}

static bool read_frames(struct reader *reader, struct json_object *words,
			struct rcore_packed_stack *stack)
{
	size_t count = words ? json_object_array_length(words) / WORDS : 0;
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
		uint64_t code =
			json_object_get_uint64(json_object_array_get_idx(words, WORDS * i));
		uint64_t trust =
			json_object_get_uint64(json_object_array_get_idx(words, WORDS * i + 2));
		if (code >= reader->code_count || trust > RCORE_TRUST_SCANNED)
			return false;
		frames[i] = reader->code[code];
		frames[i].sp =
			json_object_get_uint64(json_object_array_get_idx(words, WORDS * i + 1));
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
	size_t count = json_object_array_length(words) / SEGMENT_WORDS;
	struct rcore_segment *segments =
		rcore_arena_array(reader->arena, count, sizeof(*segments));
	reader->no_memory |= !segments;
	for (size_t i = 0; segments && i < count; i++) {
		uint64_t word[SEGMENT_WORDS];
		for (size_t j = 0; j < SEGMENT_WORDS; j++)
			word[j] = json_object_get_uint64(
				json_object_array_get_idx(words, SEGMENT_WORDS * i + j));
		if (word[1] > UINT64_MAX - word[0] || (i && word[0] < segments[i - 1].start))
			return false;
		segments[i] = (struct rcore_segment){
			.start = word[0],
			.size = word[1],
			.saved = word[2],
			.readable = word[3] & READABLE,
			.writable = word[3] & WRITABLE,
			.executable = word[3] & EXECUTABLE,
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
		stack->fiber = number_of(object, "fiber");
		stack->tid = int_of(object, "tid");
		stack->problem = text_of(reader, object, "problem");
		if (!read_frames(reader, member(object, "frames", json_type_array), stack))
			return false;
		facts->stack_count++;
	}
	return !reader->no_memory;
}

static void read_redacted(struct json_object *note, struct rcore_pack_facts *facts)
{
	struct json_object *counts = member(note, "redacted", json_type_array);
	facts->redact = number_of(note, "redact");
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
	struct json_object *code = member(note, "code", json_type_array);
	struct json_object *stacks = member(note, "stacks", json_type_array);
	struct json_object *fibers = member(note, "fibers", json_type_array);
	struct json_object *segments = member(note, "segments", json_type_array);
	bool fine = number_of(note, "pack") == VERSION && code && stacks && fibers && segments;
	if (fine) {
		facts.layout = text_of(&reader, note, "layout");
		facts.layout_source = text_of(&reader, note, "layout_source");
		facts.rubyopt = text_of(&reader, note, "rubyopt");
		facts.activation = number_of(note, "activation");
		facts.activation_source = number_of(note, "activation_source");
		read_redacted(note, &facts);
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
