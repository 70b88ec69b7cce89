/* SPDX-License-Identifier: MIT */
#include "target/memory.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

const char *rcore_fault_text(enum rcore_fault fault)
{
	switch (fault) {
	case RCORE_FAULT_NONE:
		return "readable";
	case RCORE_FAULT_UNMAPPED:
		return "unmapped";
	case RCORE_FAULT_NOT_SAVED:
		return "not saved in the core";
	case RCORE_FAULT_FILE_MISSING:
		return "its file is not on this machine";
	case RCORE_FAULT_TRUNCATED:
		return "past the end of the truncated core";
	case RCORE_FAULT_NOT_COPIED:
		return "mapped, but not copied from the process";
	case RCORE_FAULT_NOT_MEASURED:
		return "its place is not measured for this Ruby";
	case RCORE_FAULT_IO:
		return "the read failed";
	}
	return "unknown fault";
}

struct rcore_error *rcore_fault_error(enum rcore_fault fault, const char *what,
				      uint64_t address, size_t size)
{
	return rcore_error_create(RCORE_ERROR_FAULT,
				  "cannot read %s: %zu byte%s at 0x%" PRIx64 ": %s", what, size,
				  rcore_plural(size), address, rcore_fault_text(fault));
}

/*
 * Reads byte by byte, because a pack keeps all that was read, and anything that
 * the program once had there may follow a string.
 */
enum rcore_fault rcore_read_large(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	enum rcore_fault fault = RCORE_FAULT_NONE;
	for (uint8_t *out = buffer; size && !fault;) {
		size_t piece = size < RCORE_READ_PIECE ? size : RCORE_READ_PIECE;
		fault = rcore_read(memory, address, out, piece);
		out += piece;
		address += piece;
		size -= piece;
	}
	return fault;
}

enum rcore_fault rcore_read_string(struct rcore_memory *memory, uint64_t address, char *buffer,
				   size_t limit)
{
	if (!limit)
		return RCORE_FAULT_NONE;
	for (size_t length = 0; length < limit - 1; length++) {
		enum rcore_fault fault =
			rcore_read(memory, address + length, buffer + length, 1);
		if (fault || !buffer[length])
			return fault;
	}
	buffer[limit - 1] = '\0';
	return RCORE_FAULT_NONE;
}
