/* SPDX-License-Identifier: MIT */
#include "redact/redact.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/error.h"
#include "base/filler.h"
#include "redact/known_secrets.h"
#include "redact/redact_parts.h"

#define MARK "[redacted]"

enum {
	LEAST_STARS = 6,       /* in a row: rcore_fill() wrote them */
	LEAST_WHOLE_STARS = 3, /* in quotes or alone */
};

struct rcore_redactor {
	enum rcore_redact mode;
	struct rcore_known_secrets *known;
	bool has_learned; /* from the whole process */
};

/* One walk through a model. */
struct walk {
	struct rcore_redactor *redactor;
	struct rcore_arena *arena;
	size_t *counts;
	void (*text)(struct walk *walk, const char **slot, const char *key);
	void (*name)(struct walk *walk, const char **slot);
	/* `key` may be NULL. */
	void (*value)(struct walk *walk, const char **slot, const char *key);
	void (*command)(struct walk *walk, const char **slot);
	bool no_memory;
};

struct rcore_redactor *rcore_redactor_new(enum rcore_redact mode)
{
	struct rcore_redactor *redactor = calloc(1, sizeof(*redactor));
	if (!redactor)
		return NULL;
	redactor->mode = mode;
	redactor->known = rcore_known_secrets_new();
	if (redactor->known)
		return redactor;
	free(redactor);
	return NULL;
}

void rcore_redactor_free(struct rcore_redactor *redactor)
{
	if (!redactor)
		return;
	rcore_known_secrets_free(redactor->known);
	free(redactor);
}

static bool is_literal(const char *text, size_t size)
{
	size_t at = 0, start, end;
	return text[0] == '"' && rcore_next_quoted(text, size, &at, &start, &end) && at == size;
}

/* Finds everything under a key, without its quotes or slashes. */
static void find_keyed(const char *text, size_t size, const char *key, struct rcore_spans *ret)
{
	if (!key || !rcore_secret_is_key(key, strlen(key)) || rcore_secret_is_void(text, size))
		return;
	size_t regexp_end = *text == '/' ? rcore_secret_regexp_end(text, size, 0) : 0;
	if (is_literal(text, size))
		rcore_span_add(ret, 1, size - 1, RCORE_REDACTED_KEY);
	else if (regexp_end)
		rcore_span_add(ret, 1, regexp_end, RCORE_REDACTED_KEY);
	else
		rcore_span_add(ret, 0, size, RCORE_REDACTED_KEY);
}

static void learn_one(struct walk *walk, const char *text, size_t size)
{
	walk->no_memory |= !rcore_known_secrets_add(walk->redactor->known, text, size);
}

/* Learns the text in quotes, or a word. */
static void learn_span(struct walk *walk, const char *text, const struct rcore_span *span)
{
	/* A shorter text often has another meaning elsewhere. */
	enum { SHORTEST_WORD = 6 };
	size_t at = span->start, start, end, size = span->end - span->start;
	if (at && strchr("\"'/", text[at - 1])) {
		learn_one(walk, text + at, size);
		return;
	}
	bool any = false;
	while (rcore_next_quoted(text, span->end, &at, &start, &end)) {
		any = true;
		learn_one(walk, text + start, end - start);
	}
	bool is_symbol = text[span->start] == ':';
	if (!any && size >= SHORTEST_WORD && !memchr(text + span->start, ' ', size))
		learn_one(walk, text + span->start + is_symbol, size - is_symbol);
}

static void learn(struct walk *walk, const char **slot, const char *key)
{
	struct rcore_spans spans = {0};
	size_t size = strlen(*slot);
	find_keyed(*slot, size, key, &spans);
	rcore_secret_keys(*slot, size, &spans);
	for (size_t i = 0; i < spans.count; i++)
		learn_span(walk, *slot, &spans.items[i]);
	walk->no_memory |= spans.no_memory;
	rcore_spans_deinit(&spans);
}

static size_t escape_size(const char *text)
{
	static const char *const kept[] = {"\\n", "\n", "\\x00", "\\u0000", "\\0"};
	for (size_t i = 0; i < RCORE_COUNT(kept); i++)
		if (!strncmp(text, kept[i], strlen(kept[i])))
			return strlen(kept[i]);
	return 0;
}

/*
 * Returns how many characters a run of stars has, including what rcore_fill()
 * keeps between them, and how many of these are stars.
 */
static size_t stars_at(const char *text, size_t *ret_stars)
{
	size_t at = 0, end = 0;
	*ret_stars = 0;
	while (text[at]) {
		size_t kept = escape_size(text + at);
		if (text[at] == RCORE_FILLER) {
			end = ++at;
			++*ret_stars;
		} else if (kept && end) {
			at += kept;
		} else {
			break;
		}
	}
	return end;
}

/*
 * Whether `at` is after the opening quote of a Symbol that needs quotes only
 * because of the stars.
 */
static bool is_symbol_quote(const char *text, size_t at)
{
	return at > 1 && text[at - 1] == '"' && text[at - 2] == ':' &&
	       (at == 2 || strchr(" [({,>=", text[at - 3]));
}

static size_t put_mark(char *out)
{
	memcpy(out, MARK, strlen(MARK));
	return strlen(MARK);
}

/* Replaces each run of stars with the mark. */
static const char *mark_stars(struct walk *walk, const char *text)
{
	size_t at = 0, length = 0, stars;
	char *out = rcore_arena_alloc(walk->arena, strlen(text) * 4 + 1);
	if (!out) {
		walk->no_memory = true;
		return NULL;
	}
	while (text[at]) {
		size_t size = stars_at(text + at, &stars);
		bool is_quoted = at && text[at - 1] == '"' && text[at + size] == '"';
		bool is_whole = is_quoted || (!at && !text[size]);
		if (stars >= (is_whole ? LEAST_WHOLE_STARS : LEAST_STARS)) {
			bool is_symbol = is_quoted && is_symbol_quote(text, at);
			length -= is_symbol;
			length += put_mark(out + length);
			at += size + is_symbol;
		} else {
			size += !size;
			memcpy(out + length, text + at, size);
			length += size;
			at += size;
		}
	}
	return out;
}

/* Replaces what was found with stars, and then the stars with the mark. */
static void replace(struct walk *walk, const char **slot, const struct rcore_spans *spans)
{
	char *text = (char *)*slot;
	if (spans->count) {
		text = rcore_arena_strdup(walk->arena, *slot);
		if (!text) {
			walk->no_memory = true;
			return;
		}
	}
	for (size_t i = 0; i < spans->count; i++) {
		const struct rcore_span *span = &spans->items[i];
		if (!rcore_is_filled(text + span->start, span->end - span->start))
			walk->counts[span->kind]++;
		memset(text + span->start, RCORE_FILLER, span->end - span->start);
	}
	if (strchr(text, RCORE_FILLER))
		*slot = mark_stars(walk, text);
}

static void hide(struct walk *walk, const char **slot, const char *key)
{
	struct rcore_spans spans = {0};
	size_t size = strlen(*slot);
	find_keyed(*slot, size, key, &spans);
	rcore_redactor_text(walk->redactor, *slot, size, &spans);
	rcore_spans_settle(&spans);
	walk->no_memory |= spans.no_memory;
	replace(walk, slot, &spans);
	rcore_spans_deinit(&spans);
}

static void hide_name(struct walk *walk, const char **slot)
{
	if (walk->redactor->mode < RCORE_REDACT_ALL || !**slot)
		return;
	*slot = MARK;
	walk->counts[RCORE_REDACTED_NAME]++;
}

/*
 * true, nil and the like reveal nothing. Neither does a number, unless it is
 * the value of a name that is hidden, too.
 */
static void hide_value(struct walk *walk, const char **slot, const char *key)
{
	bool is_plain = rcore_secret_is_void(*slot, strlen(*slot)) ||
			(!key && !(*slot)[strspn(*slot, "0123456789.-")]);
	if (walk->redactor->mode == RCORE_REDACT_ALL && !is_plain)
		hide_name(walk, slot);
	else
		hide(walk, slot, key);
}

static void hide_command(struct walk *walk, const char **slot)
{
	struct rcore_spans spans = {0};
	rcore_redactor_command(walk->redactor, *slot, strlen(*slot), &spans);
	rcore_spans_settle(&spans);
	walk->no_memory |= spans.no_memory;
	replace(walk, slot, &spans);
	rcore_spans_deinit(&spans);
}

static void learn_command(struct walk *walk, const char **slot)
{
	learn(walk, slot, NULL);
}

/* Finds the word after an option such as "--token abc". */
static void find_option_values(const char *text, size_t size, struct rcore_spans *ret)
{
	bool is_value = false;
	for (size_t at = 0; at < size;) {
		const char *space = memchr(text + at, ' ', size - at);
		size_t end = space ? (size_t)(space - text) : size;
		if (is_value)
			rcore_span_add(ret, at, end, RCORE_REDACTED_KEY);
		is_value = end > at && text[at] == '-' && !memchr(text + at, '=', end - at) &&
			   rcore_secret_is_key(text + at, end - at);
		at = end + 1;
	}
}

static void learn_name(struct walk *walk, const char **slot)
{
}

/*
 * Returns the option before a word of a command line: "--token" before "abc".
 */
static const char *option_before(const char **words, size_t index)
{
	const char *word = index ? words[index - 1] : NULL;
	return word && word[0] == '-' && !strchr(word, '=') ? word : NULL;
}

static void walk_texts(struct walk *walk, const char **words, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (words[i])
			walk->text(walk, &words[i], option_before(words, i));
}

static void walk_one(struct walk *walk, char *object, const struct rcore_parts *parts);

static void walk_part(struct walk *walk, char *object, const struct rcore_part *part)
{
	char *at = object + part->offset, *items = NULL;
	const char **slot = (const char **)at;
	size_t count = 1;
	if (part->kind <= RCORE_PART_OPAQUE)
		return;
	if (part->kind == RCORE_PART_WITHIN || part->kind == RCORE_PART_ARRAY)
		items = at;
	else
		memcpy(&items, at, sizeof(items));
	if (!items)
		return;
	if (part->kind == RCORE_PART_MANY || part->kind == RCORE_PART_TEXTS)
		memcpy(&count, object + part->other, sizeof(count));
	else if (part->kind == RCORE_PART_ARRAY)
		count = (part->other - part->offset) / part->parts->size;
	switch (part->kind) {
	case RCORE_PART_NAME:
		walk->name(walk, slot);
		break;
	case RCORE_PART_TEXT:
		walk->text(walk, slot, NULL);
		break;
	case RCORE_PART_INSPECT:
		walk->value(walk, slot, NULL);
		break;
	case RCORE_PART_VALUE:
		walk->value(walk, slot, *(const char **)(object + part->other));
		break;
	case RCORE_PART_COMMAND:
		walk->command(walk, slot);
		break;
	case RCORE_PART_TEXTS:
		walk_texts(walk, (const char **)items, count);
		break;
	default:
		for (size_t i = 0; i < count && !walk->no_memory; i++)
			walk_one(walk, items + i * part->parts->size, part->parts);
	}
}

/* Recurses only as deep as structs are nested; a chain of causes is a loop. */
static void walk_one(struct walk *walk, char *object, const struct rcore_parts *parts)
{
	while (object && !walk->no_memory) {
		char *next = NULL;
		for (size_t i = 0; i < parts->count; i++) {
			if (parts->items[i].kind == RCORE_PART_CHAIN)
				memcpy(&next, object + parts->items[i].offset, sizeof(next));
			else
				walk_part(walk, object, &parts->items[i]);
		}
		object = next;
	}
}

static struct rcore_error *learn_all(struct rcore_redactor *redactor, void *object,
				     const struct rcore_parts *parts)
{
	struct walk walk = {
		.redactor = redactor,
		.text = learn,
		.value = learn,
		.name = learn_name,
		.command = learn_command,
	};
	walk_one(&walk, object, parts);
	return walk.no_memory ? rcore_error_no_memory() : NULL;
}

static struct rcore_error *redact(struct rcore_redactor *redactor, struct rcore_arena *arena,
				  size_t *counts, void *object, const struct rcore_parts *parts)
{
	struct walk walk = {
		.redactor = redactor,
		.arena = arena,
		.counts = counts,
		.text = hide,
		.value = hide_value,
		.name = hide_name,
		.command = hide_command,
	};
	struct rcore_error *err = learn_all(redactor, object, parts);
	if (err)
		return err;
	walk_one(&walk, object, parts);
	return walk.no_memory ? rcore_error_no_memory() : NULL;
}

struct rcore_error *rcore_redact_learn(struct rcore_redactor *redactor,
				       struct rcore_snapshot *snapshot)
{
	redactor->has_learned = true;
	return learn_all(redactor, snapshot, &rcore_snapshot_parts);
}

struct rcore_error *rcore_redact_join(struct rcore_redactor *redactor,
				      const struct rcore_redactor *other)
{
	return rcore_known_secrets_join(redactor->known, other->known)
		       ? NULL
		       : rcore_error_no_memory();
}

struct rcore_error *rcore_redact_snapshot(struct rcore_redactor *redactor,
					  struct rcore_snapshot *snapshot)
{
	snapshot->redaction.mode = redactor->mode;
	if (redactor->mode == RCORE_REDACT_NONE)
		return NULL;
	return redact(redactor, &snapshot->arena, snapshot->redaction.counts, snapshot,
		      &rcore_snapshot_parts);
}

struct rcore_error *rcore_redact_print(struct rcore_redactor *redactor,
				       struct rcore_print *print)
{
	print->redaction.mode = redactor->mode;
	if (redactor->mode == RCORE_REDACT_NONE)
		return NULL;
	return redact(redactor, &print->arena, print->redaction.counts, print,
		      &rcore_print_parts);
}

static void hide_contents(struct walk *walk, const char **slot, const char *key)
{
	struct rcore_spans spans = {0};
	if (walk->redactor->mode < RCORE_REDACT_STRINGS) {
		hide_value(walk, slot, key);
		return;
	}
	rcore_span_add(&spans, 0, strlen(*slot), RCORE_REDACTED_STRING);
	walk->no_memory |= spans.no_memory;
	replace(walk, slot, &spans);
	rcore_spans_deinit(&spans);
}

struct rcore_error *rcore_redact_text(struct rcore_redactor *redactor,
				      struct rcore_arena *arena, enum rcore_part_kind kind,
				      const char *key, const char **slot)
{
	size_t counts[RCORE_REDACTED_ROOM] = {0};
	struct walk walk = {.redactor = redactor, .arena = arena, .counts = counts};
	if (redactor->mode == RCORE_REDACT_NONE || !**slot)
		return NULL;
	if (kind == RCORE_PART_NAME) {
		hide_name(&walk, slot);
	} else if (kind == RCORE_PART_COMMAND) {
		hide_command(&walk, slot);
	} else {
		learn(&walk, slot, key);
		hide_contents(&walk, slot, key);
	}
	return walk.no_memory ? rcore_error_no_memory() : NULL;
}

void rcore_redactor_text(const struct rcore_redactor *redactor, const char *text, size_t size,
			 struct rcore_spans *ret)
{
	rcore_secret_patterns(text, size, ret);
	rcore_secret_keys(text, size, ret);
	rcore_known_secrets_find(redactor->known, text, size, ret);
	if (rcore_known_secrets_has(redactor->known, text, size))
		rcore_span_add(ret, 0, size, RCORE_REDACTED_KNOWN);
}

void rcore_redactor_bytes(const struct rcore_redactor *redactor, const char *bytes, size_t size,
			  struct rcore_spans *ret)
{
	rcore_secret_tokens(bytes, size, ret);
	rcore_known_secrets_find(redactor->known, bytes, size, ret);
}

void rcore_redactor_command(const struct rcore_redactor *redactor, const char *text,
			    size_t size, struct rcore_spans *ret)
{
	const char *space = memchr(text, ' ', size);
	if (redactor->mode >= RCORE_REDACT_STRINGS || !redactor->has_learned) {
		if (space) /* the first word is the program */
			rcore_span_add(ret, (size_t)(space - text) + 1, size,
				       RCORE_REDACTED_STRING);
		return;
	}
	find_option_values(text, size, ret);
	rcore_redactor_text(redactor, text, size, ret);
}
