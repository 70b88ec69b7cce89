/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/order.h"
#include "image/elf/module_private.h"

/*
 * The kernel leaves pages of a mapped file out of a core if the process has not
 * written to them (coredump_filter): their bytes are the file's. What the core
 * contains always takes precedence.
 */

static const struct rcore_module_row *find_row(struct rcore_modules *modules, uint64_t address)
{
	if (modules->last_row < modules->rows.count) {
		const struct rcore_module_row *row = &modules->rows.items[modules->last_row];
		if (row->start <= address && address < row->end)
			return row;
	}
	size_t low = RCORE_PARTITION_POINT(modules->rows.count, middle,
					   modules->rows.items[middle].end <= address);
	if (low == modules->rows.count || modules->rows.items[low].start > address)
		return NULL;
	modules->last_row = low;
	return &modules->rows.items[low];
}

/*
 * Whether a file's bytes may replace those that could not be read because of
 * `fault`. For a page of data, only if the core says that it left the page out,
 * because then the page was never written. Pages that were written are lost if
 * a core is truncated, are in no core without anonymous memory, and for a
 * running process are only in its memory.
 */
static bool file_may_tell(const struct rcore_modules *modules,
			  const struct rcore_module_row *row, enum rcore_fault fault)
{
	if (row->writable)
		return fault == RCORE_FAULT_NOT_SAVED && modules->anonymous_saved;
	return fault != RCORE_FAULT_IO;
}

/*
 * Reads bytes of one page. After the end of the file, the rest of the last page
 * is zero, as the kernel maps it. Whole pages after the end do not exist.
 */
static enum rcore_fault fill(struct rcore_modules *modules, uint64_t address, char *buffer,
			     size_t size, enum rcore_fault fault)
{
	const struct rcore_module_row *row = find_row(modules, address);
	bool may_tell = row && file_may_tell(modules, row, fault);
	/* gdb leaves out the segment, too. */
	if (fault == RCORE_FAULT_UNMAPPED && rcore_process_mapping(modules->process, address))
		fault = RCORE_FAULT_NOT_SAVED;
	if (!may_tell)
		return fault;
	const struct rcore_elf *elf = modules->list.items[row->module].module.elf;
	if (!elf)
		return RCORE_FAULT_FILE_MISSING;
	uint64_t offset = address - row->start + row->file_offset;
	uint64_t mask = modules->page_size - 1;
	if (offset >= ((elf->map.size + mask) & ~mask) || size > row->end - address)
		return fault;
	size_t in_file = 0;
	if (offset < elf->map.size) {
		uint64_t left = elf->map.size - offset;
		in_file = left < size ? left : size;
		memcpy(buffer, elf->map.bytes + offset, in_file);
	}
	memset(buffer + in_file, 0, size - in_file);
	return RCORE_FAULT_NONE;
}

static enum rcore_fault read_overlay(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	struct rcore_modules *modules =
		(struct rcore_modules *)((char *)memory -
					 offsetof(struct rcore_modules, overlay));
	enum rcore_fault fault = rcore_read(modules->below, address, buffer, size);
	if (!fault)
		return fault;
	uint64_t end;
	if (__builtin_add_overflow(address, (uint64_t)size, &end))
		return RCORE_FAULT_UNMAPPED;
	char *out = buffer;
	for (bool first = true; size; first = false) {
		uint64_t part = modules->page_size - address % modules->page_size;
		if (part > size)
			part = size;
		if (!first || part < size)
			fault = rcore_read(modules->below, address, out, part);
		if (fault)
			fault = fill(modules, address, out, part, fault);
		if (fault)
			return fault;
		out += part;
		address += part;
		size -= part;
	}
	return RCORE_FAULT_NONE;
}

static uint64_t nearer(uint64_t edge, uint64_t other, uint64_t address)
{
	return other > address && other < edge ? other : edge;
}

uint64_t rcore_modules_edge(const struct rcore_modules *modules, uint64_t address)
{
	uint64_t mask = modules->page_size - 1, edge = (address | mask) + 1;
	size_t low = RCORE_PARTITION_POINT(modules->rows.count, middle,
					   modules->rows.items[middle].end <= address);
	edge = edge > address ? edge : UINT64_MAX;
	if (low == modules->rows.count)
		return edge;
	const struct rcore_module_row *row = &modules->rows.items[low];
	const struct rcore_elf *elf = modules->list.items[row->module].module.elf;
	edge = nearer(edge, row->start, address);
	edge = nearer(edge, row->end, address);
	return elf ? nearer(edge,
			    row->start + ((elf->map.size + mask) & ~mask) - row->file_offset,
			    address)
		   : edge;
}

/*
 * A core that contains any thread's stack has saved anonymous memory. If there
 * are no threads or no registers, this is assumed, because it is the default.
 */
static bool saves_anonymous(const struct rcore_process *process, struct rcore_memory *below)
{
	bool tried = false;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		uint64_t word;
		if (!thread->has_registers)
			continue;
		enum rcore_fault fault = rcore_read_u64(
			below, thread->registers[rcore_register_sp(process->machine)], &word);
		if (!fault)
			return true;
		tried |= fault == RCORE_FAULT_NOT_SAVED;
	}
	return !tried;
}

struct rcore_memory *rcore_modules_overlay(struct rcore_modules *modules,
					   struct rcore_memory *below)
{
	modules->below = below;
	modules->anonymous_saved = saves_anonymous(modules->process, below);
	modules->overlay.read = read_overlay;
	return &modules->overlay;
}
