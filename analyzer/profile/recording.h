/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_RECORDING_H
#define RCORE_PROFILE_RECORDING_H

#include <sys/stat.h>

#include "profile/profile.h"

/* A fact about a recording: see rcore_recording_writer_fact(). */
struct rcore_recording_fact {
	char *key, *value;
};

struct rcore_recording_facts {
	struct rcore_recording_fact *items;
	size_t count, capacity;
};

/*
 * Reads a recording block by block: see docs/recording.md. It trusts nothing in
 * the file: it checks all numbers, and uses a bounded amount of memory.
 */
struct rcore_recording {
	/* Its tables, and the samples of the last block. */
	struct rcore_profile *profile;
	struct rcore_recording_facts facts;
	bool is_ended; /* the last block says that the recording is complete */
	/*
	 * Why the rest of the file cannot be read: one line, with the offset.
	 * NULL if everything was read. What was read before is valid.
	 */
	struct rcore_error *problem;
	struct stat status; /* of the file */
	/* Private. */
	int fd;
	uint64_t offset, blocks;
	unsigned char *stored, *plain;
	/* Columns of the entries of a table that follow. */
	struct {
		const struct rcore_table_type *type; /* NULL: none */
		void *records;
		uint64_t count;
	} later;
};

/*
 * Errors: OS, FORMAT (not a recording, or not a regular file), UNSUPPORTED
 * (written by a newer rcore), NO_MEMORY.
 */
struct rcore_error *rcore_recording_open(const char *path, struct rcore_recording **ret);

/*
 * Reads the next block. *ret_more is false at the end of the file or of what
 * can be read. If profile->generation has increased, older numbers are invalid.
 * Errors: OS, NO_MEMORY.
 */
struct rcore_error *rcore_recording_next(struct rcore_recording *recording, bool *ret_more);

/* Returns NULL if the recording does not have this fact. */
const char *rcore_recording_fact(const struct rcore_recording *recording, const char *key);

void rcore_recording_close(struct rcore_recording *recording); /* NULL-safe */

#endif
