/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_JOURNAL_H
#define RCORE_TARGET_JOURNAL_H

#include "base/error.h"

/*
 * The folder into which systemd-coredump puts cores:
 * core.COMM.UID.BOOTID.PID.TIMESTAMP, with .zst, .lz4 or .xz behind it where it
 * is compressed (systemd's src/coredump/coredump.c, save_external_coredump()).
 * In COMM what could be taken for a part of the name is written as "\x2e". The
 * attributes user.coredump.pid and .comm say the same; they win, where the file
 * system has them. (The journal itself, which libsystemd reads, holds nothing
 * more that is needed to find a core.)
 */
#define RCORE_JOURNAL_FOLDER "/var/lib/systemd/coredump"

/*
 * The newest core of a process, by its PID ("1234") or its name ("ruby"), as
 * coredumpctl takes them. *ret: its path, malloc'ed. Errors: OS (the folder
 * cannot be read, or holds none of it), NO_MEMORY.
 */
struct rcore_error *rcore_journal_find(const char *folder, const char *id, char **ret);

#endif
