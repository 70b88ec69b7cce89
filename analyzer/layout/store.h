/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_STORE_H
#define RCORE_LAYOUT_STORE_H

#include "layout/layout.h"

/*
 * Tables in files. A user's own tables are in a folder,
 * $XDG_DATA_HOME/rcore/layouts (otherwise ~/.local/share/rcore/layouts), as
 * NAME.layout. They precede built-in ones that are equally near to the target's
 * release. Layouts that were read from DWARF are cached in
 * $XDG_CACHE_HOME/rcore/layouts (otherwise ~/.cache/rcore/layouts).
 */

/*
 * Reads a table from a file. Errors: OS, FORMAT (both name the file), LIMIT (1
 * MiB).
 */
struct rcore_error *rcore_layout_read(const char *path, struct rcore_layout *ret);

/*
 * Visits the folder's files by name. If a file is not a table, `layout` is NULL
 * and `err` says why; the visitor frees it. Return false to stop. Error:
 * NO_MEMORY.
 */
typedef bool rcore_layout_visit(void *context, const char *path,
				const struct rcore_layout *layout, struct rcore_error *err);
struct rcore_error *rcore_layout_folder_each(rcore_layout_visit *visit, void *context);

/*
 * Calls rcore_layout_from_dwarf() once for each build, and caches the result
 * under the build-id of `path`. A cached table is used only if it has this list
 * of fields, release and machine, and is in a plain file that the user owns. If
 * it cannot be cached, it is read again the next time; this is not an error.
 */
struct rcore_error *rcore_layout_from_dwarf_kept(const char *path, const unsigned version[3],
						 struct rcore_layout *ret);

/*
 * Finds the table that an argument names: a file, or a built-in table.
 * "3.3.0-x86_64-cet" finds the table whose range contains that release, "3.3.0"
 * the one for this machine. Error: NO_LAYOUT if there is neither.
 */
struct rcore_error *rcore_layout_find(const char *word, struct rcore_layout *ret);

#endif
