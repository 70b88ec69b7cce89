/* SPDX-License-Identifier: MIT */
#include "flip_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "ruby/object/value.h"

enum {
	BULK = 1024,  /* bytes: a read of this size is searched */
	REACH = 1024, /* bytes so far after what a pointer points to belong to it */
	SPLIT = 128,  /* up to here, a role says how far after it */
};

static const struct {
	const char *name;
	size_t offset;
} field_names[] = {
#define RCORE_FIELD(struct_id, id, paths) \
	{#struct_id "." #id, offsetof(struct rcore_layout, struct_id.id)},
#include "layout/fields.def"
};

/* Returns NULL if the field belongs to a layout that was given up. */
static const char *field_name(const struct flip_record *record, const struct flip_field *field)
{
	size_t offset = (uintptr_t)field->field - (uintptr_t)record->layout;
	for (size_t i = 0; i < RCORE_COUNT(field_names); i++)
		if (field_names[i].offset == offset)
			return field_names[i].name;
	return NULL;
}

/* An address about which something is known. */
struct mark {
	uint64_t address;
	const char *field; /* that points there; NULL: an object begins there */
	uint64_t flags;    /* the object's */
};

struct marks {
	struct mark *items;
	size_t count, capacity;
};

static int by_address(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return !a->field - !b->field;
}

static void add_mark(struct marks *marks, struct mark mark)
{
	struct mark *added = rcore_push(marks);
	if (!added)
		abort();
	*added = mark;
}

static void make_marks(struct marks *marks, const struct flip_record *record)
{
	for (size_t i = 0; i < record->fields.count; i++) {
		const struct flip_field *field = &record->fields.items[i];
		const char *name = field_name(record, field);
		if (!name)
			continue;
		add_mark(marks, (struct mark){.address = field->value, .field = name});
		if (!strcmp(name, "basic.flags"))
			add_mark(marks, (struct mark){.address = field->address,
						      .flags = field->value});
	}
	if (marks->count)
		qsort(marks->items, marks->count, sizeof(*marks->items), by_address);
}

/* The last mark up to `address`; of those at one place the object. */
static const struct mark *nearest(const struct marks *marks, uint64_t address)
{
	size_t low = 0, high = marks->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (marks->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address - marks->items[low - 1].address < REACH ? &marks->items[low - 1]
								      : NULL;
}

/* Roles are few and are kept until the end. */
static const char *intern(const char *text)
{
	static struct {
		char **items;
		size_t count, capacity;
	} known;
	for (size_t i = 0; i < known.count; i++)
		if (!strcmp(known.items[i], text))
			return known.items[i];
	char **added = rcore_push(&known);
	if (!added || !(*added = strdup(text)))
		abort();
	return *added;
}

static const char *role_of(const struct mark *mark, uint64_t address)
{
	char role[128];
	if (!mark)
		return "bytes";
	if (!mark->field) {
		unsigned type = mark->flags & RCORE_T_MASK;
		return type == RCORE_T_STRING  ? "String bytes"
		       : type == RCORE_T_ARRAY ? "Array bytes"
					       : "object bytes";
	}
	int64_t distance = (int64_t)(address - mark->address) & ~INT64_C(7);
	snprintf(role, sizeof(role), "%s -> %+" PRId64, mark->field,
		 distance < SPLIT ? distance : SPLIT);
	return intern(role);
}

static void add(struct flip_words *words, uint64_t address, const char *role)
{
	struct flip_word *word = rcore_push(words);
	if (!word)
		abort();
	*word = (struct flip_word){address & ~UINT64_C(7), role};
}

/* Environments are read whole, and often found through each other alone. */
static void add_read(struct flip_words *words, const struct marks *marks,
		     const struct flip_read *read)
{
	static const char *const env[] = {"env.me_cref", "env.outer", "env.flags"};
	const struct mark *mark = nearest(marks, read->address);
	bool is_env = read->size == RCORE_COUNT(env) * sizeof(uint64_t) &&
		      !(mark && (!mark->field || mark->address == read->address));
	for (uint64_t at = read->address; at < read->address + read->size; at = (at | 7) + 1)
		add(words, at,
		    read->size >= BULK ? "bulk"
		    : is_env           ? env[(at - read->address) / sizeof(uint64_t)]
				       : role_of(mark, at));
}

static void add_addresses(struct flip_words *words, const struct flip_read *read)
{
	for (uint64_t at = read->address & ~UINT64_C(7); at < read->address + read->size;
	     at += 8) {
		uint64_t *address = rcore_push(&words->addresses);
		if (!address)
			abort();
		*address = at;
	}
}

static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

bool flip_words_were_read(const struct flip_words *words, uint64_t address)
{
	return bsearch(&address, words->addresses.items, words->addresses.count,
		       sizeof(address), by_number);
}

static bool is_field(const struct flip_word *word)
{
	return strchr(word->role, '.') && !strchr(word->role, '>');
}

static int by_word(const void *left, const void *right)
{
	const struct flip_word *a = left, *b = right;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return strcmp(a->role, b->role);
}

static int by_role(const void *left, const void *right)
{
	const struct flip_word *a = left, *b = right;
	int order = strcmp(a->role, b->role);
	return order ? order : by_word(left, right);
}

/* Each once; where fields of a word are known, no other role counts. */
static void reduce(struct flip_words *words)
{
	size_t kept = 0, end;
	for (size_t start = 0; start < words->count; start = end) {
		struct flip_word *first = &words->items[start];
		bool fields = false;
		for (end = start;
		     end < words->count && words->items[end].address == first->address; end++)
			fields |= is_field(&words->items[end]);
		for (size_t i = start; i < end; i++) {
			struct flip_word word = words->items[i];
			bool again = i > start && kept &&
				     words->items[kept - 1].address == word.address &&
				     !strcmp(words->items[kept - 1].role, word.role);
			if (!again && (!fields || is_field(&word)))
				words->items[kept++] = word;
		}
	}
	words->count = kept;
}

void flip_words_init(struct flip_words *words, struct flip_record *record)
{
	struct marks marks = {0};
	*words = (struct flip_words){0};
	make_marks(&marks, record);
	for (size_t i = 0; i < record->fields.count; i++) {
		const struct flip_field *field = &record->fields.items[i];
		const char *name = field_name(record, field);
		if (name)
			add(words, field->address, name);
	}
	for (size_t i = 0; i < record->reads.count; i++) {
		add_addresses(words, &record->reads.items[i]);
		if (!record->reads.items[i].is_field)
			add_read(words, &marks, &record->reads.items[i]);
	}
	if (words->addresses.count)
		qsort(words->addresses.items, words->addresses.count, sizeof(uint64_t),
		      by_number);
	qsort(words->items, words->count, sizeof(*words->items), by_word);
	reduce(words);
	qsort(words->items, words->count, sizeof(*words->items), by_role);
	free(marks.items);
}

void flip_words_deinit(struct flip_words *words)
{
	free(words->items);
	free(words->addresses.items);
}
