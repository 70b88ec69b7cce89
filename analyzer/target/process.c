/* SPDX-License-Identifier: MIT */
#include "target/process.h"

#include <elf.h>

int rcore_register_pc(unsigned machine)
{
	return machine == EM_AARCH64 ? 32 : 16;
}

int rcore_register_sp(unsigned machine)
{
	return machine == EM_AARCH64 ? 31 : 19;
}

bool rcore_process_auxv(const struct rcore_process *process, uint64_t type, uint64_t *ret)
{
	for (size_t i = 0; i < process->auxv_pairs; i++) {
		if (process->auxv[2 * i] == type) {
			*ret = process->auxv[2 * i + 1];
			return true;
		}
	}
	return false;
}

const struct rcore_mapping *rcore_process_mapping(const struct rcore_process *process,
						  uint64_t address)
{
	size_t low = 0, high = process->mapping_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (process->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == process->mapping_count || process->mappings[low].start > address)
		return NULL;
	return &process->mappings[low];
}
