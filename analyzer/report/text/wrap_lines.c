/* SPDX-License-Identifier: MIT */
#include "report/text/wrap_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
	GAP = 2,         /* spaces between the columns of a line */
	FRAME = 7,       /* frames are indented by at least as much */
	HANGING = 4,     /* how much a continued line is indented more */
	SHORT_WIDTH = 3, /* of "..." */
};

/* One line, without its newline. */
struct line {
	const char *start, *end;
};

static bool is_escape(const char *at, const char *end)
{
	return end - at >= 2 && at[0] == '\033' && at[1] == '[';
}

/*
 * Returns the end of the character or the escape sequence at `at`, and its
 * width.
 */
static const char *next_cell(const char *at, const char *end, size_t *ret_width)
{
	*ret_width = 0;
	if (is_escape(at, end)) {
		for (at += 2; at < end && (*at < '@' || *at > '~'); at++)
			;
		return at < end ? at + 1 : end;
	}
	char piece[5] = "";
	uint32_t character;
	memcpy(piece, at, end - at < 4 ? (size_t)(end - at) : 4);
	size_t length = rcore_utf8_decode(piece, &character);
	*ret_width = length ? rcore_character_width(character) : 1;
	return at + (length ? length : 1);
}

static size_t width_of(const struct line *line)
{
	size_t sum = 0, width;
	for (const char *at = line->start; at < line->end; sum += width)
		at = next_cell(at, line->end, &width);
	return sum;
}

/* Returns the first character that is no space, and in which column it is. */
static const char *skip_indent(const struct line *line, size_t *ret_indent)
{
	const char *at = line->start;
	*ret_indent = 0;
	while (at < line->end && (*at == ' ' || is_escape(at, line->end))) {
		size_t width;
		at = next_cell(at, line->end, &width);
		*ret_indent += width;
	}
	return at;
}

/* Copies a line into `copy` with gaps of at most GAP spaces. */
static struct line without_alignment(const struct line *line, char *copy)
{
	size_t indent;
	const char *at = skip_indent(line, &indent);
	char *out = mempcpy(copy, line->start, (size_t)(at - line->start));
	for (int spaces = 0; at < line->end; at++) {
		spaces = *at == ' ' ? spaces + 1 : 0;
		if (spaces <= GAP)
			*out++ = *at;
	}
	return (struct line){copy, out};
}

/* Finds the last word that is a path of several folders. */
static bool find_path(const struct line *line, struct line *ret)
{
	const char *end = line->end;
	while (end > line->start) {
		const char *start = end;
		int folders = 0;
		while (start > line->start && start[-1] != ' ')
			folders += *--start == '/';
		if (folders >= 2) {
			*ret = (struct line){start, end};
			return true;
		}
		end = start > line->start ? start - 1 : start;
	}
	return false;
}

/*
 * Returns the slash at which a path must begin to be `excess` columns shorter.
 * What is below a folder of gems, the name of the gem, says the most. NULL: not
 * even its last part fits.
 */
static const char *place_of_cut(const struct line *path, size_t excess)
{
	static const char gems[] = "/gems/";
	const char *first = NULL, *gem = NULL;
	for (const char *at = path->start; at < path->end; at++) {
		const struct line head = {path->start, at};
		if (*at != '/' || width_of(&head) < excess + SHORT_WIDTH)
			continue;
		first = first ? first : at;
		if (at - path->start >= (long)sizeof(gems) - 2 &&
		    !memcmp(at - (sizeof(gems) - 2), gems, sizeof(gems) - 1))
			gem = at;
	}
	return gem ? gem : first;
}

/*
 * Writes a frame or a row of a table without the first folders of its path.
 * Returns false, and writes nothing, if that is impossible.
 */
static bool put_short(const struct line *line, const struct rcore_wrap *wrap, FILE *out)
{
	struct line path;
	size_t indent;
	skip_indent(line, &indent);
	const char *cut = (indent >= FRAME || wrap->is_table) && find_path(line, &path)
				  ? place_of_cut(&path, width_of(line) - wrap->width)
				  : NULL;
	if (!cut)
		return false;
	fwrite(line->start, 1, (size_t)(path.start - line->start), out);
	fputs("...", out);
	fwrite(cut, 1, (size_t)(line->end - cut), out);
	return true;
}

/* Returns the end of the part of [at, end) that fits `room`: up to a space. */
static const char *fitting(const char *at, const char *end, size_t room)
{
	const char *space = NULL;
	size_t used = 0, width;
	for (const char *next; at < end; at = next) {
		next = next_cell(at, end, &width);
		used += width;
		if (used > room && space)
			return space;
		if (used > room && *at == ' ')
			return at;
		if (*at == ' ' && at[-1] != ' ')
			space = at;
	}
	return end;
}

static void put_wrapped(const struct line *line, size_t width, FILE *out)
{
	size_t indent;
	const char *at = skip_indent(line, &indent);
	fwrite(line->start, 1, (size_t)(at - line->start), out);
	for (size_t column = indent;;) {
		const char *end = fitting(at, line->end, width > column ? width - column : 1);
		fwrite(at, 1, (size_t)(end - at), out);
		for (at = end; at < line->end && *at == ' '; at++)
			;
		if (at == line->end)
			return;
		column = indent + HANGING < width / 2 ? indent + HANGING : width / 2;
		fprintf(out, "\n%*s", (int)column, "");
	}
}

/* `room` is for a copy of the line. */
static void put_line(const struct line *line, const struct rcore_wrap *wrap, char *room,
		     FILE *out)
{
	if (width_of(line) <= wrap->width) {
		fwrite(line->start, 1, (size_t)(line->end - line->start), out);
		return;
	}
	struct line narrow = wrap->is_table ? *line : without_alignment(line, room);
	if (width_of(&narrow) > wrap->width && !wrap->keep_paths &&
	    put_short(&narrow, wrap, out))
		return;
	put_wrapped(&narrow, wrap->width, out);
}

void rcore_wrap_lines(const char *text, size_t size, const struct rcore_wrap *wrap, FILE *out)
{
	char *room = malloc(size + 1);
	const char *end = text + size;
	if (!room) {
		fwrite(text, 1, size, out);
		return;
	}
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const struct line line = {text, newline ? newline : end};
		put_line(&line, wrap, room, out);
		if (newline)
			putc('\n', out);
		text = newline ? newline + 1 : end;
	}
	free(room);
}
