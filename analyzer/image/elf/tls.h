/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_TLS_H
#define RCORE_IMAGE_TLS_H

#include "image/elf/modules.h"

/*
 * Finds thread-local variables without libthread_db. A module has a block of
 * thread-local data for each thread. In glibc, the thread pointer leads to the
 * thread's vector (dtv), which has the block's address at the index that is the
 * module's number:
 *
 *	x86-64   tp ─> tcb, dtv, self
 *	aarch64  tp ─> dtv
 *	dtv[-1] length, dtv[1] {block, to_free}, dtv[2] ...
 *
 * Each entry of the dtv has 16 bytes. A block of -1 or 0 was not created yet.
 *
 * The dynamic linker writes the number into the module's own global offset
 * table, where a relocation says: DTPMOD64 is the number; TLSDESC is a function
 * and its argument, which is the variable's offset from tp (static), or points
 * to the number and the offset (dynamic); TPOFF64 is the offset from tp.
 * Mirrors glibc's sysdeps/{x86_64,aarch64}/nptl/tls.h, dl-tlsdesc.h and
 * dl-tls.c.
 */
struct rcore_tls_variable {
	bool is_static;  /* at tp + offset */
	uint64_t module; /* otherwise in that module's block */
	uint64_t offset;
};

/*
 * Finds an exported thread-local variable of a module. Returns false if it has
 * none of that name, or its place cannot be determined.
 */
bool rcore_tls_find(struct rcore_modules *modules, struct rcore_module *module,
		    const char *name, struct rcore_tls_variable *ret);

/*
 * Finds its address in the thread with this thread pointer. *ret is 0 if that
 * thread has not used the module's variables yet; they then have their initial
 * values. Errors: CORRUPT if no glibc thread can have this thread pointer;
 * FAULT.
 */
struct rcore_error *rcore_tls_address(struct rcore_memory *memory, unsigned machine,
				      uint64_t thread_pointer,
				      const struct rcore_tls_variable *variable, uint64_t *ret);

/*
 * Finds where a module's block is relative to the thread pointer, if it is in
 * the static block of the thread, as it is for modules that were loaded at the
 * start. Returns false if the thread has a separate block, which free() will
 * get (`to_free`, glibc 2.25 on), or has none yet.
 */
bool rcore_tls_static_offset(struct rcore_memory *memory, unsigned machine,
			     uint64_t thread_pointer, uint64_t module, int64_t *ret);

#endif
