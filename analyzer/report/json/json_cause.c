/* SPDX-License-Identifier: MIT */
#include "base/signal_name.h"
#include "report/json/json.h"
#include "report/names.h"

/* 0 is a valid address here. */
static void add_address(struct rcore_json *json, struct json_object *object, bool has_address,
			uint64_t address)
{
	if (has_address && !address)
		rcore_json_add_text(json, object, "address", "0x0");
	else if (has_address)
		rcore_json_add_hex(json, object, "address", address);
}

static void add_signal(struct rcore_json *json, struct json_object *object, int signo, int code,
		       bool has_address, uint64_t address)
{
	char name[RCORE_SIGNAL_SIZE];
	rcore_json_add_text(json, object, "signal", rcore_signal_name(signo, name));
	rcore_json_add_int(json, object, "signo", signo);
	rcore_json_add_int(json, object, "code", code);
	add_address(json, object, has_address, address);
}

static void add_overflow(struct rcore_json *json, struct json_object *object,
			 const struct rcore_snapshot *snapshot)
{
	const struct rcore_overflow *overflow = &snapshot->cause.overflow;
	if (!overflow->present)
		return;
	struct json_object *part = rcore_json_object(json);
	if (rcore_index_valid(overflow->fiber, snapshot->fiber_count))
		rcore_json_add_text(json, part, "fiber", snapshot->fibers[overflow->fiber].id);
	rcore_json_add_hex(json, part, "stack_start", overflow->stack_start);
	rcore_json_add_hex(json, part, "stack_end", overflow->stack_end);
	rcore_json_add_hex(json, part, "guard_start", overflow->guard_start);
	rcore_json_add_hex(json, part, "guard_end", overflow->guard_end);
	rcore_json_add(json, object, "stack_overflow", part);
}

static void add_slot(struct rcore_json *json, struct json_object *object,
		     const struct rcore_slot *slot)
{
	rcore_json_add_hex(json, object, "slot", slot->address);
	rcore_json_add_text(json, object, "slot_type", slot->type);
}

static void add_fault(struct rcore_json *json, struct json_object *object,
		      const struct rcore_fault_facts *fault)
{
	static const char *const accesses[] = {NULL, "read", "write", "execute"};
	static const char *const places[] = {NULL,     "null",   "non-canonical",
					     "kernel", "guard",  "slot",
					     "code",   "mapped", "unmapped"};
	if (!fault->has_address && !fault->access && !fault->held_count)
		return;
	struct json_object *part = rcore_json_object(json);
	add_address(json, part, fault->has_address, fault->address);
	rcore_json_add_text(json, part, "access", accesses[fault->access]);
	rcore_json_add_text(json, part, "access_known_by", fault->access_source);
	rcore_json_add_text(json, part, "place", places[fault->place]);
	rcore_json_add_text(json, part, "text", fault->text);
	if (fault->slot.address)
		add_slot(json, part, &fault->slot);
	if (fault->held_count) {
		struct json_object *held = json_object_new_array();
		for (size_t i = 0; i < fault->held_count; i++) {
			struct json_object *one = rcore_json_object(json);
			rcore_json_add_text(json, one, "register", fault->held[i].name);
			add_slot(json, one, &fault->held[i].slot);
			if (!held || json_object_array_add(held, one))
				json->no_memory = true;
		}
		rcore_json_add(json, part, "registers", held);
	}
	rcore_json_add(json, object, "fault", part);
}

static void add_last_words(struct rcore_json *json, struct json_object *object,
			   const struct rcore_cause *cause)
{
	rcore_json_add_flag(json, object, "in_gc", cause->in_gc);
	rcore_json_add_text(json, object, "abort_message", cause->abort_message);
	rcore_json_add_text(json, object, "bug", cause->bug);
	rcore_json_add_text(json, object, "out_of_memory", cause->out_of_memory);
	if (!cause->exception)
		return;
	struct json_object *exception = rcore_json_object(json);
	rcore_json_add_text(json, exception, "class", cause->exception->class_name);
	rcore_json_add_text(json, exception, "message", cause->exception->message);
	rcore_json_add(json, object, "exception", exception);
}

void rcore_json_cause(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	const struct rcore_cause *cause = &snapshot->cause;
	if (!cause->present)
		return;
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "text", cause->text);
	add_signal(json, object, cause->signo, cause->code, cause->has_address, cause->address);
	rcore_json_add_count(json, object, "sender_pid", cause->sender_pid);
	rcore_json_add_flag(json, object, "from_outside", cause->from_outside);
	if (cause->original_signo) {
		struct json_object *original = rcore_json_object(json);
		add_signal(json, original, cause->original_signo, cause->original_code,
			   cause->has_original_address, cause->original_address);
		rcore_json_add_count(json, original, "sender_pid", cause->original_sender_pid);
		rcore_json_add(json, object, "original", original);
	}
	add_overflow(json, object, snapshot);
	add_fault(json, object, &cause->fault);
	add_last_words(json, object, cause);
	rcore_json_add_count(json, object, "tid", cause->tid);
	if (rcore_index_valid(cause->thread, snapshot->thread_count))
		rcore_json_add_text(json, object, "thread",
				    snapshot->threads[cause->thread].id);
	if (rcore_index_valid(cause->fiber, snapshot->fiber_count))
		rcore_json_add_text(json, object, "fiber", snapshot->fibers[cause->fiber].id);
	rcore_json_put(json, "cause", object);
}
