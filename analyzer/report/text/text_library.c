/* SPDX-License-Identifier: MIT */
#include "report/text/text_library.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "image/symbolize/symbolize_gem.h"
#include "report/names.h"

enum { SHOWN = 4, NAME_SIZE = 64 };

struct gems {
	char names[SHOWN][NAME_SIZE];
	size_t count; /* also of those that have no place */
};

/* Sets the name of the gem whose file a frame is in: "puma" of puma-8.0.2. */
static bool gem_of_frame(const struct rcore_frame *frame, char ret[NAME_SIZE])
{
	const char *start;
	size_t length = frame->path ? rcore_gem_of_path(frame->path, &start) : 0;
	if (!length)
		return false;
	size_t end = 1;
	while (end + 1 < length &&
	       !(start[end] == '-' && isdigit((unsigned char)start[end + 1])))
		end++;
	if (end + 1 >= length)
		end = length;
	rcore_format(ret, NAME_SIZE, "%.*s", (int)end, start);
	return true;
}

static void add(struct gems *gems, const char *name)
{
	for (size_t i = 0; i < gems->count && i < SHOWN; i++)
		if (!strcmp(gems->names[i], name))
			return;
	if (gems->count < SHOWN)
		snprintf(gems->names[gems->count], NAME_SIZE, "%s", name);
	gems->count++;
}

void rcore_text_library(const struct rcore_pen *pen, const struct rcore_fiber *fiber,
			const struct rcore_row *row)
{
	struct gems gems = {0};
	size_t frames = 0;
	char name[NAME_SIZE], number[RCORE_COUNT_SIZE];
	for (size_t i = row->index; i < row->index + row->count; i++) {
		frames += fiber->frames[i].kind != RCORE_FRAME_DUMMY;
		if (gem_of_frame(&fiber->frames[i], name))
			add(&gems, name);
	}
	rcore_style(pen, RCORE_STYLE_QUIET);
	fprintf(pen->out, "%8s  (%s frames of ", "", rcore_count_text(frames, number));
	for (size_t i = 0; i < gems.count && i < SHOWN; i++) {
		fputs(i ? ", " : "", pen->out);
		rcore_escape_write(pen->out, gems.names[i]);
	}
	fputs(!gems.count          ? "the standard library"
	      : gems.count > SHOWN ? " and others"
				   : "",
	      pen->out);
	fputs("; --all shows them)", pen->out);
	rcore_style(pen, RCORE_STYLE_PLAIN);
	putc('\n', pen->out);
}
