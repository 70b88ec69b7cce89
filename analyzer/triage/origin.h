/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_ORIGIN_H
#define RCORE_TRIAGE_ORIGIN_H

#include <stdbool.h>

#include "model/snapshot.h"
#include "model/triage.h"

/*
 * Returns whose code it is, by the path of its iseq. A C function has no path
 * and counts as CORE.
 */
enum rcore_origin rcore_origin_of_frame(const struct rcore_frame *frame);

/* Returns whose Ruby code is in the file at `path`. */
enum rcore_origin rcore_origin_of_path(const char *path);

/*
 * Returns whether a frame is of a script that only starts a program, such as
 * the binstubs that RubyGems and Bundler write: it is at the top level of a
 * file without a suffix in bin/, and loads another file. `inner` is the frame
 * that it called, or NULL.
 */
bool rcore_is_binstub(const struct rcore_frame *frame, const struct rcore_frame *inner);

/* The same, by the frame's label and path and the label of the inner one. */
bool rcore_is_binstub_named(const char *label, const char *path, const char *inner);

/*
 * Returns whose code it is, by its module: Ruby names an extension "name.so",
 * the linker names a library "libname.so.N".
 */
enum rcore_origin rcore_origin_of_native(const struct rcore_native_frame *frame);

/* The same for the path of a module that is not Ruby's: is it an extension? */
bool rcore_is_extension(const char *path);

/* "application", "gem" ... */
const char *rcore_origin_name(enum rcore_origin origin);

#endif
