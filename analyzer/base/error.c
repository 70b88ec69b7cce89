/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rcore_error no_memory = {RCORE_ERROR_NO_MEMORY, "out of memory"};

struct rcore_error *rcore_error_no_memory(void)
{
	return &no_memory;
}

static struct rcore_error *create(enum rcore_error_code code, const char *format, va_list args,
				  const char *suffix)
{
	char *text = NULL;
	int length = vasprintf(&text, format, args);
	if (length < 0)
		return rcore_error_no_memory();
	size_t size = (size_t)length + strlen(suffix) + 1;
	struct rcore_error *err = malloc(sizeof(*err) + size);
	if (!err) {
		free(text);
		return rcore_error_no_memory();
	}
	char *message = (char *)(err + 1);
	snprintf(message, size, "%s%s", text, suffix);
	*err = (struct rcore_error){code, message};
	free(text);
	return err;
}

struct rcore_error *rcore_error_create(enum rcore_error_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	struct rcore_error *err = create(code, format, args, "");
	va_end(args);
	return err;
}

struct rcore_error *rcore_error_os(int errnum, const char *format, ...)
{
	char buffer[128];
	char suffix[160];
	snprintf(suffix, sizeof(suffix), ": %s", strerror_r(errnum, buffer, sizeof(buffer)));
	va_list args;
	va_start(args, format);
	struct rcore_error *err = create(RCORE_ERROR_OS, format, args, suffix);
	va_end(args);
	return err;
}

struct rcore_error *rcore_error_wrap(struct rcore_error *err, const char *format, ...)
{
	if (!err || err == rcore_error_no_memory())
		return err;
	char *suffix = NULL;
	if (asprintf(&suffix, ": %s", err->message) < 0)
		return err;
	va_list args;
	va_start(args, format);
	struct rcore_error *wrapped = create(err->code, format, args, suffix);
	va_end(args);
	free(suffix);
	rcore_error_free(err);
	return wrapped;
}

void rcore_error_free(struct rcore_error *err)
{
	if (err != rcore_error_no_memory())
		free(err);
}

bool rcore_lacks_memory(void)
{
	enum { LITTLE = 1 << 20 };
	if (errno != ENOMEM)
		return false;
	/* Otherwise, the compiler removes both calls. */
	void *volatile probe = malloc(LITTLE);
	free(probe);
	return !probe;
}

struct rcore_error *rcore_error_forgive(struct rcore_error *err)
{
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	return NULL;
}
