/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ERROR_H
#define RCORE_BASE_ERROR_H

/*
 * base/ holds what every other folder uses: errors, an arena, growing arrays,
 * an address map, escaping of text. It includes nothing of ours. Start here.
 */

/*
 * How rcore's own code makes and passes errors. base/error_code.h, which is
 * public, has the struct and its codes. The convention is libdrgn's: a returned
 * error belongs to the caller, who frees it or passes it on. A message holds
 * bytes of the target only after rcore_escape() (base/text.h).
 */

#include <stdbool.h>
#include <stdarg.h>

#include "base/error_code.h"

/* Returns a new error with a formatted message. If memory is short, returns the
 * static error of rcore_error_no_memory(). */
struct rcore_error *rcore_error_create(enum rcore_error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The one error that needs no memory; rcore_error_free() takes it too. */
struct rcore_error *rcore_error_no_memory(void);

/* Returns an error "<what>: <text of errno>" with the code RCORE_ERROR_OS. */
struct rcore_error *rcore_error_os(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Puts "<prefix>: " in front of the message of `err`, keeps its code, and
 * takes ownership of `err`. NULL stays NULL. */
struct rcore_error *rcore_error_wrap(struct rcore_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Returns whether a library that does not report why it failed did so because
 * memory is short. Set errno to 0 before the library's function, and call this
 * right after it. A hostile file can make a library ask for far too much; then
 * a megabyte can still be allocated.
 */
bool rcore_lacks_memory(void);

/* Returns `err` if it is NO_MEMORY. Otherwise frees it and returns NULL. */
struct rcore_error *rcore_error_forgive(struct rcore_error *err);

static inline void rcore_error_freep(struct rcore_error **err)
{
	rcore_error_free(*err);
}
#define rcore_auto_error __attribute__((cleanup(rcore_error_freep))) struct rcore_error *

#endif
