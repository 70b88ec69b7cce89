/* SPDX-License-Identifier: MIT */
#include "image/elf/module_dynamic.h"

#include <string.h>

static enum rcore_fault read_file(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	const struct rcore_elf *elf = ((struct rcore_file_memory *)memory)->elf;
	const GElf_Phdr *load = rcore_elf_headers_load(&elf->headers, address);
	if (!load)
		return RCORE_FAULT_UNMAPPED;
	uint64_t offset = address - load->p_vaddr;
	const uint8_t *bytes = NULL;
	if (offset < load->p_filesz && size <= load->p_filesz - offset)
		bytes = rcore_elf_bytes(elf, load->p_offset + offset, size);
	if (!bytes)
		return RCORE_FAULT_NOT_SAVED;
	memcpy(buffer, bytes, size);
	return RCORE_FAULT_NONE;
}

bool rcore_module_dynamic(struct rcore_modules *modules, const struct rcore_module_entry *entry,
			  struct rcore_module_dynamic *ret)
{
	bool from_memory = modules->options.from_memory;
	const struct rcore_elf *elf = from_memory ? NULL : entry->module.elf;
	ret->file = (struct rcore_file_memory){{read_file}, elf};
	return rcore_dynamic_init(elf           ? &ret->file.memory
				  : from_memory ? &modules->overlay
						: modules->memory,
				  elf ? 0 : entry->module.bias, rcore_module_headers(entry),
				  &ret->dynamic);
}
