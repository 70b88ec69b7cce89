/* SPDX-License-Identifier: MIT */
#include "report/text/process/cause_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"

enum { LONGEST = 400 }; /* of a text of the target */

struct lines {
	void (*write)(void *context, const char *line);
	void *context;
};

/* Writes `start`, a text of the target (NULL: nothing), and `end`. */
static void put(const struct lines *lines, const char *start, const char *text, const char *end)
{
	char *line = NULL, escaped[LONGEST];
	if (asprintf(&line, "%s%s%s", start,
		     text ? rcore_escape(escaped, sizeof(escaped), text) : "", end) >= 0)
		lines->write(lines->context, line);
	free(line);
}

static void put_exception(const struct lines *lines, const struct rcore_exception *exception)
{
	char start[LONGEST + 64], name[LONGEST];
	snprintf(start, sizeof(start), "While handling %s%s",
		 rcore_escape(name, sizeof(name),
			      exception->class_name ? exception->class_name : "an exception"),
		 exception->message ? ": " : "");
	put(lines, start, exception->message, "");
}

static void put_held(const struct lines *lines, const struct rcore_held_slot *held)
{
	char line[160];
	snprintf(line, sizeof(line),
		 "Register %s contained 0x%" PRIx64
		 ", a slot of the GC heap without an object (%s)",
		 held->name, held->slot.address, held->slot.type ? held->slot.type : "?");
	put(lines, line, NULL, "");
}

void rcore_cause_lines(const struct rcore_cause *cause,
		       void (*write)(void *context, const char *line), void *context)
{
	const struct lines lines = {write, context};
	if (cause->bug)
		put(&lines, "Ruby said: [BUG] ", cause->bug, "");
	if (cause->abort_message)
		put(&lines, "Abort message: ", cause->abort_message, "");
	if (cause->out_of_memory)
		put(&lines, "Out of memory: ", cause->out_of_memory, "");
	if (cause->exception)
		put_exception(&lines, cause->exception);
	if (cause->in_gc)
		put(&lines, "The garbage collector was running", NULL, "");
	for (size_t i = 0; i < cause->fault.held_count; i++)
		put_held(&lines, &cause->fault.held[i]);
}
