/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"

bool rcore_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool rcore_ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), size = strlen(ending);
	return length > size && strcmp(text + length - size, ending) == 0;
}

const char *rcore_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

size_t rcore_utf8_decode(const char *text, uint32_t *ret)
{
	static const uint32_t minimum[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char first = bytes[0];
	if (first < 0x80) {
		*ret = first;
		return 1;
	}
	size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	uint32_t character = first & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (bytes[i] & 0x3f);
	}
	if (character < minimum[length] || character > 0x10ffff ||
	    (character >= 0xd800 && character <= 0xdfff))
		return 0;
	*ret = character;
	return length;
}

bool rcore_utf8_valid(const char *text)
{
	uint32_t character;
	while (*text) {
		size_t length = rcore_utf8_decode(text, &character);
		if (!length)
			return false;
		text += length;
	}
	return true;
}

/* A byte that belongs to no valid character counts as one. */
size_t rcore_utf8_cut(const char *text, size_t most)
{
	enum { CONTINUATIONS = 3 };
	size_t size = strnlen(text, most + 1);
	if (size <= most)
		return size;
	for (size = most; size && most - size < CONTINUATIONS; size--)
		if (((unsigned char)text[size] & 0xc0) != 0x80)
			return size;
	return ((unsigned char)text[size] & 0xc0) != 0x80 ? size : most;
}

void rcore_utf8_trim(char *text)
{
	size_t size = strlen(text), begin = size;
	uint32_t character;
	while (begin && size - begin < 3 && ((unsigned char)text[begin - 1] & 0xc0) == 0x80)
		begin--;
	unsigned char first = begin ? (unsigned char)text[begin - 1] : 0;
	size_t wanted = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
	if (wanted > size - begin + 1 && !rcore_utf8_decode(text + begin - 1, &character))
		text[begin - 1] = '\0';
}

const char *rcore_format(char *buffer, size_t size, const char *format, ...)
{
	static const char more[] = "...";
	va_list args;
	va_start(args, format);
	int length = vsnprintf(buffer, size, format, args);
	va_end(args);
	if (length < 0 || (size_t)length < size)
		return buffer;
	if (size >= sizeof(more))
		memcpy(buffer + rcore_utf8_cut(buffer, size - sizeof(more)), more,
		       sizeof(more));
	else if (size)
		buffer[0] = '\0';
	return buffer;
}

bool rcore_unsafe_character(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} unsafe[] = {
		{0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
		{0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180e, 0x180e},
		{0x200b, 0x200b}, {0x200e, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
		{0x3164, 0x3164}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff9, 0xfffb},
		{0xfffe, 0xffff}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
	};
	if (character >= 0x20 && character < 0x7f)
		return false;
	for (size_t i = 0; i < RCORE_COUNT(unsafe); i++)
		if (character >= unsafe[i].first && character <= unsafe[i].last)
			return true;
	return false;
}

/*
 * CI systems obey commands in what a job prints: GitHub lines like
 * "  ::name::", and "##[" anywhere; Azure "##vso["; TeamCity "##teamcity[". A
 * text may begin a line.
 */
static bool is_command(const char *start, const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	if (text[0] == '#' && text[1] == '#')
		return text[2 + strspn(text + 2, letters)] == '[';
	return text == start && text[0] == ':' && text[1] == ':' && strstr(text + 2, "::");
}

size_t rcore_escape_next(const char *start, const char *text, char piece[RCORE_ESCAPE_SIZE])
{
	static const char letters[] = "abtnvfr"; /* bytes 7 to 13 */
	uint32_t character;
	size_t length = rcore_utf8_decode(text, &character);
	if (!length || is_command(start, text)) {
		snprintf(piece, RCORE_ESCAPE_SIZE, "\\x%02X", (unsigned char)*text);
		return 1;
	}
	if (!rcore_unsafe_character(character)) {
		memcpy(piece, text, length);
		piece[length] = '\0';
	} else if (character >= 7 && character <= 13) {
		snprintf(piece, RCORE_ESCAPE_SIZE, "\\%c", letters[character - 7]);
	} else if (character == 0x1b) {
		snprintf(piece, RCORE_ESCAPE_SIZE, "\\e");
	} else if (character < 0x80) {
		snprintf(piece, RCORE_ESCAPE_SIZE, "\\x%02X", character);
	} else {
		snprintf(piece, RCORE_ESCAPE_SIZE, "\\u{%X}", character);
	}
	return length;
}

const char *rcore_escape(char *buffer, size_t size, const char *text)
{
	static const char more[] = "...";
	char piece[RCORE_ESCAPE_SIZE];
	const char *start = text + strspn(text, " ");
	size_t used = 0, safe = 0;
	while (*text) {
		text += rcore_escape_next(start, text, piece);
		size_t length = strlen(piece);
		if (used + length + 1 > size) {
			memcpy(buffer + safe, more, sizeof(more));
			return buffer;
		}
		memcpy(buffer + used, piece, length);
		used += length;
		if (used + sizeof(more) <= size)
			safe = used;
	}
	buffer[used] = '\0';
	return buffer;
}

static size_t plain_length(const char *start, const char *text)
{
	size_t length = 0;
	while (text[length] >= 0x20 && text[length] < 0x7f && !is_command(start, text + length))
		length++;
	return length;
}

static size_t escape_to(FILE *out, const char *text)
{
	char piece[RCORE_ESCAPE_SIZE];
	const char *start = text + strspn(text, " ");
	size_t width = 0;
	uint32_t character;
	while (*text) {
		size_t length = plain_length(start, text);
		if (length) {
			if (out)
				fwrite(text, 1, length, out);
			width += length;
			text += length;
			continue;
		}
		text += rcore_escape_next(start, text, piece);
		if (out)
			fputs(piece, out);
		if (piece[0] == '\\')
			width += strlen(piece);
		else if (rcore_utf8_decode(piece, &character))
			width += rcore_character_width(character);
	}
	return width;
}

size_t rcore_escape_write(FILE *out, const char *text)
{
	return escape_to(out, text);
}

size_t rcore_escape_width(const char *text)
{
	return escape_to(NULL, text);
}

static bool has_unsafe(const char *text)
{
	uint32_t character;
	while (*text) {
		size_t length = rcore_utf8_decode(text, &character);
		if (!length || rcore_unsafe_character(character))
			return true;
		text += length;
	}
	return false;
}

void rcore_shell_write(FILE *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	bool is_unsafe = has_unsafe(text);
	if (text[0] && !text[strspn(text, plain)]) {
		fputs(text, out);
		return;
	}
	fputs(is_unsafe ? "$'" : "'", out);
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;
		if (is_unsafe && (byte < 0x20 || byte >= 0x7f || byte == '\'' || byte == '\\'))
			fprintf(out, "\\x%02X", byte);
		else if (byte == '\'')
			fputs("'\\''", out);
		else
			putc(byte, out);
	}
	putc('\'', out);
}

struct stream {
	char **text;
	size_t *size;
	size_t capacity;
	bool is_short;
};

/* Keeps the text NUL-terminated. */
static bool append(struct stream *stream, const char *bytes, size_t size)
{
	size_t needed = *stream->size + size + 1;
	if (!stream->is_short && needed > stream->capacity) {
		size_t capacity = needed + needed / 2;
		char *grown = realloc(*stream->text, capacity);
		stream->is_short = !grown;
		if (grown) {
			*stream->text = grown;
			stream->capacity = capacity;
		}
	}
	if (stream->is_short)
		return false;
	if (size)
		memcpy(*stream->text + *stream->size, bytes, size);
	*stream->size += size;
	(*stream->text)[*stream->size] = '\0';
	return true;
}

static ssize_t write_stream(void *cookie, const char *bytes, size_t size)
{
	return append(cookie, bytes, size) ? (ssize_t)size : 0;
}

static int close_stream(void *cookie)
{
	struct stream *stream = cookie;
	bool is_whole = append(stream, "", 0);
	if (!is_whole) {
		free(*stream->text);
		*stream->text = NULL;
		*stream->size = 0;
		errno = ENOMEM;
	}
	free(stream);
	return is_whole ? 0 : EOF;
}

FILE *rcore_open_text(char **text, size_t *size)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	if (!stream)
		return NULL;
	*stream = (struct stream){.text = text, .size = size};
	*text = NULL;
	*size = 0;
	FILE *out = fopencookie(
		stream, "w",
		(cookie_io_functions_t){.write = write_stream, .close = close_stream});
	if (!out)
		free(stream);
	return out;
}
