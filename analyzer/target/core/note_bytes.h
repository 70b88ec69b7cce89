/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_NOTE_BYTES_H
#define RCORE_TARGET_NOTE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The contents of a PT_NOTE that is being written. The caller frees items. */
struct rcore_note_bytes {
	uint8_t *items;
	size_t count, capacity;
};

/* Appends bytes as they are. Returns false if memory is short. */
bool rcore_note_append(struct rcore_note_bytes *notes, const void *bytes, size_t size);

/*
 * Appends a note; its parts are aligned to `align` bytes. Returns false if
 * memory is short.
 */
bool rcore_note_add(struct rcore_note_bytes *notes, size_t align, const char *owner,
		    uint32_t type, const void *body, size_t size);

#endif
