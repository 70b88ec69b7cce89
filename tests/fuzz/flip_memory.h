/* SPDX-License-Identifier: MIT */
#ifndef FLIP_MEMORY_H
#define FLIP_MEMORY_H

#include "layout/layout.h"
#include "target/memory.h"

/*
 * A target's memory with a few words of it flipped, and a recorder of what is read. The recorder
 * also sees rcore_read_field(), rcore_field_of() and rcore_ruby_init(), through the linker's --wrap, and so
 * is the one global of this program. Test helpers end the process when memory runs out.
 */
enum { FLIP_LIMIT = 4 };

struct flip {
	uint64_t address; /* of a word: a multiple of 8 */
	uint64_t mask;    /* the bits that differ */
};

struct flip_memory {
	struct rcore_memory memory;
	struct rcore_memory *below;
	struct flip flips[FLIP_LIMIT];
	size_t flip_count;
	size_t hits; /* reads that got a flipped word */
};

void flip_memory_init(struct flip_memory *memory, struct rcore_memory *below);

struct flip_read {
	uint64_t address;
	size_t size;
	const char *buffer; /* where it went; to be compared, not looked into */
	bool is_field;      /* one of `fields` too */
};

struct flip_field {
	const struct rcore_field *field; /* within a layout */
	uint64_t address, value;
};

struct flip_record {
	struct {
		struct flip_read *items;
		size_t count, capacity;
	} reads;
	struct {
		struct flip_field *items;
		size_t count, capacity;
	} fields;
	const struct rcore_layout *layout; /* the last one that was used; gone by now */
};

/* Between the two, reads of `memory` are recorded. */
void flip_record_start(struct flip_memory *memory, struct flip_record *record);
void flip_record_stop(void);
void flip_record_deinit(struct flip_record *record);

#endif
