/* SPDX-License-Identifier: MIT */
#include "ruby/object/array.h"

#include <inttypes.h>

#include "ruby/get.h"

enum {
	EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 1),
	EMBED_LENGTH_SHIFT = RCORE_FL_USHIFT + 3,
};

/* More elements than fit into an address space of 47 bits. */
#define LENGTH_LIMIT (UINT64_C(1) << 44)

struct rcore_error *rcore_array(struct rcore_ruby *ruby, uint64_t value, uint64_t *elements,
				uint64_t *length)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t flags, start, count;
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (err)
		return err;
	if ((flags & RCORE_T_MASK) != RCORE_T_ARRAY)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not an Array",
					  value);
	if (flags & EMBED_FLAG && rcore_has(&layout->array.embed_ary)) {
		start = value + (uint64_t)layout->array.embed_ary.offset;
		count = flags >> EMBED_LENGTH_SHIFT & layout->traits.array_embed_mask;
	} else {
		err = RCORE_GET(ruby, value, array, heap_ptr, &start);
		if (!err)
			err = RCORE_GET(ruby, value, array, heap_len, &count);
		if (!err && count > LENGTH_LIMIT)
			err = rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"Array 0x%" PRIx64 " has a length of 0x%" PRIx64, value, count);
		if (err)
			return err;
	}
	*elements = start;
	*length = count;
	return NULL;
}

struct rcore_error *rcore_array_at(struct rcore_ruby *ruby, uint64_t value, uint64_t index,
				   uint64_t *ret)
{
	uint64_t elements, length;
	struct rcore_error *err = rcore_array(ruby, value, &elements, &length);
	if (err)
		return err;
	if (index >= length)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "Array 0x%" PRIx64 " has %" PRIu64
					  " elements, not %" PRIu64,
					  value, length, index + 1);
	uint64_t address = elements + index * 8;
	enum rcore_fault fault = rcore_read_u64(ruby->memory, address, ret);
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "element of an Array", address, 8);
	return NULL;
}
