/* SPDX-License-Identifier: MIT */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(item) ((item)->lost = true)
#include <uthash.h>

#include "image/pack_note.h"
#include "image/pack_note_format.h"
#include "target/output/json_tree.h"

struct known {
	struct {
		uint64_t pc;
		/* The snapshot shares the strings of one function. */
		const char *function, *file;
		/* A recursive function may be inlined into itself. */
		int line;
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
	wanted.key.file = frame->file;
	wanted.key.line = frame->line;
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
	unsigned flags = (segment->readable ? RCORE_PACKED_READABLE : 0) |
			 (segment->writable ? RCORE_PACKED_WRITABLE : 0) |
			 (segment->executable ? RCORE_PACKED_EXECUTABLE : 0);
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

static struct json_object *live_object(struct writer *writer,
				       const struct rcore_packed_live *live)
{
	struct json_object *object = json_object_new_object();
	struct json_object *unstopped = json_object_new_array(), *fds = json_object_new_array();
	add_number(writer, object, "stopped", live->facts.stopped);
	add_number(writer, object, "pause_ns", live->facts.pause_ns);
	add_number(writer, object, "threads", live->facts.thread_count);
	add_number(writer, object, "inner_pid", (uint64_t)live->facts.inner_pid);
	add_number(writer, object, "overdue", live->overdue);
	add_text(writer, object, "arguments", live->arguments);
	for (size_t i = 0; i < live->unstopped_count && !writer->no_memory; i++)
		append(writer, unstopped, json_object_new_int(live->unstopped[i]));
	for (size_t i = 0; i < live->fd_count && !writer->no_memory; i++) {
		append(writer, fds, json_object_new_int(live->fds[i].fd));
		append(writer, fds, json_object_new_string(live->fds[i].link));
	}
	add(writer, object, "unstopped", unstopped);
	add(writer, object, "fds", fds);
	return object;
}

static struct json_object *deployment_object(struct writer *writer,
					     const struct rcore_deployment *deployment)
{
	struct json_object *object = json_object_new_object();
	add_number(writer, object, "time", deployment->time);
	add_text(writer, object, "time_source", deployment->time_source);
	add_text(writer, object, "host", deployment->host);
	add_text(writer, object, "host_source", deployment->host_source);
	add_text(writer, object, "service", deployment->service);
	add_text(writer, object, "release", deployment->release);
	return object;
}

char *rcore_pack_note_write(const struct rcore_pack_facts *facts, size_t *ret_size)
{
	struct writer writer = {.code = json_object_new_array()};
	struct json_object *note = json_object_new_object(), *stacks = json_object_new_array();
	struct json_object *fibers = json_object_new_array();
	struct json_object *segments = json_object_new_array();
	struct known *known, *next;
	add_number(&writer, note, "pack", RCORE_PACKED_VERSION);
	add_text(&writer, note, "layout", facts->layout);
	add_text(&writer, note, "layout_source", facts->layout_source);
	add_text(&writer, note, "rubyopt", facts->rubyopt);
	add_number(&writer, note, "activation", facts->activation);
	add_number(&writer, note, "activation_source", facts->activation_source);
	add_number(&writer, note, "values", facts->values);
	add_number(&writer, note, "heap", facts->has_heap);
	for (size_t i = 0; i < facts->stack_count && !writer.no_memory; i++)
		append(&writer, stacks, stack_object(&writer, &facts->stacks[i]));
	for (size_t i = 0; i < facts->fiber_count && !writer.no_memory; i++)
		append(&writer, fibers, json_object_new_uint64(facts->fibers[i]));
	add(&writer, note, "fibers", fibers);
	for (size_t i = 0; i < facts->segment_count && !writer.no_memory; i++)
		append_segment(&writer, segments, &facts->segments[i]);
	add(&writer, note, "segments", segments);
	if (facts->live.facts.present)
		add(&writer, note, "live", live_object(&writer, &facts->live));
	add(&writer, note, "deployment", deployment_object(&writer, &facts->deployment));
	add(&writer, note, "code", writer.code);
	add(&writer, note, "stacks", stacks);
	if (facts->redact)
		add(&writer, note, "redacted", redacted_array(&writer, facts));
	add_number(&writer, note, "redact", facts->redact);
	char *text = writer.no_memory ? NULL : rcore_json_tree_text(note, ret_size);
	HASH_ITER (hh, writer.known, known, next) {
		HASH_DEL(writer.known, known);
		free(known);
	}
	json_object_put(note);
	return text;
}
