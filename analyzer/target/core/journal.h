/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_JOURNAL_H
#define RCORE_TARGET_JOURNAL_H

#include <stdint.h>

#include "base/error.h"

/*
 * The folder in which systemd-coredump stores cores:
 * core.COMM.UID.BOOTID.PID.TIMESTAMP, with .zst, .lz4 or .xz appended if it is
 * compressed (save_external_coredump() of systemd's src/coredump/coredump.c).
 * In COMM, characters that could be taken for a part of the name are written as
 * "\x2e". The attributes user.coredump.pid and .comm say the same, and take
 * precedence if the file system supports them. (The journal itself, which
 * libsystemd reads, has nothing more that is needed to find a core.)
 */
#define RCORE_JOURNAL_FOLDER "/var/lib/systemd/coredump"

/* What systemd-coredump noted with a core; 0 and "": unknown. */
struct rcore_journal_facts {
	uint64_t time; /* seconds since 1970 */
	char host[65]; /* HOST_NAME_MAX, and a NUL */
};
void rcore_journal_facts_read(const char *path, struct rcore_journal_facts *ret);

/*
 * Finds the newest core of a process by its PID ("1234") or its name ("ruby"),
 * like coredumpctl. *ret is its path, malloc'ed. Errors: OS (the folder cannot
 * be read, or has no such core), NO_MEMORY.
 */
struct rcore_error *rcore_journal_find(const char *folder, const char *id, char **ret);

#endif
