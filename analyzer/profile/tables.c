/* SPDX-License-Identifier: MIT */
#include "profile/tables.h"

#include "base/count.h"

#define MEMBER(type, member, refers, text)                                                  \
	{                                                                                   \
		offsetof(struct rcore_profile_##type, member),                              \
			sizeof(((struct rcore_profile_##type *)NULL)->member), refers, text \
	}
#define COLUMN(type, member, refers) MEMBER(type, member, RCORE_TABLE_##refers, 0)
#define TEXT(type, member, kind)     MEMBER(type, member, RCORE_TABLE_STRINGS, RCORE_PART_##kind)
#define COLUMNS(...)                                         \
	RCORE_COUNT(((struct rcore_column[]){__VA_ARGS__})), \
	{                                                    \
		__VA_ARGS__                                  \
	}
#define RECORD(name, ...)                                                 \
	{                                                                 \
		sizeof(struct rcore_profile_##name), COLUMNS(__VA_ARGS__) \
	}
#define TYPE(table, name, ...)                                                                 \
	{                                                                                      \
		RCORE_TABLE_##table, RCORE_SECTION_##table,                                    \
			offsetof(struct rcore_profile, name##s), RECORD(name, __VA_ARGS__), 0, \
		{                                                                              \
			0                                                                      \
		}                                                                              \
	}

/* clang-format off */
const struct rcore_table_type rcore_table_types[RCORE_TABLE_TYPES] = {
	TYPE(FUNCTIONS, function,
	     COLUMN(function, kind, NONE), TEXT(function, label, NAME), TEXT(function, path, NAME),
	     COLUMN(function, first_line, NONE), COLUMN(function, address, NONE)),
	TYPE(FRAMES, frame,
	     COLUMN(frame, function, FUNCTIONS), COLUMN(frame, line, NONE)),
	TYPE(NODES, node,
	     COLUMN(node, parent, NODES), COLUMN(node, frame, FRAMES)),
	{RCORE_TABLE_PROCESSES, RCORE_SECTION_PROCESSES, offsetof(struct rcore_profile, processes),
	 RECORD(process, COLUMN(process, pid, NONE), COLUMN(process, use, NONE)), 0, {0}},
	{RCORE_TABLE_THREADS, RCORE_SECTION_THREADS, offsetof(struct rcore_profile, threads),
	 RECORD(thread, COLUMN(thread, pid, NONE), COLUMN(thread, tid, NONE),
		TEXT(thread, id, SAFE), TEXT(thread, name, TEXT)),
	 RCORE_SECTION_THREAD_PROCESSES, RECORD(thread, COLUMN(thread, process, PROCESSES))},
	TYPE(FIBERS, fiber,
	     COLUMN(fiber, thread, THREADS), TEXT(fiber, id, SAFE)),
	TYPE(STATES, state,
	     COLUMN(state, kind, NONE), TEXT(state, wait, SAFE), TEXT(state, detail, NAME)),
};

const struct rcore_record_type rcore_sample_type = {
	sizeof(struct rcore_profile_sample),
	COLUMNS(COLUMN(sample, time, NONE), COLUMN(sample, wall, NONE), COLUMN(sample, cpu, NONE),
		COLUMN(sample, node, NODES), COLUMN(sample, thread, THREADS),
		COLUMN(sample, fiber, FIBERS), COLUMN(sample, state, STATES),
		COLUMN(sample, labels, LABELS), COLUMN(sample, count, NONE)),
};
/* clang-format on */

size_t rcore_table_count(const struct rcore_profile *profile, enum rcore_table table)
{
	switch (table) {
	case RCORE_TABLE_STRINGS:
		return profile->strings.count;
	case RCORE_TABLE_FUNCTIONS:
		return profile->functions.count;
	case RCORE_TABLE_FRAMES:
		return profile->frames.count;
	case RCORE_TABLE_NODES:
		return profile->nodes.count;
	case RCORE_TABLE_PROCESSES:
		return profile->processes.count;
	case RCORE_TABLE_THREADS:
		return profile->threads.count;
	case RCORE_TABLE_FIBERS:
		return profile->fibers.count;
	case RCORE_TABLE_STATES:
		return profile->states.count;
	case RCORE_TABLE_LABELS:
		return profile->labels.count;
	case RCORE_TABLE_NONE:
	case RCORE_TABLES:
		break;
	}
	return 0;
}

uint64_t rcore_column_get(const struct rcore_column *column, const void *record)
{
	const char *at = (const char *)record + column->offset;
	return column->size == sizeof(uint64_t) ? *(const uint64_t *)at : *(const uint32_t *)at;
}

void rcore_column_set(const struct rcore_column *column, void *record, uint64_t value)
{
	char *at = (char *)record + column->offset;
	if (column->size == sizeof(uint64_t))
		*(uint64_t *)at = value;
	else
		*(uint32_t *)at = (uint32_t)value;
}

void rcore_columns_write(const struct rcore_record_type *type, const void *records,
			 size_t count, struct rcore_bytes *bytes)
{
	for (size_t c = 0; c < type->column_count; c++) {
		const char *record = records;
		uint64_t last = 0;
		for (size_t i = 0; i < count; i++, record += type->size) {
			uint64_t value = rcore_column_get(&type->columns[c], record);
			rcore_bytes_signed(bytes, (int64_t)(value - last));
			last = value;
		}
	}
}

void rcore_columns_read(const struct rcore_record_type *type, struct rcore_cursor *cursor,
			void *records, size_t count)
{
	for (size_t c = 0; c < type->column_count; c++) {
		const struct rcore_column *column = &type->columns[c];
		char *record = records;
		uint64_t value = 0;
		for (size_t i = 0; i < count; i++, record += type->size) {
			value += (uint64_t)rcore_cursor_signed(cursor);
			if (column->size < sizeof(uint64_t) && value > UINT32_MAX) {
				cursor->is_bad = true;
				return;
			}
			rcore_column_set(column, record, value);
		}
	}
}
