/* SPDX-License-Identifier: MIT */
#include "triage/fault.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/text.h"

enum {
	NULL_END = 0x10000, /* vm.mmap_min_addr: nothing is mapped below it */
	DEFAULT_PAGE = 4096,
	X86_BITS = 47,
	ARM_BITS = 52,
};

static const struct rcore_segment *segment_at(const struct rcore_process *process,
					      uint64_t address)
{
	const struct rcore_segment *segments = process->segments;
	size_t low = RCORE_PARTITION_POINT(process->segment_count, middle,
					   segments[middle].start + segments[middle].size <=
						   address);
	return low < process->segment_count && segments[low].start <= address ? &segments[low]
									      : NULL;
}

static const char *file_at(const struct rcore_process *process, uint64_t address)
{
	const struct rcore_mapping *mapping = rcore_process_mapping(process, address);
	return mapping && mapping->path ? rcore_base_name(mapping->path) : NULL;
}

/*
 * Whether the address is outside of user space: the kernel's, or not an address
 * at all.
 */
static enum rcore_place beyond(unsigned machine, uint64_t address)
{
	if (machine == EM_X86_64 && address >> X86_BITS)
		return address >> X86_BITS == UINT64_MAX >> X86_BITS
			       ? RCORE_PLACE_KERNEL
			       : RCORE_PLACE_NON_CANONICAL;
	if (machine == EM_AARCH64 && address >> ARM_BITS)
		return address >> ARM_BITS == UINT64_MAX >> ARM_BITS
			       ? RCORE_PLACE_KERNEL
			       : RCORE_PLACE_NON_CANONICAL;
	return RCORE_PLACE_UNKNOWN;
}

/*
 * Returns the fiber whose machine stack begins just above; cont.c protects the
 * page below it. Returns -1 if there is none.
 */
static int guarded_fiber(const struct rcore_process *process,
			 const struct rcore_snapshot *snapshot, uint64_t address)
{
	uint64_t page;
	if (!rcore_process_auxv(process, AT_PAGESZ, &page) || !page)
		page = DEFAULT_PAGE;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		uint64_t stack = snapshot->fibers[i].machine_stack;
		if (stack && address < stack && stack - address <= page)
			return (int)i;
	}
	return -1;
}

static const char *rights_words(const struct rcore_segment *segment, enum rcore_access access)
{
	if (!segment->readable && !segment->writable && !segment->executable)
		return "memory without access";
	if (segment->executable)
		return "code";
	if (access == RCORE_ACCESS_EXECUTE)
		return "memory that is not executable";
	return segment->writable ? "readable and writable memory" : "read-only memory";
}

static const char *mapped_text(const struct rcore_process *process,
			       struct rcore_snapshot *snapshot,
			       const struct rcore_segment *segment)
{
	struct rcore_fault_facts *fault = &snapshot->cause.fault;
	const char *file = file_at(process, fault->address);
	const char *rights = rights_words(segment, fault->access);
	fault->place = segment->executable ? RCORE_PLACE_CODE : RCORE_PLACE_MAPPED;
	/*
	 * In memory that can be read but not written, only a write can fault.
	 */
	if (!fault->access && segment->readable && !segment->writable && segment->executable) {
		fault->access = RCORE_ACCESS_WRITE;
		fault->access_source = "the map";
	}
	return rcore_arena_printf(&snapshot->arena, "%s%s%s%s", rights, file ? " (" : "",
				  file ? file : "", file ? ")" : "");
}

static const char *slot_text(struct rcore_snapshot *snapshot)
{
	const struct rcore_slot *slot = &snapshot->cause.fault.slot;
	const char *type = slot->type ? slot->type : "of unknown type";
	const char *what = !strcmp(type, "T_NONE")    ? "a free slot"
			   : !strcmp(type, "T_MOVED") ? "a slot whose object has moved"
						      : "an object";
	return rcore_arena_printf(&snapshot->arena, "%s (0x%" PRIx64 " of the GC heap, %s)",
				  what, slot->address, type);
}

static const char *place(const struct rcore_process *process, struct rcore_snapshot *snapshot)
{
	struct rcore_fault_facts *fault = &snapshot->cause.fault;
	struct rcore_arena *arena = &snapshot->arena;
	uint64_t address = fault->address;
	enum rcore_place far = beyond(process->machine, address);
	int fiber = guarded_fiber(process, snapshot, address);
	const struct rcore_segment *segment = segment_at(process, address);
	if (address < NULL_END) {
		fault->place = RCORE_PLACE_NULL;
		return address ? rcore_arena_printf(arena, "NULL + 0x%" PRIx64, address)
			       : "NULL";
	}
	if (far) {
		fault->place = far;
		return rcore_arena_printf(arena, "0x%" PRIx64 ", %s", address,
					  far == RCORE_PLACE_KERNEL
						  ? "an address of the kernel"
						  : "a non-canonical address");
	}
	if (fault->slot.address) {
		fault->place = RCORE_PLACE_SLOT;
		return slot_text(snapshot);
	}
	if (fiber >= 0) {
		fault->place = RCORE_PLACE_GUARD;
		return rcore_arena_printf(arena, "the guard page of fiber %s",
					  snapshot->fibers[fiber].id);
	}
	if (segment)
		return mapped_text(process, snapshot, segment);
	if (!process->segment_count)
		return NULL;
	fault->place = RCORE_PLACE_UNMAPPED;
	return "unmapped memory";
}

struct rcore_error *rcore_fault_find(const struct rcore_process *process,
				     struct rcore_snapshot *snapshot)
{
	struct rcore_fault_facts *fault = &snapshot->cause.fault;
	if (!fault->has_address)
		return NULL;
	fault->text = place(process, snapshot);
	return fault->text || fault->place == RCORE_PLACE_UNKNOWN ? NULL
								  : rcore_error_no_memory();
}

void rcore_fault_describe(const struct rcore_fault_facts *fault, char *buffer, size_t size)
{
	static const char *const accesses[] = {"an access to", "a read of", "a write to",
					       "a jump to"};
	buffer[0] = 0;
	if (fault->text)
		rcore_format(buffer, size, "%s %s", accesses[fault->access], fault->text);
}
