/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_H
#define RCORE_SESSION_H

#include "image/elf/modules.h"
#include "image/pack_note.h"
#include "image/unwind/signal_frame.h"
#include "image/unwind/unwind.h"
#include "layout/layout.h"
#include "rcore.h"
#include "session/examine.h"
#include "ruby/ruby.h"
#include "target/core/core.h"
#include "target/output/inputs.h"
#include "target/live/live.h"
#include "target/pack/recorder.h"
#include "redact/redact.h"
#include "vm/stack/instructions.h"

/* Layout and VM, to be proved again; NULL: not chosen yet. Of locate.c. */
struct rcore_choice {
	struct rcore_trial *trial;
};

/* An opened target: private to the files at the top of analyzer/. */
struct rcore_session {
	struct rcore_core *core; /* these two NULL: memory of somebody else */
	struct rcore_live *live;
	bool no_stop, no_native;
	struct rcore_recorder *recorder; /* NULL: nothing is to be packed */
	struct rcore_pack_facts *pack;   /* of the core, when it is a pack */
	char *pack_problem; /* why it is not taken for one; NULL: nothing is wrong */
	struct rcore_process pack_process; /* that of the core, with the segments it had */
	size_t pack_next;                  /* stack to be asked for next */
	struct rcore_arena pack_arena;
	char *layout_text; /* of the layout that was chosen, where something is to be packed */
	struct rcore_locals_options values;
	enum rcore_redact redact;
	struct rcore_redactor *redactor; /* NULL: none yet */
	bool has_learned;                /* of the last load */
	bool checks_fields;              /* when it is examined */
	struct rcore_ids *ids;           /* not its own */
	const struct rcore_process *process;
	struct rcore_process *own_process; /* NULL: `process` is not its own */
	struct rcore_modules *modules;
	struct rcore_memory *memory; /* with files filled in */
	struct rcore_code *code;     /* NULL: nothing was unwound yet */
	char *layout_file;
	struct rcore_inputs inputs; /* empty: not asked for yet */
	/* Known once the target was examined. */
	struct rcore_module *ruby;
	struct rcore_traits traits;
	struct rcore_location
		*location; /* of the VM, for later questions; NULL: not found yet */
	struct rcore_choice own_choice, *choice; /* the caller's, or its own */
	struct rcore_statics statics;            /* `writable` is the session's */
	struct rcore_instructions instructions;  /* of the last load */
	bool has_original;
	struct rcore_signal_frame
		original; /* the fault that made Ruby abort, of the thread that died */
};

/* Errors as rcore_modules_open(). Does not own `process` and `memory`. Does not look at
 * options->size. */
struct rcore_error *rcore_session_open(const struct rcore_process *process,
				       struct rcore_memory *memory,
				       const struct rcore_options *options,
				       struct rcore_session **ret);

/* NULL: no file that is mapped has become shorter since; else OS, which names it. What is cut off in the
 * midst of a read is no more caught by this. */
struct rcore_error *rcore_session_files(const struct rcore_session *session);

/* The part of rcore_load() that reads what a running target changes. */
struct rcore_error *rcore_session_read(struct rcore_session *session,
				       struct rcore_snapshot **ret);

/* What rcore_session_read() reads beside threads, fibers and frames: exceptions, and what
 * session->values asks for. Error: NO_MEMORY. */
struct rcore_error *rcore_session_details(struct rcore_session *session,
					  struct rcore_ruby *ruby, uint64_t vm,
					  struct rcore_snapshot *snapshot);

/* Finds session->original, and sets what of snapshot->cause.fault takes the target's memory: its address, the
 * access, the slots of the heap (`ruby` NULL: not these). */
void rcore_session_fault(struct rcore_session *session, struct rcore_ruby *ruby,
			 struct rcore_snapshot *snapshot);

/* What the process said as it ended, where its memory still has it: snapshot->cause.abort_message and bug. For the
 * latter the machine stacks must be there. */
void rcore_session_last_words(struct rcore_session *session, struct rcore_snapshot *snapshot);

/* Sets snapshot->facts.rubyopt: RUBYOPT as it is in the environment now; nothing else of that is kept. */
void rcore_session_environment(struct rcore_session *session, struct rcore_snapshot *snapshot);

/* The same of a running process, which stands still for as short as possible. Also OS: it has
 * ended, or may not be stopped. */
struct rcore_error *rcore_session_read_live(struct rcore_session *session,
					    struct rcore_snapshot **ret);

/* Of the running process: what it has open where a fiber waits for a descriptor; and, for which it need not
 * stand still any more, the addresses of sockets among these. Error: NO_MEMORY. */
struct rcore_error *rcore_session_fds(struct rcore_session *session,
				      struct rcore_snapshot *snapshot);
struct rcore_error *rcore_session_sockets(struct rcore_session *session,
					  struct rcore_snapshot *snapshot);

/* Has the used part of each machine stack kept that the snapshot's fibers and the kernel threads have.
 * Error: NO_MEMORY. */
struct rcore_error *rcore_session_keep_stacks(struct rcore_session *session,
					      const struct rcore_snapshot *snapshot);

/* Which Ruby the target runs. */
struct rcore_identity {
	struct rcore_module *module; /* that holds the VM */
	unsigned version[3];
};

/* Finds the module that holds Ruby, and its version; sets the snapshot's ruby_* facts. NOT_RUBY where
 * no module defines ruby_version and none has libruby's name; NO_LAYOUT where the version cannot be
 * told. */
struct rcore_error *rcore_session_identify(struct rcore_session *session,
					   struct rcore_snapshot *snapshot,
					   struct rcore_identity *ret);

/* Why no Ruby was found: another implementation, one too old or too new, missing files, or no Ruby at
 * all. */
struct rcore_error *rcore_session_not_ruby(struct rcore_session *session);

/* The VM and the layout that proved itself on it. */
struct rcore_location {
	uint64_t vm;
	struct rcore_layout layout;
	uint64_t global_symbols;
};

/* Layouts to try, best first: a user's table or the pack's alone; else the target's own DWARF, tables of the
 * very release, its neighbours. `items` to be freed. Errors as rcore_layout_read(), NO_LAYOUT. */
struct rcore_layouts {
	struct rcore_layout *items;
	size_t count;
};
struct rcore_error *rcore_session_layouts(struct rcore_session *session,
					  const struct rcore_identity *identity,
					  struct rcore_layouts *ret);

/*
 * Tries these layouts, and the rungs to the VM (symbol, DWARF, search of libruby's writable data), takes
 * the first pair of which all proofs hold, else the one of which most do, and fills the snapshot's
 * layout_*, vm_* and proofs. What held in all is tried first the next time. CORRUPT where no layout finds a
 * VM.
 */
struct rcore_error *rcore_session_locate(struct rcore_session *session,
					 const struct rcore_identity *identity,
					 struct rcore_snapshot *snapshot,
					 struct rcore_location *ret);

/* Fills session->statics, once: what symbols say of them, and where to search for the others.
 * Error: NO_MEMORY. */
struct rcore_error *rcore_session_statics(struct rcore_session *session,
					  struct rcore_module *ruby);

/* Fills snapshot->field_checks. Error: NO_MEMORY. */
struct rcore_error *rcore_session_check(struct rcore_session *session,
					const struct rcore_location *location,
					struct rcore_snapshot *snapshot);
/* The stack that the pack has of a kernel thread, or of a fiber; NULL: none. */
const struct rcore_packed_stack *rcore_session_packed(struct rcore_session *session, int tid,
						      uint64_t fiber);

/* Compares each running fiber's context with the thread-local pointer that the gem publishes.
 * Error: NO_MEMORY. */
struct rcore_error *rcore_session_thread_locals(struct rcore_session *session,
						struct rcore_ruby *ruby,
						struct rcore_snapshot *snapshot);

/* Fills snapshot->modules: each with its build-id, status, what is lost and what would help. */
struct rcore_error *rcore_session_modules(struct rcore_session *session,
					  const struct rcore_module *ruby,
					  struct rcore_snapshot *snapshot);

/* Learns what stands under keys, in place of what was learned before. NO_MEMORY. */
struct rcore_error *rcore_session_learn(struct rcore_session *session,
					struct rcore_snapshot *snapshot);

/* Takes out of what was decoded what session->redact says. NO_MEMORY. */
struct rcore_error *rcore_session_redact(struct rcore_session *session,
					 struct rcore_snapshot *snapshot);
struct rcore_error *rcore_session_redact_print(struct rcore_session *session,
					       struct rcore_print *print);

/* Marks what the session's pack is to hide of the memory that was recorded. NO_MEMORY. */
struct rcore_error *rcore_session_hide(struct rcore_session *session,
				       const struct rcore_snapshot *snapshot);

/* As rcore_examine(), without a word on native stacks; and without stopping a running process. */
struct rcore_error *rcore_session_examine(struct rcore_session *session,
					  struct rcore_snapshot **ret,
					  struct rcore_error **error);
struct rcore_error *rcore_session_examine_running(struct rcore_session *session,
						  struct rcore_snapshot **ret,
						  struct rcore_error **error);

/* Sets snapshot->activation as far as no stacks are needed for it, for a target that was examined. Error:
 * NO_MEMORY. */
struct rcore_error *rcore_session_activation(struct rcore_session *session,
					     struct rcore_snapshot *snapshot);

/* Unwinds the machine stack of each kernel thread and parked fiber, and weaves it with the Ruby
 * frames. */
struct rcore_error *rcore_session_native(struct rcore_session *session,
					 struct rcore_snapshot *snapshot);

#endif
