/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "target.h"
#include "base/count.h"
#include "image/symbolize/demangle.h"
#include "triage/normalize.h"

/*
 * Names of a linker, one on each line, as they are and after the start of each
 * mangling. The same name always means the same, and something else than itself.
 */
enum { LONGEST = 16 << 10 }; /* symbolize_name.c passes no more */

/* What becomes of the name in the signature of a crash. */
static void check_normalized(const char *name)
{
	const struct rcore_native_frame frame = {.module = "libx.so.1", .function = name};
	struct rcore_arena arena = {0};
	const char *normalized = rcore_normalize_native(&arena, &frame);
	if (!normalized || strncmp(normalized, "libx!", 5) != 0)
		abort();
	rcore_arena_deinit(&arena);
}

static void check(const char *symbol)
{
	char *name = rcore_demangle(symbol), *again = rcore_demangle(symbol);
	if (!name != !again || (name && strcmp(name, again) != 0))
		abort();
	/* A symbol that means nothing else has no name. */
	if (name && (!*name || !strcmp(name, symbol)))
		abort();
	if (name)
		check_normalized(name);
	free(name);
	free(again);
}

static void check_line(const char *line, size_t size)
{
	static const char *const starts[] = {"", "_Z", "_ZN", "_R", "_D"};
	char symbol[LONGEST + 8];
	size = size < LONGEST ? size : LONGEST;
	for (size_t i = 0; i < RCORE_COUNT(starts); i++) {
		size_t length = strlen(starts[i]);
		memcpy(symbol, starts[i], length);
		memcpy(symbol + length, line, size);
		symbol[length + size] = '\0';
		check(symbol);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const char *at = (const char *)bytes, *end = at + size;
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((newline ? newline : end) - at);
		check_line(at, length);
		at += length + 1;
	}
	return 0;
}
