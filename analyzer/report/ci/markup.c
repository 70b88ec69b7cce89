/* SPDX-License-Identifier: MIT */
#include "report/ci/markup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* Returns the replacement of a character; NULL if it stays. */
typedef const char *replacement(char character, char buffer[8]);

static const char *xml(char character, char buffer[8])
{
	switch (character) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/*
 * Writes it as a number, which Markdown never treats as markup; '@' and '#'
 * would mention people and issues. Characters that are special only at the
 * start of a line, or after a character that is replaced here, stay.
 */
static const char *markdown(char character, char buffer[8])
{
	if (!strchr("\\`*_[]<>#|~&@$", character))
		return NULL;
	snprintf(buffer, 8, "&#%d;", character);
	return buffer;
}

static const char *message(char character, char buffer[8])
{
	return character == '%' ? "%25" : NULL;
}

static const char *property(char character, char buffer[8])
{
	return character == ':' ? "%3A" : character == ',' ? "%2C" : message(character, buffer);
}

static const char *sarif(char character, char buffer[8])
{
	if (!strchr("[]\\{}", character))
		return NULL;
	snprintf(buffer, 8, "%c%c", strchr("{}", character) ? character : '\\', character);
	return buffer;
}

static const char *uri(char character, char buffer[8])
{
	if (isalnum((unsigned char)character) || strchr("-._~/", character))
		return NULL;
	snprintf(buffer, 8, "%%%02X", (unsigned char)character);
	return buffer;
}

static void write_replaced(FILE *out, const char *text, replacement *replace)
{
	char buffer[8];
	for (; *text; text++) {
		const char *other = replace(*text, buffer);
		if (other)
			fputs(other, out);
		else
			putc(*text, out);
	}
}

/*
 * Escapes a line for a terminal, then for the format. Returns false if memory
 * was short, and the text says so, too.
 */
static bool write_line(FILE *out, const char *line, size_t length, replacement *replace)
{
	char *copy = strndup(line, length), *escaped = NULL;
	size_t size = 0;
	FILE *stream = copy ? rcore_open_text(&escaped, &size) : NULL;
	if (stream) {
		rcore_escape_write(stream, copy);
		fclose(stream);
	}
	bool is_whole = escaped;
	if (is_whole)
		write_replaced(out, escaped, replace);
	else
		fputs("(memory is short)", out);
	free(escaped);
	free(copy);
	return is_whole;
}

void rcore_markup_xml(FILE *out, const char *text)
{
	for (;;) {
		size_t length = strcspn(text, "\n");
		write_line(out, text, length, xml);
		if (!text[length])
			return;
		putc('\n', out);
		text += length + 1;
	}
}

void rcore_markup_markdown(FILE *out, const char *text)
{
	write_line(out, text, strlen(text), markdown);
}

void rcore_markup_message(FILE *out, const char *text)
{
	write_line(out, text, strlen(text), message);
}

void rcore_markup_property(FILE *out, const char *text)
{
	write_line(out, text, strlen(text), property);
}

bool rcore_markup_sarif(FILE *out, const char *text)
{
	return write_line(out, text, strlen(text), sarif);
}

void rcore_markup_uri(FILE *out, const char *path)
{
	write_replaced(out, path, uri);
}
