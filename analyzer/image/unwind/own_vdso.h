/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_OWN_VDSO_H
#define RCORE_IMAGE_OWN_VDSO_H

#include <libelf.h>

#include "target/memory.h"

/*
 * The vdso of this process if the target's at `address` is the same: a target
 * of the same kernel. libdw may read its call frame information, which in the
 * target's memory may be anything. NULL: it is another. The caller ends it
 * (elf_end).
 */
Elf *rcore_own_vdso(struct rcore_memory *memory, uint64_t address);

#endif
