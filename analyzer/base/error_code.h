/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_ERROR_CODE_H
#define RCORE_BASE_ERROR_CODE_H

#include "base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Errors. A function that can fail returns a `struct rcore_error *`: NULL on
 * success, otherwise an error that the caller owns and frees with
 * rcore_error_free(). Results leave through a last parameter `ret`, which the
 * function writes only on success.
 */
enum rcore_error_code {
	RCORE_ERROR_NO_MEMORY = 1, /* librcore could not allocate memory */
	/* A system call failed; the message has errno's text. */
	RCORE_ERROR_OS,
	/* The caller asked for something impossible. */
	RCORE_ERROR_USAGE,
	/* A file is not what it should be: not ELF, not a core ... */
	RCORE_ERROR_FORMAT,
	/* A 32-bit target, or a machine that rcore does not read. */
	RCORE_ERROR_UNSUPPORTED,
	RCORE_ERROR_NOT_RUBY,  /* the target has no Ruby VM */
	RCORE_ERROR_NO_LAYOUT, /* rcore has no layout for this Ruby */
	RCORE_ERROR_FAULT,     /* memory of the target could not be read */
	RCORE_ERROR_CORRUPT,   /* memory was read and makes no sense */
	RCORE_ERROR_LIMIT,     /* a length or a count exceeds its limit */
	/* Another program traces the process, so it cannot be stopped. */
	RCORE_ERROR_TRACED,
};

struct rcore_error {
	enum rcore_error_code code;
	/*
	 * One line without a newline: what went wrong, where, and what to do
	 * next. Bytes of the target are escaped, so it can be printed to a
	 * terminal.
	 */
	const char *message;
};

/* Frees an error. Does nothing for NULL. */
RCORE_API void rcore_error_free(struct rcore_error *err);

#ifdef __cplusplus
}
#endif

#endif
