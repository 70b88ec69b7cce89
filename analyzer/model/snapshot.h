/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_SNAPSHOT_H
#define RCORE_MODEL_SNAPSHOT_H

/*
 * model/ is plain data, which decoders fill and reports print. It knows no
 * memory, no layout and no file, and includes base/ only. Start here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/api.h"
#include "base/arena_struct.h"
#include "model/context.h"
#include "model/deployment.h"
#include "model/exception.h"
#include "model/facts.h"
#include "model/fault.h"
#include "model/locals.h"
#include "model/native_frame.h"
#include "model/redaction.h"
#include "model/summary.h"
#include "model/task.h"
#include "model/triage.h"
#include "model/value.h"
#include "model/wait.h"
#include "model/work.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What rcore found in a target, as plain structs. Start at `struct
 * rcore_snapshot`, at the end of this file.
 *
 * - The snapshot owns everything that it points to. Do not change or free any
 *   of it; rcore_snapshot_free() frees it all.
 * - Strings that come from the target are raw bytes with a NUL at the end, not
 *   necessarily UTF-8. Escape them before you print them to a terminal. The
 *   reports do.
 * - A NULL string, or a false has_*, means "unknown". Addresses are those of
 *   the target.
 * - A thread, fiber, frame ... that could be read only in part has a `problem`:
 *   one line that says what and why.
 * - Use the functions below to walk threads, fibers and frames: these structs
 *   grow in later releases (see rcore.h, "Compatibility").
 */

struct rcore_ids;

enum rcore_frame_kind {
	RCORE_FRAME_RUBY,   /* runs an iseq */
	RCORE_FRAME_CFUNC,  /* a method written in C */
	RCORE_FRAME_IFUNC,  /* a block written in C */
	RCORE_FRAME_DUMMY,  /* pushed by the VM, without code of its own */
	RCORE_FRAME_BROKEN, /* could not be decoded; `problem` says why */
};

/* A frame of the VM stack: CRuby's rb_control_frame_t. */
struct rcore_frame {
	enum rcore_frame_kind kind;
	/* Addresses and VALUEs, as they are. */
	uint64_t cfp, pc, iseq, self, ep;
	/* rb_callable_method_entry_t; 0: none. */
	uint64_t method_entry;
	/* The C function of a cfunc or ifunc; 0: unknown. */
	uint64_t cfunc;
	/* ep[0]: VM_FRAME_FLAG_* and VM_FRAME_MAGIC_* of vm_core.h. */
	uint32_t flags;
	/*
	 * As the newest Ruby's backtrace prints it: "Foo#bar", "block in
	 * Foo.bar".
	 */
	const char *label;
	const char *path;        /* of the iseq; NULL for a cfunc */
	int line;                /* current line; 0: unknown */
	bool under_construction; /* pushed, but its pc is not set yet */
	/* Compiled code had not saved its pc: the line is unknown. */
	bool pc_stale;
	/*
	 * What this Ruby's own Kernel#caller prints for the frame. NULL if it
	 * omits the frame (a dummy, the frame below a rescue).
	 */
	const char *native_label, *native_path;
	int native_line;
	/* self, arguments, locals; NULL: not requested. */
	struct rcore_frame_values *values;
	const char *problem;
};

/*
 * A step of the woven stack, in which native and Ruby frames are in one order.
 */
enum rcore_step_kind {
	RCORE_STEP_NATIVE, /* `index` into fiber->native */
	RCORE_STEP_RUBY,   /* `index` into fiber->frames */
	RCORE_STEP_GAP,    /* what is here is unknown; `reason` says why */
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

/* CRuby's rb_fiber_t (cont.c). */
struct rcore_fiber {
	/* "T1.F3"; "E1.F0" if it belongs to a thread that has ended. */
	char id[24];
	uint64_t address; /* rb_fiber_t */
	uint64_t object;  /* Fiber VALUE; 0: no object was made for it */
	uint64_t ec;      /* rb_execution_context_t */
	enum rcore_fiber_status status;
	bool is_root;
	bool is_current;      /* its thread runs it now */
	bool is_continuation; /* callcc */
	bool yielding, blocking;
	/* Index of the fiber that resumed this one; -1: none (fiber->prev). */
	int resumed_by;
	int resuming; /* index of the fiber that this one resumed; -1: none */
	/* Index into snapshot->threads; -1: its thread cannot be read. */
	int thread;
	uint64_t vm_stack, vm_stack_size; /* bytes */
	/* Bytes; 0: unknown (root fibers). */
	uint64_t machine_stack, machine_stack_size;
	/* As saved by the last switch; 0: never switched. */
	uint64_t stack_pointer;
	bool is_parked; /* its CPU registers are saved there */
	/*
	 * The kernel thread that runs on its machine stack. It is the thread's
	 * own, except during a switch. 0: none or unknown.
	 */
	int tid;
	/*
	 * ec->machine.stack_start, where the GC begins to scan: an address next
	 * to its outermost native frames. 0: unknown.
	 */
	uint64_t stack_base;
	struct rcore_frame *frames; /* innermost first */
	size_t frame_count;
	/* There are more frames than rcore reads. */
	bool frames_truncated;
	struct rcore_native_frame *native; /* innermost first */
	size_t native_count;
	/* Why unwinding ended early; NULL: it did not. */
	const char *native_problem;
	/* Both stacks woven, innermost first; none: not woven. */
	struct rcore_step *steps;
	size_t step_count;
	/* Index into snapshot->groups; -1: none. */
	int group;
	struct rcore_variables storage, locals; /* Fiber[:x]; Thread#[] */
	/* That it handles, innermost first: $! */
	struct rcore_exception *exceptions;
	size_t exception_count;
	struct rcore_context context;
	struct rcore_works works; /* what it works on */
	/* What it waits for; NULL: nothing, or unknown. */
	struct rcore_wait *wait;
	const char *problem;
	/*
	 * Its stack or struct was read after the process had been resumed, so
	 * it may be of a later moment than the rest.
	 */
	bool is_late;
	/*
	 * How long before the stop its stacks were copied, in nanoseconds. Its
	 * struct was still the same at the stop, but it may have run and have
	 * been parked again. 0: they were copied during the stop, or it has not
	 * run since they were copied.
	 */
	uint64_t stack_age_ns;
};

/* Fibers that are parked with the same stack. */
struct rcore_fiber_group {
	int *fibers; /* indices, ascending */
	size_t count;
	/*
	 * Other fibers, whose stacks differ only in the line of the innermost
	 * frame or in the depth of a recursion. `similar` has the indices of
	 * the first similar_listed of similar_count.
	 */
	int *similar;
	size_t similar_listed, similar_count;
	/* Similar ones were merged: their stacks are not all the same. */
	bool differs;
};

enum rcore_thread_status {
	RCORE_THREAD_RUNNABLE,
	RCORE_THREAD_STOPPED,         /* Ruby says "sleep" */
	RCORE_THREAD_STOPPED_FOREVER, /* "sleep_forever" */
	RCORE_THREAD_KILLED,
	RCORE_THREAD_STATUS_UNKNOWN,
};

enum rcore_gvl {
	RCORE_GVL_UNKNOWN,
	RCORE_GVL_HOLDER,
	RCORE_GVL_RELEASED, /* in a blocking region */
	RCORE_GVL_WAITING,  /* waits to get it back */
};

/* CRuby's rb_thread_t (vm_core.h). */
struct rcore_thread {
	/* "T1"; "E1" for a thread that has ended and still owns fibers. */
	char id[16];
	uint64_t address; /* rb_thread_t */
	uint64_t object;  /* Thread VALUE */
	int tid;          /* kernel thread; 0: none or unknown */
	/* Waits without a kernel thread (M:N scheduling, since 3.3). */
	bool is_parked;
	const char *name; /* Thread#name; NULL: none */
	enum rcore_thread_status status;
	bool to_kill; /* Ruby says "aborting" */
	enum rcore_gvl gvl;
	bool is_main;
	bool is_ended;
	bool is_crashed; /* its kernel thread died */
	/* Index into snapshot->ractors; -1: ended, or before 3.0. */
	int ractor;
	/* Indices into snapshot->fibers: root first, then by age or address. */
	int *fibers;
	size_t fiber_count;
	int current_fiber; /* index; -1: unknown */
	/* Index into snapshot->thread_groups; -1: none. */
	int group;
	bool is_idle;                     /* it waits for work */
	struct rcore_variables variables; /* Thread#thread_variable_get */
	const char *problem;
	/*
	 * How long a thread of a running process has held the GVL, if it did at
	 * each look of rcore and did not sleep in between; otherwise 0.
	 */
	uint64_t gvl_held_ns;
	/*
	 * `tid` in rcore's own pid namespace, if the process runs in another
	 * one; 0: it is the same, or unknown.
	 */
	int outer_tid;
};

struct rcore_ractor {
	uint64_t address;
	uint64_t id;
	const char *name;
	int *threads; /* indices into snapshot->threads */
	size_t thread_count;
	const char *problem;
};

/*
 * Returns the id by which other tools where rcore runs know a kernel thread:
 * top, strace, GDB.
 */
static inline int rcore_lwp(int tid, int outer_tid)
{
	return outer_tid ? outer_tid : tid;
}

/* How a running process was read. */
struct rcore_live_facts {
	/* false: the target is neither a running process nor a pack of one */
	bool present;
	bool stopped;        /* false: it ran, and parts may not fit together */
	uint64_t pause_ns;   /* how long it was stopped, in nanoseconds */
	size_t thread_count; /* how many threads were stopped */
	/* Its pid in its own pid namespace; 0: it shares ours. */
	int inner_pid;
};

/* A kernel thread that runs no Ruby thread: a timer, the GC, C libraries. */
struct rcore_other_thread {
	int tid;
	struct rcore_native_frame *native; /* innermost first */
	size_t native_count;
	/* Why unwinding ended early; NULL: it did not. */
	const char *native_problem;
	int outer_tid; /* as that of a Ruby thread */
};

/* A fault that was a machine stack overflow, and how that is known. */
struct rcore_overflow {
	bool present;
	/* Index of the fiber whose stack it is; -1: no Ruby thread. */
	int fiber;
	/* Of the fault; 0: not saved (cores of qemu). */
	uint64_t address;
	uint64_t stack_pointer;          /* of the thread that faulted */
	uint64_t stack_start, stack_end; /* the usable stack */
	/* The guard pages below it; both 0: none mapped. */
	uint64_t guard_start, guard_end;
};

/* Why the process died. */
struct rcore_cause {
	bool present; /* false: it was not killed (gcore, a running process) */
	int signo, code;
	bool has_address;
	uint64_t address;
	int sender_pid; /* who sent the signal; 0: the kernel, or unknown */
	/* Another process did, such as a watchdog: no thread is to blame. */
	bool from_outside;
	/*
	 * The fault that made Ruby abort, found on the stack of its signal
	 * handler. original_signo is 0 if there is none.
	 */
	int original_signo, original_code;
	bool has_original_address;
	uint64_t original_address;
	int original_sender_pid;
	int tid;           /* the kernel thread that died; 0: unknown */
	int thread, fiber; /* indices; -1: not a Ruby thread, or unknown */
	struct rcore_overflow overflow;
	struct rcore_fault_facts fault;
	bool in_gc; /* the garbage collector was running */
	/* The C library's last message; NULL: none. */
	const char *abort_message;
	/* The argument of rb_bug(); NULL: it was not called. */
	const char *bug;
	/*
	 * What indicates that memory was short; NULL: nothing. (A cgroup's
	 * limit kills a process without a core.)
	 */
	const char *out_of_memory;
	/* Innermost that its fiber handled, or NULL. */
	const struct rcore_exception *exception;
	/* One line for people, with the place. */
	const char *text;
};

/* How the VM was found. */
enum rcore_vm_method { RCORE_VM_BY_SYMBOL, RCORE_VM_BY_DWARF, RCORE_VM_BY_SEARCH };

/* A check of the layout against the target. */
struct rcore_proof {
	const char *name; /* "thread.ec" */
	const char *text; /* the condition, in words */
	bool passed;
	/* Why it failed, or what could not be checked; NULL: nothing. */
	const char *detail;
	/* How often it did not hold; one corrupt thread does not fail it. */
	size_t missed;
	/* No other struct leads to this one: a failure concerns it alone. */
	bool is_apart;
};

/*
 * A struct of an approximate layout whose fields were shifted until their
 * checks passed.
 */
enum { RCORE_SHIFT_COUNT = 8 };
struct rcore_shift {
	const char *group; /* "thread", as the tables call it */
	/* The first field that was shifted; all after it were, too. */
	const char *from;
	int by; /* bytes */
	/* How many more fields pass their checks than before. */
	int held;
};

/* Whether a field of the layout was checked on this target. */
enum rcore_field_state {
	RCORE_FIELD_PROVED,
	RCORE_FIELD_WRONG, /* its check failed */
	/* Nothing to check it on: NULL, or too common a number. */
	RCORE_FIELD_SILENT,
	RCORE_FIELD_NO_PROOF, /* there is no check for it */
	/* The layout does not know it; what needs it fails. */
	RCORE_FIELD_UNMEASURED,
};
struct rcore_field_check {
	const char *group, *id; /* "thread", "name", as the tables call them */
	int offset;             /* bytes from the struct's start */
	enum rcore_field_state state;
	const char *reason; /* NO_PROOF: why there is none */
};

/* A file that the process mapped as code. */
struct rcore_module_info {
	const char *path, *file; /* as the target sees it; as rcore opened it */
	uint64_t start, end;
	const char *build_id, *file_build_id; /* hex; NULL: none */
	/* "found", "unverified", "wrong build", "missing". */
	const char *status;
	/* The file that has its DWARF; NULL: none, or rcore did not look. */
	const char *debug_file;
	const char *lost; /* what is unknown without it; NULL: nothing */
	const char *fix;  /* the command that gets it; NULL: none needed */
	bool is_ruby;     /* holds the VM */
};

/*
 * How the native function that runs the interpreter (rb_vm_exec of vm.c) was
 * found.
 */
enum rcore_activation_source {
	RCORE_ACTIVATION_NOT_ASKED, /* there are no native stacks */
	RCORE_ACTIVATION_SYMBOL,
	/* By the code of the interpreter's instructions, and its callers. */
	RCORE_ACTIVATION_CODE,
	/* It alone is in the stacks as often as C entered Ruby. */
	RCORE_ACTIVATION_STACKS,
	/* Native and Ruby frames are then listed separately. */
	RCORE_ACTIVATION_UNKNOWN,
};

struct rcore_activation {
	enum rcore_activation_source source;
	uint64_t address; /* 0: unknown */
};

struct rcore_snapshot {
	struct rcore_arena arena; /* private */
	struct rcore_ids *ids;    /* private */

	/* The process. */
	const char *source, *producer; /* as in struct rcore_process */
	int pid;                       /* 0: unknown */
	bool is_debugged;              /* as in struct rcore_process */
	struct rcore_live_facts live;
	unsigned machine; /* EM_X86_64 or EM_AARCH64 of <elf.h> */
	const char *arguments;
	const char *ruby_version; /* "3.3.8" */
	/* "ruby 3.3.8 (2025-04-09 ...) ..."; NULL: unknown. */
	const char *ruby_description;
	const char *version_source; /* how the version was found */

	/* How it was read. */
	const char *layout_name;
	const char *layout_source; /* "exact", "approximate", "dwarf" */
	/*
	 * The release that provided what the layout's own did not: "4.0.5";
	 * NULL: none.
	 */
	const char *layout_neighbour;
	/* Unknown to the layout: "struct weakmap", "thread.name". */
	const char **unmeasured;
	size_t unmeasured_count;
	/* Of `rcore layout check`; otherwise none. */
	struct rcore_field_check *field_checks;
	size_t field_check_count;
	struct rcore_shift shifts[RCORE_SHIFT_COUNT];
	size_t shift_count;
	enum rcore_vm_method vm_found_by;
	uint64_t vm; /* rb_vm_t */
	struct rcore_proof *proofs;
	size_t proof_count;
	struct rcore_module_info *modules;
	size_t module_count;
	/* How fibers were found: "jit_cont list", "heap walk" ... */
	const char *fiber_source;
	struct rcore_activation activation;
	/* What was removed from the texts below. */
	struct rcore_redaction redaction;

	/* What was found. */
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
	struct rcore_thread_group *thread_groups;
	size_t thread_group_count;
	struct rcore_summary_line *summary;
	size_t summary_count;
	/* Of the gem async, parents before their children. */
	struct rcore_task *tasks;
	size_t task_count;
	struct rcore_other_thread *others;
	size_t other_count;
	struct rcore_lock *locks; /* that are held */
	size_t lock_count;
	struct rcore_deadlock *deadlocks;
	size_t deadlock_count;
	/* The first list of waiters that was unreadable, or NULL. */
	const char *wait_problem;
	/* self, arguments or locals of frames were requested. */
	bool has_values;

	/* What could not be read. */
	const char **problems; /* each one line */
	size_t problem_count;
	bool incomplete; /* a thread, fiber or frame could not be decoded */
	/* Why nothing of Ruby could be decoded; NULL: it could. */
	const char *failure;

	struct rcore_pool *pools; /* for which fibers wait */
	size_t pool_count;

	struct rcore_deployment deployment;

	/*
	 * Memory was short, so the target may have what is missing here.
	 * `incomplete` is also true then.
	 */
	bool lacks_memory;

	/* Private: indices of pools, from rcore_pools_index(). */
	int *pools_by_object;
};

/* Returns whether it is known what a fiber is busy with: a context, or work. */
static inline bool rcore_fiber_has_state(const struct rcore_fiber *fiber)
{
	return rcore_context_has_any(&fiber->context) || fiber->works.count;
}

/* Returns whether a part of a fiber's stack is not known. */
static inline bool rcore_fiber_has_gap(const struct rcore_fiber *fiber)
{
	for (size_t i = 0; i < fiber->step_count; i++)
		if (fiber->steps[i].kind == RCORE_STEP_GAP)
			return true;
	return false;
}

/*
 * Return the thread or fiber with this index, or NULL if there is none. An
 * index of -1, which means "none" in the structs above, returns NULL.
 */
RCORE_API const struct rcore_thread *
rcore_snapshot_thread(const struct rcore_snapshot *snapshot, int index);
RCORE_API const struct rcore_fiber *rcore_snapshot_fiber(const struct rcore_snapshot *snapshot,
							 int index);

/*
 * Return a frame of a fiber by its index, 0 for the innermost, or NULL if there
 * is none.
 */
RCORE_API const struct rcore_frame *rcore_fiber_frame(const struct rcore_fiber *fiber,
						      int index);
RCORE_API const struct rcore_native_frame *
rcore_fiber_native_frame(const struct rcore_fiber *fiber, int index);

#ifdef __cplusplus
}
#endif

#endif
