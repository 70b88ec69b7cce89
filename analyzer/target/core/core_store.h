/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_STORE_H
#define RCORE_TARGET_CORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Copies a core from a pipe to a compressed file that is kept, and at the same
 * time to a plain one that can be mapped. Looks at nothing but the first four
 * bytes.
 */
struct rcore_core_store {
	int in;
	int kept;         /* the compressed file; empty */
	int plain;        /* a temporary file; empty */
	unsigned seconds; /* when to give up; 0: never */
	/* How large the compressed file may become. */
	uint64_t room;
	/*
	 * Makes room for more if that is not enough: returns the number of
	 * bytes, or 0.
	 */
	uint64_t (*more)(void *context);
	void *context;
};

struct rcore_stored_core {
	uint64_t size; /* how much arrived */
	uint64_t kept; /* how large the compressed file is */
	/* What is not whole: it did not end in time, or there is no space. */
	bool is_late, is_kept_cut, is_plain_cut;
};

/* The ending of the compressed file's name: ".zst" or ".gz". */
const char *rcore_core_store_ending(void);

/*
 * Errors: FORMAT (it is not an ELF file, or empty; the files are then empty),
 * OS, NO_MEMORY.
 */
struct rcore_error *rcore_core_store(const struct rcore_core_store *store,
				     struct rcore_stored_core *ret);

#endif
