/* SPDX-License-Identifier: MIT */
#include "triage/messages.h"

#include <string.h>

#include "base/count.h"
#include "base/text.h"

/*
 * The innermost exception says most, but one of its causes may say that memory
 * was short.
 */
static const char *short_of_memory(const struct rcore_exception *exception)
{
	enum { CAUSE_LIMIT = 100 };
	for (int i = 0; exception && i < CAUSE_LIMIT; i++, exception = exception->cause) {
		const char *name = exception->class_name, *message = exception->message;
		if (rcore_same_text(name, "NoMemoryError"))
			return "a NoMemoryError";
		if (rcore_same_text(name, "Errno::ENOMEM"))
			return "an Errno::ENOMEM";
		if (message && strstr(message, "Cannot allocate memory"))
			return "from an exception";
	}
	return NULL;
}

static const char *said(const char *text)
{
	static const char *const words[] = {"Cannot allocate memory",
					    "failed to allocate memory", "out of memory"};
	for (size_t i = 0; text && i < RCORE_COUNT(words); i++)
		if (strstr(text, words[i]))
			return "from its last output";
	return NULL;
}

static const char *on_stack(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->native_count; i++)
		if (rcore_same_text(fiber->native[i].function, "rb_memerror"))
			return "it was raising a NoMemoryError";
	return NULL;
}

void rcore_messages_find(struct rcore_snapshot *snapshot)
{
	struct rcore_cause *cause = &snapshot->cause;
	if (!cause->present)
		return;
	cause->in_gc = snapshot->facts.in_gc;
	cause->out_of_memory = said(cause->bug);
	if (!cause->out_of_memory)
		cause->out_of_memory = said(cause->abort_message);
	if (cause->fiber < 0)
		return;
	const struct rcore_fiber *fiber = &snapshot->fibers[cause->fiber];
	if (fiber->exception_count)
		cause->exception = &fiber->exceptions[0];
	for (size_t i = 0; i < fiber->exception_count && !cause->out_of_memory; i++)
		cause->out_of_memory = short_of_memory(&fiber->exceptions[i]);
	if (!cause->out_of_memory)
		cause->out_of_memory = on_stack(fiber);
}
