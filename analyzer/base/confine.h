/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_CONFINE_H
#define RCORE_BASE_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes from this process, for good, what code that reads hostile bytes does
 * not need: it can read regular files and folders, write to what is open, and
 * allocate memory. It cannot start programs, open files for writing, open
 * sockets, signal, limit or trace other processes, or map code. Only for a
 * process that does nothing else, because it handles SIGSYS from then on.
 *
 * A file that is opened to be read must be a regular file or a folder. This
 * includes what libraries open: a FIFO would block them, and merely opening a
 * device can have side effects.
 *
 * (A filter of seccomp(2) without libseccomp: the library would have to be in
 * every debugger that loads librcore, to translate a list of names.)
 */
struct rcore_confinement {
	uint64_t memory;  /* bytes that it may allocate; 0: as many as it can */
	unsigned seconds; /* of processor time; 0: no limit */
	/* It may start processes like itself, and end them. */
	bool may_fork;
	/* It may do everything, within the limits. */
	bool no_filter;
};

/*
 * Returns false if the kernel refuses a filter; the limits are then set all the
 * same.
 */
bool rcore_confine(const struct rcore_confinement *confinement);

#endif
