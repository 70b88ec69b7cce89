/* SPDX-License-Identifier: MIT */
#include "report/ci/markup.h"

#include <ctype.h>
#include <stdbool.h>
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
 * Escapes text for a terminal, then for the format, one character after the
 * other: memory may be short.
 */
static void write_escaped(FILE *out, const char *text, replacement *replace, bool keeps_lines)
{
	char piece[RCORE_ESCAPE_SIZE];
	const char *start = text + strspn(text, " ");
	while (*text) {
		if (keeps_lines && *text == '\n') {
			putc(*text++, out);
			start = text + strspn(text, " ");
			continue;
		}
		text += rcore_escape_next(start, text, piece);
		write_replaced(out, piece, replace);
	}
}

void rcore_markup_xml(FILE *out, const char *text)
{
	write_escaped(out, text, xml, true);
}

void rcore_markup_markdown(FILE *out, const char *text)
{
	write_escaped(out, text, markdown, false);
}

void rcore_markup_message(FILE *out, const char *text)
{
	write_escaped(out, text, message, false);
}

void rcore_markup_property(FILE *out, const char *text)
{
	write_escaped(out, text, property, false);
}

void rcore_markup_sarif(FILE *out, const char *text)
{
	write_escaped(out, text, sarif, false);
}

void rcore_markup_uri(FILE *out, const char *path)
{
	write_replaced(out, path, uri);
}
