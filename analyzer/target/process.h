/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PROCESS_H
#define RCORE_TARGET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the operating system knew of the stopped process: filled by the core
 * reader from its notes, by the debugger bridge from the debugger. Every part
 * may be absent (a truncated core, a remote target); absent is never zero
 * without a flag that says so.
 */

/* One range of the address space that maps a file: a row of NT_FILE, or a line of
 * /proc/PID/maps; neighbours with other permissions are rows of their own. */
struct rcore_mapping {
	uint64_t start, end;
	uint64_t file_offset; /* bytes */
	const char *path;     /* as the target saw it (chroot-relative in a chroot) */
	const char *
		file; /* under which a live process's very file can be opened from here; NULL: unknown */
};

/* One range of memory that was mapped, as a PT_LOAD of the core tells. The file holds `saved` bytes of
 * it, from its start on. */
struct rcore_segment {
	uint64_t start, size, saved;
	bool readable, writable, executable;
};

/* General registers as the kernel's elf_gregset_t has them (NT_PRSTATUS); 27
 * words on x86-64, 34 on aarch64 (x0-x30, sp, pc, pstate). */
enum { RCORE_MAX_REGISTERS = 34 };

struct rcore_native_thread {
	int tid;
	bool has_registers;
	int register_count;
	uint64_t registers[RCORE_MAX_REGISTERS];
	/* Thread pointer: fs_base on x86-64, tpidr_el0 (NT_ARM_TLS) on aarch64; 0: unknown. */
	uint64_t thread_pointer;
};

/* siginfo_t as far as it matters. */
struct rcore_siginfo {
	bool present;
	int signo, code;
	uint64_t address; /* si_addr of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP */
	int sender_pid;   /* si_pid where code <= 0 (SI_USER, SI_TKILL ...) */
};

struct rcore_process {
	const char *source;     /* "core.1234": what the user named */
	const char *producer;   /* "kernel", "gdb" (gcore is gdb) ...; NULL: not known */
	unsigned machine;       /* EM_X86_64 or EM_AARCH64 */
	int pid;                /* 0: unknown */
	int signo;              /* pr_cursig of the thread that died; 0: none (gcore) */
	const char *executable; /* pr_fname, 15 bytes at most; NULL: unknown */
	const char *arguments;  /* pr_psargs, one line, 79 bytes at most; NULL: unknown */
	struct rcore_siginfo siginfo;

	/* Order of the core: the thread that died comes first in a kernel core. */
	struct rcore_native_thread *threads;
	size_t thread_count;
	int crashed_tid; /* 0: none or unknown */

	struct rcore_mapping *mappings; /* sorted by start; NT_FILE */
	size_t mapping_count;

	/* Sorted by start: all that was mapped, guard pages too; none: not known (a live process,
	 * a debugger). */
	const struct rcore_segment *segments;
	size_t segment_count;

	uint64_t *auxv; /* pairs of type and value, without the final AT_NULL */
	size_t auxv_pairs;

	/* The note of a pack (target/core_pack.h); NULL: it is none. */
	const char *pack_note;
	size_t pack_note_size;
	const uint8_t *pack_known; /* another note of it (target/pack_known.h); NULL: none */
	size_t pack_known_size;

	const char *
		note; /* one line on what is wrong with the source ("truncated ..."); NULL: nothing */
};

/* How many registers a thread has, and the numbers of those that hold pc and sp in
 * rcore_native_thread.registers. */
int rcore_register_count(unsigned machine);
int rcore_register_pc(unsigned machine);
int rcore_register_sp(unsigned machine);

/* Room in bytes for what rcore_siginfo_parse() reads of a siginfo_t (which has 128). */
enum { RCORE_SIGINFO_SIZE = 24 };

/* siginfo_t as the kernel writes it, the same on both machines. `present` becomes true. */
void rcore_siginfo_parse(const void *bytes, struct rcore_siginfo *ret);

/* The value of an auxiliary vector entry (AT_PHDR ...); false: not there. */
bool rcore_process_auxv(const struct rcore_process *process, uint64_t type, uint64_t *ret);

/* The mapping that holds `address`, or NULL. */
const struct rcore_mapping *rcore_process_mapping(const struct rcore_process *process,
						  uint64_t address);

/* For those that fill a process. Puts the mappings in order and drops each that overlaps an
 * earlier one; false: some did. */
bool rcore_process_order_mappings(struct rcore_process *process);

/* A debugger stops a process with signals of its own, and they stay in the core it writes
 * (`by_debugger`): these did not kill it. Any other signal hit the first thread, unless
 * crashed_tid says so already. */
void rcore_process_settle_signal(struct rcore_process *process, bool by_debugger);

/* Whether another process's signal ended it (kill(2) by a watchdog, a CI system): the thread that
 * it hit did nothing wrong, it ran or waited as the others do. */
bool rcore_process_was_killed(const struct rcore_process *process);

#endif
