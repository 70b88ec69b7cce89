/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_READER_H
#define RCORE_TARGET_CORE_READER_H

#include "target/memory.h"
#include "target/segments.h"

struct rcore_core;

/*
 * Reads what a core has saved, for one thread alone: the memory of the core
 * itself remembers its last reads, so two threads must not share it. Needs no
 * cleanup. The core must outlive it.
 */
struct rcore_core_reader {
	/* must come first: the callback casts it back */
	struct rcore_memory memory;
	struct rcore_segments segments;
};

void rcore_core_reader_init(struct rcore_core_reader *reader, const struct rcore_core *core);

/*
 * Returns the mapped bytes of [address, address + size); NULL if the core does
 * not have all of them in one piece.
 */
const uint8_t *rcore_core_reader_bytes(struct rcore_core_reader *reader, uint64_t address,
				       size_t size);

#endif
