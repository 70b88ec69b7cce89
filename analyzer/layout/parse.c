/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_LINE = 512,
	MAX_WORDS = 5,
	MAX_STRUCT = 1 << 24, /* bytes of a struct; the VM's is about 10,000 */
};

struct parser {
	struct rcore_layout *layout;
	const char *origin;
	unsigned line;
	unsigned *seen; /* line of each item; 0: not seen yet */
	/* The item after the last one, because tables are printed in order. */
	size_t next;
	bool has_name, has_version, has_machine;
};

__attribute__((format(printf, 2, 3))) static struct rcore_error *
complain(const struct parser *parser, const char *format, ...)
{
	char text[2 * MAX_LINE];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return rcore_error_create(RCORE_ERROR_FORMAT, "%s:%u: %s", parser->origin, parser->line,
				  text);
}

static struct rcore_error *number(const struct parser *parser, const char *word, long low,
				  long high, long *ret)
{
	char *end;
	errno = 0;
	long value = strtol(word, &end, 10);
	if (end == word || *end || errno || value < low || value > high)
		return complain(parser, "'%s' is not a number from %ld to %ld", word, low,
				high);
	*ret = value;
	return NULL;
}

/* Finds "struct vm", "enum qnil" or "vm.main_thread". */
static const struct rcore_item *find(struct parser *parser, enum rcore_item_kind kind,
				     const char *group, const char *id)
{
	for (size_t i = 0; i < rcore_item_count; i++) {
		size_t index = (parser->next + i) % rcore_item_count;
		const struct rcore_item *item = &rcore_items[index];
		if (item->kind == kind && !strcmp(item->group, group) &&
		    !strcmp(item->id, id)) {
			parser->next = index + 1;
			return item;
		}
	}
	return NULL;
}

static struct rcore_error *see(struct parser *parser, const struct rcore_item *item)
{
	unsigned *seen = &parser->seen[item - rcore_items];
	if (*seen)
		return complain(parser, "the same item as line %u", *seen);
	*seen = parser->line;
	return NULL;
}

/*
 * '-': this Ruby does not have it. '?': not measured, even if the base table
 * has it.
 */
static bool parse_unknown(struct parser *parser, const struct rcore_item *item,
			  const char *word)
{
	if (!strcmp(word, "-"))
		rcore_item_set_absent(parser->layout, item);
	else if (!strcmp(word, "?"))
		rcore_item_set_unmeasured(parser->layout, item);
	else
		return false;
	return true;
}

/*
 * "4.0.5" after a struct: the release from which it is borrowed. A table has
 * only one.
 */
static struct rcore_error *parse_borrowed(struct parser *parser, const struct rcore_item *item,
					  const char *word)
{
	unsigned *neighbour = parser->layout->neighbour, version[3];
	if (!rcore_version_parse(word, version))
		return complain(parser, "'%s' is not a version such as 4.0.5", word);
	if (neighbour[0] && memcmp(neighbour, version, sizeof(version)))
		return complain(parser, "structs of more than one other release");
	memcpy(neighbour, version, sizeof(version));
	*rcore_item_borrowed(parser->layout, item) = true;
	return NULL;
}

static struct rcore_error *parse_struct(struct parser *parser, const char *id, const char *word,
					const char *borrowed)
{
	const struct rcore_item *item = find(parser, RCORE_ITEM_STRUCT, id, "");
	if (!item)
		return complain(parser, "unknown struct '%s'", id);
	long size = 0;
	struct rcore_error *err = see(parser, item);
	if (err || (!borrowed && parse_unknown(parser, item, word)))
		return err;
	err = number(parser, word, 1, MAX_STRUCT, &size);
	if (err)
		return err;
	*rcore_item_size(parser->layout, item) = (uint32_t)size;
	*rcore_item_unmeasured(parser->layout, item) = false;
	*rcore_item_borrowed(parser->layout, item) = false;
	return borrowed ? parse_borrowed(parser, item, borrowed) : NULL;
}

static struct rcore_error *parse_enum(struct parser *parser, const char *id, const char *word)
{
	const struct rcore_item *item = find(parser, RCORE_ITEM_ENUM, "", id);
	if (!item)
		return complain(parser, "unknown enumerator '%s'", id);
	long value = 0;
	struct rcore_error *err = see(parser, item);
	if (err || parse_unknown(parser, item, word))
		return err;
	err = number(parser, word, INT32_MIN, UINT32_MAX, &value);
	if (!err)
		*rcore_item_constant(parser->layout, item) = value;
	return err;
}

static struct rcore_error *parse_bits(struct parser *parser, char *word,
				      struct rcore_field *ret)
{
	long bit = 0, bits = 0;
	char *colon = strchr(word, ':');
	if (!colon)
		return complain(parser, "'%s' is not BIT:BITS", word);
	*colon = '\0';
	struct rcore_error *err = number(parser, word, 0, 7, &bit);
	if (!err)
		err = number(parser, colon + 1, 1, 64, &bits);
	ret->bit = (uint8_t)bit;
	ret->bits = (uint8_t)bits;
	return err;
}

static struct rcore_error *parse_field(struct parser *parser, char **words, size_t count)
{
	char *dot = strchr(words[0], '.');
	*dot = '\0';
	const struct rcore_item *item = find(parser, RCORE_ITEM_FIELD, words[0], dot + 1);
	if (!item)
		return complain(parser, "unknown field '%s.%s'", words[0], dot + 1);
	struct rcore_error *err = see(parser, item);
	if (err)
		return err;
	if (count == 2 && parse_unknown(parser, item, words[1]))
		return NULL;
	if (count < 3 || count > 4)
		return complain(parser, "expected '%s.%s OFFSET SIZE [BIT:BITS]', '-' or '?'",
				words[0], dot + 1);
	long offset = 0, size = 0;
	struct rcore_field field = {0};
	err = number(parser, words[1], 0, MAX_STRUCT, &offset);
	if (!err)
		err = number(parser, words[2], 0, UINT16_MAX, &size);
	if (!err && count == 4)
		err = parse_bits(parser, words[3], &field);
	if (err)
		return err;
	field.offset = (int32_t)offset;
	field.size = (uint16_t)size;
	*rcore_item_field(parser->layout, item) = field;
	return NULL;
}

static struct rcore_error *parse_head(struct parser *parser, char **words)
{
	struct rcore_layout *layout = parser->layout;
	bool *seen = words[0][0] == 'l'   ? &parser->has_name
		     : words[0][0] == 'r' ? &parser->has_version
					  : &parser->has_machine;
	if (*seen)
		return complain(parser, "a second '%s' line", words[0]);
	*seen = true;
	if (seen == &parser->has_name) {
		if (strlen(words[1]) >= sizeof(layout->name))
			return complain(parser, "a name longer than %zu characters",
					sizeof(layout->name) - 1);
		strcpy(layout->name, words[1]);
	} else if (seen == &parser->has_version) {
		if (!rcore_version_range_parse(words[1], layout->version, &layout->last_patch))
			return complain(parser,
					"'%s' is neither a version such as 3.3.0 nor a range "
					"such as 3.3.1..3.3.6",
					words[1]);
	} else {
		layout->machine = rcore_machine_number(words[1]);
		if (!layout->machine)
			return complain(parser, "machine '%s' is not x86_64 or aarch64",
					words[1]);
	}
	return NULL;
}

static struct rcore_error *parse_line(struct parser *parser, char *line)
{
	char *words[MAX_WORDS + 1], *save = NULL;
	size_t count = 0;

	for (char *word = strtok_r(line, " \t\r", &save); word;
	     word = strtok_r(NULL, " \t\r", &save)) {
		if (count == MAX_WORDS)
			return complain(parser, "more than %d words", MAX_WORDS);
		words[count++] = word;
	}
	if (!count || words[0][0] == '#')
		return NULL;
	if (count == 2 && (!strcmp(words[0], "layout") || !strcmp(words[0], "ruby") ||
			   !strcmp(words[0], "machine")))
		return parse_head(parser, words);
	if ((count == 3 || count == 4) && !strcmp(words[0], "struct"))
		return parse_struct(parser, words[1], words[2], count == 4 ? words[3] : NULL);
	if (count == 3 && !strcmp(words[0], "enum"))
		return parse_enum(parser, words[1], words[2]);
	if (count >= 2 && strchr(words[0], '.'))
		return parse_field(parser, words, count);
	return complain(parser, "'%s' does not start a line of a layout table", words[0]);
}

/* Copies the next line of `text`, as printable characters, to `line`. */
static struct rcore_error *copy_line(const struct parser *parser, const char *text,
				     size_t length, char line[MAX_LINE])
{
	if (length && text[0] == '#')
		length = 0;
	if (length >= MAX_LINE)
		return complain(parser, "a line longer than %d characters", MAX_LINE - 1);
	for (size_t i = 0; i < length; i++) {
		bool printable = (text[i] >= ' ' && text[i] <= '~') || text[i] == '\t' ||
				 text[i] == '\r';
		line[i] = printable ? text[i] : '?';
	}
	line[length] = '\0';
	return NULL;
}

/* Without these structs, nothing can be read. */
static const char *lacks_struct(const struct rcore_layout *layout)
{
	return !layout->vm.size       ? "vm"
	       : !layout->thread.size ? "thread"
	       : !layout->ec.size     ? "ec"
				      : NULL;
}

/* Checks that each field is inside its struct, once the text is read. */
static struct rcore_error *check_fields(struct parser *parser)
{
	uint32_t size = 0;
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind == RCORE_ITEM_STRUCT)
			size = *rcore_item_size(parser->layout, item);
		if (item->kind != RCORE_ITEM_FIELD)
			continue;
		const struct rcore_field *field = rcore_item_field(parser->layout, item);
		if (rcore_has_place(field) &&
		    (uint32_t)field->offset + rcore_field_width(field) > size) {
			parser->line = parser->seen[i];
			return complain(parser, "%s.%s is past the end of struct %s (%u bytes)",
					item->group, item->id, item->group, size);
		}
	}
	return NULL;
}

static struct rcore_error *check(struct parser *parser)
{
	const char *lacks = !parser->has_name      ? "layout NAME"
			    : !parser->has_version ? "ruby X.Y.Z"
			    : !parser->has_machine ? "machine NAME"
						   : NULL;
	if (lacks)
		return complain(parser, "the table has no line '%s'", lacks);
	struct rcore_error *err = check_fields(parser);
	lacks = err ? NULL : lacks_struct(parser->layout);
	if (lacks)
		return complain(
			parser,
			"the table has no struct %s; print it again with 'rcore layout FILE'",
			lacks);
	return err;
}

struct rcore_error *rcore_layout_parse_over(const struct rcore_layout *base, const char *text,
					    const char *origin, struct rcore_layout *ret)
{
	struct rcore_layout layout;
	struct parser parser = {.layout = &layout, .origin = origin};
	struct rcore_error *err = NULL;

	parser.seen = calloc(rcore_item_count, sizeof(*parser.seen));
	if (!parser.seen)
		return rcore_error_no_memory();
	rcore_layout_init(&layout);
	if (base) {
		layout = *base;
		parser.has_machine = true;
	}
	while (!err && *text) {
		char line[MAX_LINE];
		size_t length = strcspn(text, "\n");
		parser.line++;
		err = copy_line(&parser, text, length, line);
		if (!err)
			err = parse_line(&parser, line);
		text += length + (text[length] == '\n');
	}
	if (!err)
		err = check(&parser);
	free(parser.seen);
	if (err)
		return err;
	layout.source = layout.neighbour[0] ? RCORE_LAYOUT_APPROXIMATE : RCORE_LAYOUT_EXACT;
	rcore_layout_set_traits(&layout);
	*ret = layout;
	return NULL;
}

struct rcore_error *rcore_layout_parse(const char *text, const char *origin,
				       struct rcore_layout *ret)
{
	return rcore_layout_parse_over(NULL, text, origin, ret);
}
