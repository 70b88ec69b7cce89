/* SPDX-License-Identifier: MIT */
#include "target/file_kind.h"

#include <string.h>

#include "base/count.h"

#define HEAP_DUMP                                               \
	"a dump of a heap as JSON, which other programs read; " \
	"`rcore heap` reads a core, or a process with -p PID"

/* The text at an offset from the start of the file. */
static const struct {
	size_t offset;
	const char *magic, *what;
} kinds[] = {
	{0, "\177ELF", "an ELF file; `rcore analyze` reads cores"},
	/* profile/format.h */
	{0, "RCOREREC", "a recording; `rcore report` reads it"},
	/* ObjectSpace.dump_all (objspace_dump.c) begins with a root. */
	{0, "{\"type\":\"ROOT\"", HEAP_DUMP},
	{0, "{\"address\":\"0x", HEAP_DUMP},
	{0, "PK\003\004", "a zip archive, such as the artifact of a CI job; unpack it first"},
	{257, "ustar", "a tar archive; unpack it first"},
};

const char *rcore_file_kind(const void *bytes, size_t size)
{
	for (size_t i = 0; i < RCORE_COUNT(kinds); i++) {
		size_t length = strlen(kinds[i].magic);
		if (size >= kinds[i].offset + length &&
		    !memcmp((const char *)bytes + kinds[i].offset, kinds[i].magic, length))
			return kinds[i].what;
	}
	return NULL;
}
