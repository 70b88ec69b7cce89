/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ERROR_H
#define RCORE_BASE_ERROR_H

/*
 * Errors, after libdrgn: a function that can fail returns `struct rcore_error *`,
 * NULL on success. Results leave through a last parameter `ret`, which is
 * written only on success. The caller owns a returned error and ends it with
 * rcore_error_free(), or hands it on.
 *
 * A message is one line, without a final newline: what, where and, at the
 * top, what to do next. It may hold bytes of the target only after
 * rcore_escape() (see base/text.h).
 */

#include <stdarg.h>

#include "base/api.h"

enum rcore_error_code {
	RCORE_ERROR_NO_MEMORY = 1, /* the analyzer's own memory */
	RCORE_ERROR_OS,            /* a system call failed; the message has errno's text */
	RCORE_ERROR_USAGE,         /* the caller asked for something that cannot be */
	RCORE_ERROR_FORMAT,      /* a file is not what it should be (not ELF, not a core ...) */
	RCORE_ERROR_UNSUPPORTED, /* understood, but not covered (32-bit, another machine) */
	RCORE_ERROR_NOT_RUBY,    /* no Ruby VM in the target */
	RCORE_ERROR_NO_LAYOUT,   /* a Ruby for which there is no layout */
	RCORE_ERROR_FAULT,       /* memory of the target could not be read */
	RCORE_ERROR_CORRUPT,     /* memory was read and makes no sense */
	RCORE_ERROR_LIMIT,       /* a length or a count is past its named limit */
};

struct rcore_error {
	enum rcore_error_code code;
	char message[];
};

/* A new error with a formatted message. Never fails: where memory is short it
 * gives the static error that rcore_error_no_memory() gives. */
struct rcore_error *rcore_error_create(enum rcore_error_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The one error that needs no memory; rcore_error_free() takes it too. */
struct rcore_error *rcore_error_no_memory(void);

/* "<what>: <text of errno>", code RCORE_ERROR_OS. */
struct rcore_error *rcore_error_os(int errnum, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Puts "<prefix>: " in front of the message of `err`, keeps its code, and
 * takes ownership of `err`. NULL stays NULL. */
struct rcore_error *rcore_error_wrap(struct rcore_error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* NULL-safe. */
RCORE_API void rcore_error_free(struct rcore_error *err);

static inline void rcore_error_freep(struct rcore_error **err)
{
	rcore_error_free(*err);
}
#define rcore_auto_error __attribute__((cleanup(rcore_error_freep))) struct rcore_error *

#endif
