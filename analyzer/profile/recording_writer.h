/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_RECORDING_WRITER_H
#define RCORE_PROFILE_RECORDING_WRITER_H

#include "profile/profile.h"

/*
 * Writes a recording: docs/recording.md describes the file. A block is appended
 * with one write(2) and has a checksum, so whatever ends the process, the
 * file can be read up to its last whole block.
 */
struct rcore_recording_writer;

/*
 * Writes the file's header to `fd`, which stays the caller's, is empty, and is
 * to be a plain file if the rest of a block that did not fit on the disk is to
 * be cut off. Error: OS, NO_MEMORY.
 */
struct rcore_error *rcore_recording_writer_new(int fd, struct rcore_recording_writer **ret);

/*
 * States a fact of the recording: it is written with the next block. A later
 * value of a key replaces the earlier one. Keys that reports know:
 *
 *	started	seconds since 1970 at which it began, with a fraction
 *	rate	samples per second and thread that were asked for
 *	pid, command, ruby	of the program
 *	engine	how the samples were taken
 *	samples, rejected, achieved	at the end: how many samples were
 *		taken, how many were rejected, and the rate that was reached
 */
struct rcore_error *rcore_recording_writer_fact(struct rcore_recording_writer *writer,
						const char *key, const char *value);

/*
 * Appends a block: what `profile` got since the last one. Call it about once a
 * second. The samples are gone from `profile` afterwards, and if its tables
 * have grown over RCORE_PROFILE_MEMORY_MAX these are empty, too: look at
 * profile->generation. One writer writes one profile from its beginning. Error:
 * OS (the disk is full; the file ends with the block before), NO_MEMORY.
 */
struct rcore_error *rcore_recording_writer_flush(struct rcore_recording_writer *writer,
						 struct rcore_profile *profile);

/* Appends the block that says that the recording was ended and not cut off. */
struct rcore_error *rcore_recording_writer_end(struct rcore_recording_writer *writer,
					       struct rcore_profile *profile);

/* NULL-safe. */
void rcore_recording_writer_free(struct rcore_recording_writer *writer);

#endif
