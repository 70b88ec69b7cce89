/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_STORE_H
#define RCORE_LAYOUT_STORE_H

#include "layout/layout.h"

/*
 * Tables in files. A user's own stand in a folder, $XDG_DATA_HOME/rcore/layouts
 * (else ~/.local/share/rcore/layouts), as NAME.layout, and go before the
 * built-in ones that are as near to the target's release. What was read out of
 * DWARF is kept in $XDG_CACHE_HOME/rcore/layouts (else ~/.cache/rcore/layouts).
 */

/*
 * A table of a file. Errors: OS, FORMAT (which name the file), LIMIT (1 MiB).
 */
struct rcore_error *rcore_layout_read(const char *path, struct rcore_layout *ret);

/* The user's folder, malloc'ed; NULL where the environment names no home. */
char *rcore_layout_folder(void);

/*
 * Visits the folder's files by name. `layout` is NULL, and `err` says why (the
 * visitor frees it), for one that is no table. Return false to stop. NO_MEMORY.
 */
typedef bool rcore_layout_visit(void *context, const char *path,
				const struct rcore_layout *layout, struct rcore_error *err);
struct rcore_error *rcore_layout_folder_each(rcore_layout_visit *visit, void *context);

/*
 * rcore_layout_from_dwarf(), once for each build: kept under the build-id of
 * `path`, which is trusted only if it is a table of this list of fields,
 * release and machine, in a plain file of the user's own. What cannot be kept
 * is read again the next time; that is no error.
 */
struct rcore_error *rcore_layout_from_dwarf_kept(const char *path, const unsigned version[3],
						 struct rcore_layout *ret);

/*
 * The table that a word of the command line means: a file, or a built-in one:
 * "3.3.0-x86_64-cet" by whatever range it is called, "3.3.0" that of this
 * machine. NO_LAYOUT: neither.
 */
struct rcore_error *rcore_layout_find(const char *word, struct rcore_layout *ret);

#endif
