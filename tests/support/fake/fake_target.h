/* SPDX-License-Identifier: MIT */
#ifndef FAKE_TARGET_H
#define FAKE_TARGET_H

#include "layout/layout.h"
#include "target/memory.h"

/*
 * Memory of a target that a test lays out itself. All of it is 0 until it is
 * written. Reads outside the ranges are UNMAPPED; a fault can be injected at
 * the N-th read. Test helpers end the process if memory is short.
 */
struct fake_range {
	uint64_t start;
	size_t size;
	unsigned char *bytes;
};

struct fake_target {
	struct rcore_memory memory;
	struct fake_range *ranges; /* in address order */
	size_t range_count;
	uint64_t next;    /* where the next range may begin */
	size_t reads;     /* since fake_target_fault() */
	size_t fail_at;   /* the read that fails, counted from 1; 0: none */
	bool fail_onward; /* so do all after it */
};

void fake_target_init(struct fake_target *target);
void fake_target_deinit(struct fake_target *target);

/* Counts reads anew; the `fail_at`-th returns RCORE_FAULT_NOT_SAVED. */
void fake_target_fault(struct fake_target *target, size_t fail_at, bool fail_onward);

/* A new range, aligned (a power of two, at least 8), with unmapped bytes before and after. */
uint64_t fake_alloc(struct fake_target *target, size_t size, size_t align);

/* Writes within one range. */
void fake_write(struct fake_target *target, uint64_t address, const void *bytes, size_t size);
void fake_put(struct fake_target *target, uint64_t address, uint64_t word);

/*
 * Writes a field, which may be a bit-field; does nothing if this Ruby lacks it.
 */
void fake_put_field(struct fake_target *target, uint64_t base, const struct rcore_field *field,
		    uint64_t value);

#endif
