/* SPDX-License-Identifier: MIT */
#include "fake_target.h"

#include <stdlib.h>
#include <string.h>

static struct fake_range *find(struct fake_target *target, uint64_t address, size_t size)
{
	size_t low = 0, high = target->range_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		struct fake_range *range = &target->ranges[middle];
		if (address < range->start)
			high = middle;
		else if (address - range->start >= range->size)
			low = middle + 1;
		else
			return size <= range->size - (address - range->start) ? range : NULL;
	}
	return NULL;
}

static enum rcore_fault read_fake(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct fake_target *target = (struct fake_target *)memory;
	target->reads++;
	if (target->fail_at && (target->fail_onward ? target->reads >= target->fail_at
						    : target->reads == target->fail_at))
		return RCORE_FAULT_NOT_SAVED;
	struct fake_range *range = find(target, address, size);
	if (!range)
		return RCORE_FAULT_UNMAPPED;
	memcpy(buffer, range->bytes + (address - range->start), size);
	return RCORE_FAULT_NONE;
}

void fake_target_init(struct fake_target *target)
{
	*target = (struct fake_target){.memory.read = read_fake, .next = 0x7f0000000000};
}

void fake_target_deinit(struct fake_target *target)
{
	for (size_t i = 0; i < target->range_count; i++)
		free(target->ranges[i].bytes);
	free(target->ranges);
}

void fake_target_fault(struct fake_target *target, size_t fail_at, bool fail_onward)
{
	target->reads = 0;
	target->fail_at = fail_at;
	target->fail_onward = fail_onward;
}

uint64_t fake_alloc(struct fake_target *target, size_t size, size_t align)
{
	enum { GAP = 64 };
	uint64_t start = (target->next + align - 1) & ~(uint64_t)(align - 1);
	target->ranges =
		reallocarray(target->ranges, target->range_count + 1, sizeof(*target->ranges));
	unsigned char *bytes = calloc(1, size ? size : 1);
	if (!target->ranges || !bytes)
		abort();
	target->ranges[target->range_count++] = (struct fake_range){start, size, bytes};
	target->next = start + size + GAP;
	return start;
}

void fake_write(struct fake_target *target, uint64_t address, const void *bytes, size_t size)
{
	struct fake_range *range = find(target, address, size);
	if (!range)
		abort();
	memcpy(range->bytes + (address - range->start), bytes, size);
}

void fake_put(struct fake_target *target, uint64_t address, uint64_t word)
{
	fake_write(target, address, &word, sizeof(word));
}

void fake_put_field(struct fake_target *target, uint64_t base, const struct rcore_field *field,
		    uint64_t value)
{
	if (!rcore_has(field))
		return;
	uint64_t address = base + (uint64_t)field->offset;
	if (!field->bits) {
		fake_write(target, address, &value, field->size);
		return;
	}
	struct fake_range *range = find(target, address, rcore_field_width(field));
	if (!range)
		abort();
	unsigned char *bytes = range->bytes + (address - range->start);
	for (unsigned i = 0; i < field->bits; i++) {
		unsigned bit = field->bit + i;
		bytes[bit / 8] &= (unsigned char)~(1u << bit % 8);
		bytes[bit / 8] |= (unsigned char)((value >> i & 1) << bit % 8);
	}
}
