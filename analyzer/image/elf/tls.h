/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_TLS_H
#define RCORE_IMAGE_TLS_H

#include "image/elf/modules.h"

/*
 * Thread-local variables, without the help of libthread_db. A module's
 * thread-local data is a block for each thread. Where that block is says, in
 * glibc, the thread's vector (dtv), to which the thread pointer leads, by the
 * module's number:
 *
 *	x86-64   tp ─> tcb, dtv, self
 *	aarch64  tp ─> dtv
 *	dtv[-1] length, dtv[1] {block, to_free}, dtv[2] ...
 *
 * Each entry of the dtv has 16 bytes. A block of -1 or 0 was not made yet.
 *
 * The number is what the dynamic linker wrote into the module's own global
 * offset table, where a relocation says: DTPMOD64 the number; TLSDESC a
 * function and its argument, which is the variable's offset from tp (static) or
 * points to the number and the offset (dynamic); TPOFF64 the offset from tp.
 * Mirrors glibc's sysdeps/{x86_64,aarch64}/nptl/tls.h, dl-tlsdesc.h and
 * dl-tls.c.
 */
struct rcore_tls_variable {
	bool is_static;  /* at tp + offset */
	uint64_t module; /* else in that module's block */
	uint64_t offset;
};

/*
 * An exported thread-local variable of a module; false: it has none of that
 * name, or where it is cannot be told.
 */
bool rcore_tls_find(struct rcore_modules *modules, struct rcore_module *module,
		    const char *name, struct rcore_tls_variable *ret);

/*
 * Its address in the thread with this thread pointer. *ret is 0 where that
 * thread has not touched the module's variables yet: they have their initial
 * values. CORRUPT: no thread of glibc has such a thread pointer; FAULT.
 */
struct rcore_error *rcore_tls_address(struct rcore_memory *memory, unsigned machine,
				      uint64_t thread_pointer,
				      const struct rcore_tls_variable *variable, uint64_t *ret);

#endif
