/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_TABLES_H
#define RCORE_PROFILE_TABLES_H

#include "profile/format.h"
#include "profile/profile.h"
#include "profile/varint.h"
#include "redact/redact_parts.h"

/*
 * Describes the members of each record of a profile, so that one piece of code
 * can write them to a file, check them when they are read, and translate them
 * when profiles are added up.
 */
enum rcore_table {
	RCORE_TABLE_NONE, /* of a member: just a number */
	RCORE_TABLE_STRINGS,
	RCORE_TABLE_FUNCTIONS,
	RCORE_TABLE_FRAMES,
	RCORE_TABLE_NODES,
	RCORE_TABLE_PROCESSES,
	RCORE_TABLE_THREADS,
	RCORE_TABLE_FIBERS,
	RCORE_TABLE_STATES,
	RCORE_TABLE_LABELS,
	RCORE_TABLES,
};

struct rcore_column {
	uint8_t offset, size; /* of the member; 4 or 8 bytes */
	uint8_t refers;       /* enum rcore_table to which its number refers */
	/* STRINGS: enum rcore_part_kind, how it is redacted. */
	uint8_t text;
};

enum { RCORE_COLUMNS_MAX = 9 };

struct rcore_record_type {
	size_t size, column_count;
	struct rcore_column columns[RCORE_COLUMNS_MAX];
};

/* A table of records, lowest first. */
struct rcore_table_type {
	enum rcore_table table;
	enum rcore_section section;
	/* Offset of its struct rcore_record_set in struct rcore_profile. */
	size_t set;
	struct rcore_record_type record;
	/*
	 * Columns that were added later, in a section of their own before the
	 * other one, so that older readers skip them; 0: there are none.
	 */
	enum rcore_section later_section;
	struct rcore_record_type later;
};

/* Of records, in the order of enum rcore_table. */
enum { RCORE_TABLE_TYPES = 7 };
extern const struct rcore_table_type rcore_table_types[RCORE_TABLE_TYPES];
extern const struct rcore_record_type rcore_sample_type;

static inline struct rcore_record_set *rcore_table_set(struct rcore_profile *profile,
						       const struct rcore_table_type *type)
{
	return (struct rcore_record_set *)((char *)profile + type->set);
}

/* Returns how many entries a table has. */
size_t rcore_table_count(const struct rcore_profile *profile, enum rcore_table table);

uint64_t rcore_column_get(const struct rcore_column *column, const void *record);
void rcore_column_set(const struct rcore_column *column, void *record, uint64_t value);

/*
 * Writes records column by column: the first value, then the signed difference
 * of each value to the one before.
 */
void rcore_columns_write(const struct rcore_record_type *type, const void *records,
			 size_t count, struct rcore_bytes *bytes);

/*
 * Reads them back. Sets cursor->is_bad for a value that does not fit its
 * member.
 */
void rcore_columns_read(const struct rcore_record_type *type, struct rcore_cursor *cursor,
			void *records, size_t count);

#endif
