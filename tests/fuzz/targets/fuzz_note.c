/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "image/pack_note.h"
#include "target.h"

/* The note of a pack. If it can be read, it can also be written. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct rcore_arena arena = {0};
	struct rcore_pack_facts facts;
	struct rcore_error *err =
		rcore_pack_note_read((const char *)bytes, size, &arena, &facts);
	if (!err) {
		size_t written;
		free(rcore_pack_note_write(&facts, &written));
	}
	rcore_error_free(err);
	rcore_arena_deinit(&arena);
	return 0;
}
