/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_RECORDING_WRITER_H
#define RCORE_PROFILE_RECORDING_WRITER_H

#include "profile/profile.h"

/*
 * Writes a recording; docs/recording.md describes the file. Each block is
 * appended with one write(2) and has a checksum. So the file can be read up to
 * its last complete block even if the process is killed.
 */
struct rcore_recording_writer;

/*
 * Writes the file's header to `fd`, which the caller still owns and which must
 * be empty. If it is a plain file, the writer can cut off the rest of a block
 * that does not fit on the disk. Errors: OS, NO_MEMORY.
 */
struct rcore_error *rcore_recording_writer_new(int fd, struct rcore_recording_writer **ret);

/*
 * Adds a fact about the recording, which is written with the next block. A
 * later value of a key replaces the earlier one. Keys that reports know:
 *
 *	started	seconds since 1970 at which it began, with a fraction
 *	rate	samples per second and thread that were asked for
 *	pid, command, ruby	of the program
 *	engine	how the samples were taken
 *	event	what was recorded (format.h), if it was not sampled
 *	samples, rejected, achieved	at the end: how many samples were
 *		taken, how many were rejected, and the rate that was reached
 */
struct rcore_error *rcore_recording_writer_fact(struct rcore_recording_writer *writer,
						const char *key, const char *value);

/*
 * Appends a block with what was added to `profile` since the last one. Call it
 * about once a second. It removes the samples from `profile`. If the tables
 * have more than RCORE_PROFILE_MEMORY_MAX bytes, it empties them, too: check
 * profile->generation. A writer writes one profile from its beginning. Errors:
 * OS (the disk is full; the file ends with the previous block), NO_MEMORY.
 */
struct rcore_error *rcore_recording_writer_flush(struct rcore_recording_writer *writer,
						 struct rcore_profile *profile);

/* Appends the block that says that the recording was ended, not cut off. */
struct rcore_error *rcore_recording_writer_end(struct rcore_recording_writer *writer,
					       struct rcore_profile *profile);

/* NULL-safe. */
void rcore_recording_writer_free(struct rcore_recording_writer *writer);

#endif
