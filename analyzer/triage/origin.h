/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_ORIGIN_H
#define RCORE_TRIAGE_ORIGIN_H

#include "model/snapshot.h"
#include "model/triage.h"

/*
 * Returns whose code it is, by the path of its iseq. A C function has no path
 * and counts as CORE.
 */
enum rcore_origin rcore_origin_of_frame(const struct rcore_frame *frame);

/*
 * Returns whose code it is, by its module: Ruby names an extension "name.so",
 * the linker names a library "libname.so.N".
 */
enum rcore_origin rcore_origin_of_native(const struct rcore_native_frame *frame);

/* "application", "gem" ... */
const char *rcore_origin_name(enum rcore_origin origin);

#endif
