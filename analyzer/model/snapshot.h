/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_SNAPSHOT_H
#define RCORE_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "image/native_frame.h"
#include "model/context.h"
#include "model/exception.h"
#include "model/facts.h"
#include "model/fault.h"
#include "model/locals.h"
#include "model/redaction.h"
#include "model/storage.h"
#include "model/task.h"
#include "model/triage.h"
#include "model/wait.h"

/*
 * What was found in a target: plain structs that decoders fill and reports
 * print. Nothing here points into the target; all memory is the snapshot's
 * arena. Strings that come from the target are raw bytes with a NUL at the end:
 * reports escape them. NULL strings, and flags named has_*, mean "not known".
 * Every part can carry a problem of its own: one line, what and where.
 */

struct rcore_ids;

enum rcore_frame_kind {
	RCORE_FRAME_RUBY,   /* has an iseq */
	RCORE_FRAME_CFUNC,  /* a method written in C */
	RCORE_FRAME_IFUNC,  /* a block written in C */
	RCORE_FRAME_DUMMY,  /* pushed by the VM, no code of its own */
	RCORE_FRAME_BROKEN, /* could not be decoded; `problem` says why */
};

struct rcore_frame {
	enum rcore_frame_kind kind;
	uint64_t cfp, pc, iseq, self, ep; /* addresses and VALUEs; 0 as found */
	uint64_t method_entry;            /* rb_callable_method_entry_t, 0: none */
	uint64_t cfunc; /* C function of a cfunc or ifunc; 0: none or unknown */
	uint32_t flags; /* ep[0]: VM_FRAME_FLAG_* and magic, as cruby's vm_core.h */
	/* As the newest Ruby's backtrace prints it: "Foo#bar", "block in Foo.bar". */
	const char *label;
	const char *path;        /* of the iseq; NULL for a cfunc */
	int line;                /* current line; 0: unknown */
	bool under_construction; /* pushed, pc not set yet */
	bool pc_stale;           /* compiled code had not written its pc: the line is unknown */
	/* What this Ruby's own backtrace prints for the frame, as in `caller`; NULL
	 * where it prints none for it (a dummy, the frame below a rescue). */
	const char *native_label, *native_path;
	int native_line;
	struct rcore_frame_values *values; /* self, arguments, locals; NULL: not asked for */
	const char *problem;
};

/* A step of the woven stack. */
enum rcore_step_kind {
	RCORE_STEP_NATIVE, /* `index` into fiber->native */
	RCORE_STEP_RUBY,   /* `index` into fiber->frames */
	RCORE_STEP_GAP,    /* what is here cannot be told; `reason` says why */
};

struct rcore_step {
	enum rcore_step_kind kind;
	int index;
	const char *reason;
};

enum rcore_fiber_status {
	RCORE_FIBER_CREATED,
	RCORE_FIBER_RESUMED,
	RCORE_FIBER_SUSPENDED,
	RCORE_FIBER_TERMINATED,
	RCORE_FIBER_STATUS_UNKNOWN,
};

struct rcore_fiber {
	char id[24];      /* "T1.F3" ("E1.F0" for the first ended thread) */
	uint64_t address; /* rb_fiber_t */
	uint64_t object;  /* Fiber VALUE; 0: never became an object */
	uint64_t ec;      /* rb_execution_context_t */
	enum rcore_fiber_status status;
	bool is_root;
	bool is_current;      /* the fiber its thread runs now */
	bool is_continuation; /* callcc */
	bool yielding, blocking;
	int resumed_by; /* index into snapshot->fibers; -1: none (fiber->prev) */
	int resuming;   /* index of the fiber that this one resumed; -1: none */
	int thread;     /* index into snapshot->threads; -1: its thread cannot be read */
	uint64_t vm_stack, vm_stack_size;           /* bytes */
	uint64_t machine_stack, machine_stack_size; /* bytes; 0: unknown (root fibers) */
	uint64_t stack_pointer; /* saved when it was switched away from; 0: never */
	bool is_parked;         /* what its CPU registers were is saved there now */
	int tid; /* of the kernel thread that runs on its machine stack: its thread's, but in the midst of a
		    switch; 0: none, or unknown */
	uint64_t
		stack_base; /* ec->machine.stack_start: an address next to its outermost frames, where
				the GC starts to look; 0: unknown */
	struct rcore_frame *frames; /* innermost first */
	size_t frame_count;
	bool frames_truncated;             /* more frames than the limit */
	struct rcore_native_frame *native; /* innermost first */
	size_t native_count;
	const char
		*native_problem;  /* why the unwinding ended early; NULL: at its natural end */
	struct rcore_step *steps; /* both stacks woven, innermost first; none: not woven */
	size_t step_count;
	int group;                              /* index into snapshot->groups; -1: alone */
	struct rcore_variables storage, locals; /* Fiber[:x]; Thread#[] */
	struct rcore_exception *exceptions;     /* what it is handling, innermost first: $! */
	size_t exception_count;
	struct rcore_context context;
	struct rcore_wait *wait; /* what it waits for; NULL: nothing, or not known */
	const char *problem;
};

/* Fibers parked with the same stack. */
struct rcore_fiber_group {
	int *fibers; /* indices, ascending */
	size_t count;
};

enum rcore_thread_status {
	RCORE_THREAD_RUNNABLE,
	RCORE_THREAD_STOPPED,         /* "sleep" */
	RCORE_THREAD_STOPPED_FOREVER, /* "sleep_forever" */
	RCORE_THREAD_KILLED,
	RCORE_THREAD_STATUS_UNKNOWN,
};

enum rcore_gvl {
	RCORE_GVL_UNKNOWN,
	RCORE_GVL_HOLDER,
	RCORE_GVL_RELEASED, /* in a blocking region */
	RCORE_GVL_WAITING,  /* wants it back */
};

struct rcore_thread {
	char id[16];      /* "T1"; "E1" for a thread that has ended and still owns fibers */
	uint64_t address; /* rb_thread_t */
	uint64_t object;  /* Thread VALUE */
	int tid;          /* kernel thread; 0: none or unknown */
	bool is_parked;   /* waits without a kernel thread (M:N scheduling, 3.3 on) */
	const char *name; /* Thread#name; NULL: none */
	enum rcore_thread_status status;
	bool to_kill; /* "aborting" */
	enum rcore_gvl gvl;
	bool is_main;
	bool is_ended;
	bool is_crashed; /* the kernel thread that died */
	int ractor;      /* index into snapshot->ractors; -1: ended, or before 3.0 */
	int *fibers;     /* indices into snapshot->fibers: root first, then by age or address */
	size_t fiber_count;
	int current_fiber;                /* index; -1: unknown */
	struct rcore_variables variables; /* Thread#thread_variable_get */
	const char *problem;
};

struct rcore_ractor {
	uint64_t address;
	uint64_t id;
	const char *name;
	int *threads; /* indices into snapshot->threads */
	size_t thread_count;
	const char *problem;
};

/* Of a process that runs on. */
struct rcore_live_facts {
	bool present; /* false: the target is no running process of ours */
	bool stopped; /* false: read while it ran, so what it changed meanwhile may not fit together */
	uint64_t pause_ns;   /* how long it stood still */
	size_t thread_count; /* that were stopped */
	int inner_pid;       /* its number in its own pid namespace; 0: that of ours */
};

/* A kernel thread that runs no Ruby thread (timer, GC, C libraries). */
struct rcore_other_thread {
	int tid;
	struct rcore_native_frame *native; /* innermost first */
	size_t native_count;
	const char *native_problem;
};

/* A fault that was a machine stack running over, and how that is known. */
struct rcore_overflow {
	bool present;
	int fiber; /* index, of the fiber whose stack it is; -1: of a thread without Ruby */
	uint64_t
		address; /* of the fault; 0: not saved (qemu's cores), the stack pointer alone tells */
	uint64_t stack_pointer;
	uint64_t stack_start, stack_end; /* what its frames may use */
	uint64_t guard_start,
		guard_end; /* the pages below it that nobody may touch, where the fault
					    was; both 0: nothing is mapped there */
};

struct rcore_cause {
	bool present; /* false: the process was not killed (gcore, live) */
	int signo, code;
	bool has_address;
	uint64_t address;
	int sender_pid;    /* who sent it; 0: the kernel, or unknown */
	bool from_outside; /* another process did, a watchdog for one: no thread is to blame */
	/* The fault that made Ruby abort, from its signal stack; signo 0: none found. */
	int original_signo, original_code;
	bool has_original_address;
	uint64_t original_address;
	int original_sender_pid;
	int tid;           /* the thread that died; 0: unknown */
	int thread, fiber; /* indices; -1: not a Ruby thread, unknown */
	struct rcore_overflow overflow;
	struct rcore_fault_facts fault;
	bool in_gc;                /* a collection was running */
	const char *abort_message; /* what the C library said when it ended the process */
	const char *bug;           /* what rb_bug() was called with; NULL: it was not */
	/* What says that memory was short; NULL: nothing does. (A cgroup's limit ends a process
	 * without a core.) */
	const char *out_of_memory;
	const struct rcore_exception
		*exception; /* that its fiber was handling, the innermost; NULL: none */
	const char *text;   /* one line for people, with the place */
};

enum rcore_vm_rung { RCORE_RUNG_SYMBOL, RCORE_RUNG_DWARF, RCORE_RUNG_SEARCH };

struct rcore_proof {
	const char *name; /* "thread.ec": what was proved */
	const char *text; /* the condition, in words */
	bool passed;
	const char *detail; /* why it failed, or what could not be tested; NULL: fine */
	size_t missed;      /* how often it did not hold; a corrupt thread does not fail it */
	bool is_apart; /* of a struct that no other leads through: what it says, it says of that alone */
};

/* A struct of an approximate layout whose fields were moved until their proofs held. */
enum { RCORE_SHIFT_COUNT = 8 };
struct rcore_shift {
	const char *group; /* "thread", as the tables call it */
	const char *from;  /* the first field that was moved; all behind it went along */
	int by;            /* bytes */
	int held;          /* how many more of its fields hold than before */
};

/* A field of the layout that this Ruby has, on this target. */
enum rcore_field_state {
	RCORE_FIELD_PROVED,
	RCORE_FIELD_WRONG, /* its proof fails */
	RCORE_FIELD_SILENT, /* nothing in this target to prove it on: NULL, or too common a number */
	RCORE_FIELD_NO_PROOF,   /* it is used without a proof of its own */
	RCORE_FIELD_UNMEASURED, /* the layout does not know it: what needs it fails */
};
struct rcore_field_check {
	const char *group, *id; /* "thread", "name", as the tables call it */
	int offset;             /* bytes from the struct's start */
	enum rcore_field_state state;
};

struct rcore_module_info {
	const char *path, *file;
	uint64_t start, end;
	const char *build_id, *file_build_id; /* hex; NULL: none */
	const char *status; /* "found", "unverified", "wrong build", "missing" */
	const char *lost;   /* what cannot be said without it; NULL: nothing */
	const char *fix;    /* the command that would bring it; NULL: nothing to do */
	bool is_ruby;       /* holds the VM */
};

/* By what it is known which native function runs the interpreter: rb_vm_exec of vm.c. */
enum rcore_activation_source {
	RCORE_ACTIVATION_NOT_ASKED, /* there are no native stacks */
	RCORE_ACTIVATION_SYMBOL,
	RCORE_ACTIVATION_CODE, /* by the code of the interpreter's instructions, and its callers */
	RCORE_ACTIVATION_STACKS,  /* it alone stands in the stacks as often as C entered Ruby */
	RCORE_ACTIVATION_UNKNOWN, /* then native and Ruby frames are listed apart */
};

struct rcore_activation {
	enum rcore_activation_source source;
	uint64_t address; /* 0: unknown */
};

struct rcore_snapshot {
	struct rcore_arena arena;
	struct rcore_ids *ids; /* of rcore_options, while it is decoded */

	const char *source, *producer;
	int pid;
	struct rcore_live_facts live;
	unsigned machine;
	const char *arguments;
	const char *ruby_version; /* "3.3.8" */
	const char *
		ruby_description; /* "ruby 3.3.8 (2025-04-09 ...) [x86_64-linux-gnu]"; NULL: unknown */
	const char *version_source; /* how the version was found */

	const char *layout_name;
	const char *layout_source; /* "exact", "approximate", "dwarf" */
	/* "4.0.5": has the structs that the layout's own release does not tell; NULL: none */
	const char *layout_neighbour;
	const char **
		unmeasured; /* "struct weakmap", "thread.name": what the layout does not know */
	size_t unmeasured_count;
	struct rcore_field_check *field_checks; /* of rcore_check_layout() alone */
	size_t field_check_count;
	struct rcore_shift shifts[RCORE_SHIFT_COUNT];
	size_t shift_count;
	enum rcore_vm_rung vm_rung;
	uint64_t vm;
	struct rcore_proof *proofs;
	size_t proof_count;
	struct rcore_module_info *modules;
	size_t module_count;
	const char
		*fiber_source; /* how the fibers were found: "jit_cont list", "heap walk" ... */

	struct rcore_activation activation;
	struct rcore_redaction redaction; /* what was taken out of the texts below */
	struct rcore_facts facts;
	struct rcore_cause cause;
	struct rcore_blame blame;
	struct rcore_signature signature;
	struct rcore_ractor *ractors;
	size_t ractor_count;
	struct rcore_thread *threads; /* living first, then ended */
	size_t thread_count;
	struct rcore_fiber *fibers;
	size_t fiber_count;
	struct rcore_fiber_group *groups;
	size_t group_count;
	struct rcore_task *tasks; /* of the gem async, parents before their children */
	size_t task_count;
	struct rcore_other_thread *others;
	size_t other_count;
	struct rcore_lock *locks; /* that are held */
	size_t lock_count;
	struct rcore_deadlock *deadlocks;
	size_t deadlock_count;
	const char *
		wait_problem; /* the first list of who waits that could not be read; NULL: all could */

	bool has_values; /* frames were asked for self, arguments or locals */
	/* What could not be read, on the whole; each one line. */
	const char **problems;
	size_t problem_count;
	/* A thread, fiber or frame that is there could not be decoded: exit status 1. */
	bool incomplete;
	/* Why nothing of Ruby could be decoded; NULL: it could. */
	const char *failure;
};

#endif
