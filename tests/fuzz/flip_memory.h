/* SPDX-License-Identifier: MIT */
#ifndef FLIP_MEMORY_H
#define FLIP_MEMORY_H

#include "layout/layout.h"
#include "target/memory.h"

/*
 * A target's memory with a few bits flipped, and a recorder of what is read.
 * The linker's --wrap lets the recorder also see rcore_read_field(),
 * rcore_field_of() and rcore_ruby_init(), so it is a global. If memory is
 * short, these functions end the process.
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
	const char *buffer; /* where it was copied to; may be freed by now */
	bool is_field;      /* it is also in `fields` */
};

struct flip_field {
	const struct rcore_field *field; /* of a layout */
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
	const struct rcore_layout *layout; /* the last one used; freed by now */
};

/* Record the reads of `memory` from start to stop. */
void flip_record_start(struct flip_memory *memory, struct flip_record *record);
void flip_record_stop(void);
void flip_record_deinit(struct flip_record *record);

#endif
