/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_OWN_VDSO_H
#define RCORE_IMAGE_OWN_VDSO_H

#include <libelf.h>

#include "target/memory.h"

/*
 * Returns the vdso of this process if it equals the target's at `address`, as
 * it does for a target of the same kernel. libdw may read its call frame
 * information; what is in the target's memory could be anything. Returns NULL
 * if it differs. The caller calls elf_end().
 */
Elf *rcore_own_vdso(struct rcore_memory *memory, uint64_t address);

#endif
