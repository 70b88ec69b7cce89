/* SPDX-License-Identifier: MIT */
#include "profile/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/tables.h"

/*
 * The most bytes of tables in a file between two resets. A writer resets its
 * tables long before that.
 */
enum { TABLES_MAX = 256 << 20, FACTS_MAX = 4096 };

static struct rcore_error *corrupt(const char *what)
{
	return rcore_error_create(RCORE_ERROR_CORRUPT, "%s", what);
}

static struct rcore_error *finish(const struct rcore_recording *recording,
				  const struct rcore_cursor *cursor, const char *what)
{
	if (recording->profile->no_memory)
		return rcore_error_no_memory();
	return cursor->is_bad ? rcore_error_create(RCORE_ERROR_CORRUPT,
						   "the %s do not fit their section", what)
			      : NULL;
}

/*
 * Returns a copy with a NUL. Returns NULL if it is not in the block or memory
 * is short.
 */
static char *take_text(struct rcore_cursor *cursor)
{
	uint64_t size = rcore_cursor_varint(cursor);
	if (size > RCORE_PROFILE_TEXT_MAX)
		cursor->is_bad = true;
	const char *text = cursor->is_bad ? NULL : rcore_cursor_take(cursor, size);
	return text ? strndup(text, size) : NULL;
}

static struct rcore_error *set_fact(struct rcore_recording_facts *facts, char *key, char *value)
{
	for (size_t i = 0; i < facts->count; i++) {
		if (strcmp(facts->items[i].key, key) != 0)
			continue;
		free(key);
		free(facts->items[i].value);
		facts->items[i].value = value;
		return NULL;
	}
	struct rcore_recording_fact *fact = facts->count < FACTS_MAX ? rcore_push(facts) : NULL;
	if (fact) {
		*fact = (struct rcore_recording_fact){key, value};
		return NULL;
	}
	free(key);
	free(value);
	return facts->count < FACTS_MAX ? rcore_error_no_memory() : corrupt("too many facts");
}

static struct rcore_error *decode_facts(struct rcore_recording *recording,
					struct rcore_cursor *cursor)
{
	struct rcore_error *err = NULL;
	while (rcore_cursor_left(cursor) && !cursor->is_bad && !err) {
		char *key = take_text(cursor), *value = take_text(cursor);
		if (key && value) {
			err = set_fact(&recording->facts, key, value);
			continue;
		}
		free(key);
		free(value);
		if (!cursor->is_bad)
			return rcore_error_no_memory();
	}
	return err ? err : finish(recording, cursor, "facts");
}

static struct rcore_error *decode_strings(struct rcore_recording *recording,
					  struct rcore_cursor *cursor)
{
	struct rcore_bytes_set *strings = &recording->profile->strings;
	uint64_t count = rcore_cursor_varint(cursor);
	for (uint64_t i = 0; i < count && !cursor->is_bad; i++) {
		uint64_t size = rcore_cursor_varint(cursor);
		const char *text = rcore_cursor_take(cursor, size);
		uint32_t number, next = (uint32_t)strings->count;
		if (!text)
			break;
		if (size > RCORE_PROFILE_TEXT_MAX || memchr(text, 0, size))
			return corrupt("a string is too long, or contains a NUL");
		if (!rcore_bytes_set_add(strings, text, size, &number))
			return rcore_error_no_memory();
		if (number != next)
			return corrupt("a string occurs twice");
	}
	return finish(recording, cursor, "strings");
}

static struct rcore_error *decode_label_set(struct rcore_profile *profile,
					    struct rcore_cursor *cursor)
{
	struct rcore_profile_label labels[RCORE_PROFILE_LABELS_MAX];
	uint32_t next = (uint32_t)profile->labels.count;
	uint64_t pairs = rcore_cursor_varint(cursor);
	if (pairs > RCORE_PROFILE_LABELS_MAX)
		return corrupt("a set has too many labels");
	for (uint64_t i = 0; i < pairs; i++) {
		uint64_t key = rcore_cursor_varint(cursor), value = rcore_cursor_varint(cursor);
		if (key >= profile->strings.count || value >= profile->strings.count)
			return corrupt("a label refers to a string that does not exist");
		labels[i] = (struct rcore_profile_label){(uint32_t)key, (uint32_t)value};
	}
	if (cursor->is_bad)
		return NULL;
	uint32_t number = rcore_profile_labels(profile, labels, pairs);
	return number == next || profile->no_memory ? NULL
						    : corrupt("a set of labels occurs twice");
}

static struct rcore_error *decode_labels(struct rcore_recording *recording,
					 struct rcore_cursor *cursor)
{
	struct rcore_error *err = NULL;
	uint64_t count = rcore_cursor_varint(cursor);
	for (uint64_t i = 0; i < count && !cursor->is_bad && !err; i++)
		err = decode_label_set(recording->profile, cursor);
	return err ? err : finish(recording, cursor, "labels");
}

/* Whether everything that `record` refers to exists. */
static bool is_sound(const struct rcore_profile *profile, const struct rcore_record_type *type,
		     const void *record)
{
	for (size_t c = 0; c < type->column_count; c++) {
		const struct rcore_column *column = &type->columns[c];
		if (column->refers && rcore_column_get(column, record) >=
					      rcore_table_count(profile, column->refers))
			return false;
	}
	return true;
}

/*
 * Reads the number of records of `type`, and makes room for them. Each column
 * of each record has at least one byte. Returns NULL if there are none, or if
 * cursor->is_bad or profile->no_memory is set.
 */
static char *decode_records(struct rcore_profile *profile, const struct rcore_record_type *type,
			    struct rcore_cursor *cursor, uint64_t *ret_count)
{
	uint64_t count = rcore_cursor_varint(cursor);
	*ret_count = 0;
	cursor->is_bad |= count > rcore_cursor_left(cursor) / type->column_count ||
			  count > TABLES_MAX / type->size;
	if (cursor->is_bad || !count)
		return NULL;
	char *records = calloc(count, type->size);
	profile->no_memory |= !records;
	if (!records)
		return NULL;
	rcore_columns_read(type, cursor, records, count);
	*ret_count = cursor->is_bad ? 0 : count;
	return records;
}

/* Keeps the columns of entries that follow in another section. */
static struct rcore_error *decode_later(struct rcore_recording *recording,
					const struct rcore_table_type *type,
					struct rcore_cursor *cursor)
{
	free(recording->later.records);
	recording->later.type = type;
	recording->later.records = decode_records(recording->profile, &type->later, cursor,
						  &recording->later.count);
	return finish(recording, cursor, "entries of a table");
}

/* Sets the columns that precede those of this section, if there are any. */
static void join(const struct rcore_recording *recording, const struct rcore_table_type *type,
		 char *records, uint64_t count)
{
	if (recording->later.type != type || recording->later.count != count)
		return;
	for (size_t c = 0; c < type->later.column_count; c++)
		for (uint64_t i = 0; i < count; i++)
			rcore_column_set(
				&type->later.columns[c], records + i * type->record.size,
				rcore_column_get(&type->later.columns[c],
						 (const char *)recording->later.records +
							 i * type->record.size));
}

static struct rcore_error *decode_table(struct rcore_recording *recording,
					const struct rcore_table_type *type,
					struct rcore_cursor *cursor)
{
	struct rcore_profile *profile = recording->profile;
	struct rcore_record_set *set = rcore_table_set(profile, type);
	struct rcore_error *err = NULL;
	uint64_t count;
	char *records = decode_records(profile, &type->record, cursor, &count);
	join(recording, type, records, count);
	recording->later.type = NULL;
	for (uint64_t i = 0; i < count && !err; i++) {
		const char *record = records + i * type->record.size;
		uint32_t number = 0, next = (uint32_t)set->count;
		if (!is_sound(profile, &type->record, record) ||
		    !is_sound(profile, &type->later, record))
			err = corrupt("an entry of a table refers to one that does not exist");
		else if (!rcore_record_set_add(set, record, &number))
			err = rcore_error_no_memory();
		else if (number != next)
			err = corrupt("an entry of a table occurs twice");
	}
	free(records);
	return err ? err : finish(recording, cursor, "entries of a table");
}

static struct rcore_error *decode_titles(struct rcore_recording *recording,
					 struct rcore_cursor *cursor)
{
	struct rcore_profile *profile = recording->profile;
	uint64_t count = rcore_cursor_varint(cursor);
	for (uint64_t i = 0; i < count && !cursor->is_bad; i++) {
		uint64_t process = rcore_cursor_varint(cursor);
		uint64_t title = rcore_cursor_varint(cursor);
		if (process >= profile->processes.count || title >= profile->strings.count)
			return corrupt("a title refers to an entry that does not exist");
		if (!cursor->is_bad)
			rcore_profile_set_title(profile, (uint32_t)process, (uint32_t)title);
	}
	return finish(recording, cursor, "titles");
}

static struct rcore_error *decode_ended(struct rcore_recording *recording,
					struct rcore_cursor *cursor)
{
	struct rcore_profile *profile = recording->profile;
	uint64_t count = rcore_cursor_varint(cursor);
	for (uint64_t i = 0; i < count && !cursor->is_bad; i++) {
		uint64_t process = rcore_cursor_varint(cursor);
		uint64_t time = rcore_cursor_varint(cursor);
		if (process >= profile->processes.count)
			return corrupt("an end refers to a process that does not exist");
		if (!cursor->is_bad)
			rcore_profile_end_process(profile, (uint32_t)process, time);
	}
	return finish(recording, cursor, "ends of processes");
}

static struct rcore_error *decode_samples(struct rcore_recording *recording,
					  struct rcore_cursor *cursor)
{
	struct rcore_profile *profile = recording->profile;
	uint64_t count;
	char *records = decode_records(profile, &rcore_sample_type, cursor, &count);
	struct rcore_error *err = NULL;
	if (count > RCORE_BLOCK_SAMPLES_MAX)
		err = corrupt("a block has too many samples");
	for (uint64_t i = 0; i < count && !err; i++) {
		const void *record = records + i * rcore_sample_type.size;
		if (is_sound(profile, &rcore_sample_type, record))
			rcore_profile_sample(profile, record);
		else
			err = corrupt("a sample refers to an entry that does not exist");
	}
	free(records);
	return err ? err : finish(recording, cursor, "samples");
}

static struct rcore_error *decode_section(struct rcore_recording *recording, uint64_t tag,
					  struct rcore_cursor *cursor)
{
	switch (tag) {
	case RCORE_SECTION_FACTS:
		return decode_facts(recording, cursor);
	case RCORE_SECTION_RESET:
		rcore_profile_clear(recording->profile);
		return finish(recording, cursor, "tables");
	case RCORE_SECTION_STRINGS:
		return decode_strings(recording, cursor);
	case RCORE_SECTION_LABELS:
		return decode_labels(recording, cursor);
	case RCORE_SECTION_TITLES:
		return decode_titles(recording, cursor);
	case RCORE_SECTION_ENDED:
		return decode_ended(recording, cursor);
	case RCORE_SECTION_SAMPLES:
		return decode_samples(recording, cursor);
	default:
		break;
	}
	for (size_t i = 0; i < RCORE_TABLE_TYPES; i++) {
		const struct rcore_table_type *type = &rcore_table_types[i];
		if (type->section == tag)
			return decode_table(recording, type, cursor);
		if (type->later_section && type->later_section == tag)
			return decode_later(recording, type, cursor);
	}
	/*
	 * A section of a later rcore, which may be skipped because the version
	 * is the same.
	 */
	return NULL;
}

struct rcore_error *rcore_block_decode(struct rcore_recording *recording,
				       const unsigned char *payload, size_t size)
{
	struct rcore_cursor cursor = {payload, payload + size, false};
	struct rcore_error *err = NULL;
	recording->profile->samples.count = 0;
	while (rcore_cursor_left(&cursor) && !err) {
		uint64_t tag = rcore_cursor_varint(&cursor);
		uint64_t length = rcore_cursor_varint(&cursor);
		const unsigned char *bytes = rcore_cursor_take(&cursor, length);
		if (!bytes)
			return corrupt("a section is longer than its block");
		struct rcore_cursor section = {bytes, bytes + length, false};
		err = decode_section(recording, tag, &section);
		if (!err && rcore_profile_memory(recording->profile) > TABLES_MAX)
			err = rcore_error_create(RCORE_ERROR_LIMIT,
						 "the tables take more than %d MiB",
						 TABLES_MAX >> 20);
	}
	return err;
}
