/* SPDX-License-Identifier: MIT */
#include "sampler/stack/stack_copy.h"

#include <string.h>

/*
 * How far from the start of a part a machine stack may end. Code in between,
 * such as libraries that are mapped above the stack of a thread, can be read.
 */
enum { STACK_SPAN = 64 << 20 };

/* Whether [address, address + size) and [start, start + span) overlap. */
static bool overlaps(uint64_t address, size_t size, uint64_t start, uint64_t span)
{
	return address - start < span || start - address < size;
}

static enum rcore_fault read_copy(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	const struct rcore_stack_copy *copy = (const struct rcore_stack_copy *)memory;
	bool is_stack = false;
	for (size_t i = 0; i < RCORE_BPF_PARTS; i++) {
		const struct rcore_stack_part *part = &copy->parts[i];
		uint64_t offset = address - part->start;
		is_stack |= part->size && overlaps(address, size, part->start, STACK_SPAN);
		if (offset >= part->size || size > part->size - offset)
			continue;
		memcpy(buffer, part->bytes + offset, size);
		return RCORE_FAULT_NONE;
	}
	if (is_stack && !rcore_live_is_constant(copy->live, address))
		return RCORE_FAULT_NOT_COPIED;
	return rcore_read(copy->below, address, buffer, size);
}

void rcore_stack_copy_init(struct rcore_stack_copy *copy, struct rcore_memory *below,
			   const struct rcore_live *live)
{
	*copy = (struct rcore_stack_copy){
		.memory = {.read = read_copy}, .below = below, .live = live};
}

bool rcore_stack_copy_set(struct rcore_stack_copy *copy, const struct rcore_bpf_record *record)
{
	memset(copy->parts, 0, sizeof(copy->parts));
	const struct rcore_bpf_machine *machine = record ? rcore_bpf_machine(record) : NULL;
	if (!machine || !machine->parts[RCORE_BPF_INNER].bytes)
		return false;
	const uint8_t *bytes = (const uint8_t *)(machine + 1);
	for (size_t i = 0; i < RCORE_BPF_PARTS; i++) {
		copy->parts[i] = (struct rcore_stack_part){machine->parts[i].start,
							   machine->parts[i].bytes, bytes};
		bytes += machine->parts[i].bytes;
	}
	return true;
}
