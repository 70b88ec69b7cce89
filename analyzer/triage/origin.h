/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_ORIGIN_H
#define RCORE_TRIAGE_ORIGIN_H

#include "model/snapshot.h"
#include "model/triage.h"

/*
 * Whose code it is, by the path of its iseq. A cfunc has none and counts as
 * CORE.
 */
enum rcore_origin rcore_origin_of_frame(const struct rcore_frame *frame);

/*
 * By its module: Ruby's convention is "name.so" for an extension, the linker's
 * "libname.so.N" for a library.
 */
enum rcore_origin rcore_origin_of_native(const struct rcore_native_frame *frame);

/* "application", "gem" ... */
const char *rcore_origin_name(enum rcore_origin origin);

#endif
