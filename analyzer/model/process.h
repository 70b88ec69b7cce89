/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_PROCESS_H
#define RCORE_MODEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What the operating system knew of the stopped process. librcore fills it from
 * a core's notes or from /proc; a debugger fills it for rcore_open_memory().
 * Every part may be missing. The structs below `struct rcore_process` never
 * grow.
 */

/*
 * A range of the address space that maps a file: a line of /proc/PID/maps, or a
 * row of NT_FILE.
 */
struct rcore_mapping {
	uint64_t start, end;
	uint64_t file_offset; /* bytes */
	/* As the target sees it, inside its chroot if it has one. */
	const char *path;
	const char *file; /* opens the same file from here; NULL: unknown */
};

/*
 * A range of memory, as a PT_LOAD of a core has it. The core holds its first
 * `saved` bytes.
 */
struct rcore_segment {
	uint64_t start, size, saved;
	bool readable, writable, executable;
};

enum { RCORE_MAX_REGISTERS = 34 };

/* A kernel thread. */
struct rcore_native_thread {
	int tid;
	bool has_registers;
	int register_count;
	/*
	 * In the order of the kernel's elf_gregset_t (NT_PRSTATUS): 27 words on
	 * x86-64, 34 on aarch64 (x0 to x30, sp, pc, pstate).
	 */
	uint64_t registers[RCORE_MAX_REGISTERS];
	/* fs_base, or tpidr_el0 (NT_ARM_TLS); 0: unknown. */
	uint64_t thread_pointer;
};

/* The part of siginfo_t that matters. */
struct rcore_siginfo {
	bool present;
	int signo, code;
	/* si_addr of SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGTRAP. */
	uint64_t address;
	int sender_pid; /* si_pid if code <= 0 (SI_USER, SI_TKILL ...) */
};

/* Set `size`, and zero what is unknown. See rcore.h, "Options". */
struct rcore_process {
	size_t size; /* sizeof(struct rcore_process) */
	/* What the user calls the target, such as "core.1234". */
	const char *source;
	/* Of a core: "kernel", "gdb" (gcore too) ...; NULL: unknown. */
	const char *producer;
	/* EM_X86_64 or EM_AARCH64 of <elf.h>; required. */
	unsigned machine;
	int pid; /* 0: unknown */
	/* The signal that killed the process; 0: none. */
	int signo;
	/* Short name, at most 15 bytes; NULL: unknown. */
	const char *executable;
	/* The start of the command line; NULL: unknown. */
	const char *arguments;
	struct rcore_siginfo siginfo;

	/* In a kernel's core the one that died is first. */
	struct rcore_native_thread *threads;
	size_t thread_count;
	int crashed_tid; /* 0: none or unknown */

	struct rcore_mapping *mappings; /* sorted by start, without overlaps */
	size_t mapping_count;

	/*
	 * All mapped memory, guard pages too, sorted by start. None: unknown.
	 */
	const struct rcore_segment *segments;
	size_t segment_count;

	/* Pairs of type and value (getauxval(3)), without AT_NULL. */
	uint64_t *auxv;
	size_t auxv_pairs;

	/* One line on what is wrong with the source; NULL: nothing. */
	const char *note;

	/* Private: two notes of a core that `rcore pack` wrote. */
	const char *pack_note;
	size_t pack_note_size;
	const uint8_t *pack_known;
	size_t pack_known_size;

	/*
	 * The root folder of a running process as a path of this machine, such
	 * as "/proc/1234/root". NULL: it is "/", or this is not a process.
	 */
	const char *root;

	/* A running process that a debugger has stopped. */
	bool is_debugged;
};

#endif
