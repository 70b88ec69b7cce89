/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_PRIVATE_H
#define RCORE_SAMPLER_PRIVATE_H

#include "base/address_map.h"
#include "sampler/bpf/record.h"
#include "sampler/code.h"
#include "sampler/sampler.h"
#include "session/examine.h"
#include "session/session.h"
#include "target/cache.h"
#include "vm/loader.h"
#include "vm/work/work.h"

/* A sample that is not in the profile yet, because more like it may follow. */
struct rcore_pending {
	bool is_there;
	struct rcore_profile_sample sample;
};

/* A thread, or a fiber that no thread runs, whose stack is sampled. */
struct rcore_track {
	struct rcore_stack stack;
	/*
	 * The last stack, outermost frame first, with its nodes. In the next
	 * stack, the frames outside of the first one that differs have the same
	 * nodes.
	 */
	uint8_t *frames;
	struct rcore_track_frame {
		uint64_t environment;
		uint32_t node;
		struct rcore_code_frame code;
	} * known;
	size_t count, capacity;
	uint64_t drops;                 /* codes->drops when they were found */
	uint32_t node;                  /* of the whole stack */
	bool has_changed;               /* since the previous sample */
	bool may_be_unfilled;           /* its thread runs Ruby code */
	uint32_t outer_node;            /* a note: outer frames are unknown */
	uint32_t thread, fiber, labels; /* numbers in the profile */
	struct rcore_pending pending;
	/* The fiber's context: the table of the gem ruby-profiler. */
	struct rcore_context_watch {
		uint64_t object, table; /* the Fiber and its table, or 0 */
		/* the word that changes with the table, and its value */
		uint64_t place, word;
		/* when the table was looked up in the Fiber */
		uint64_t looked;
		struct rcore_piece head, piece; /* of the word, of the table */
		/* Whether the tick's first read has filled both. */
		bool is_copied;
		uint8_t *last;
		size_t last_size;
		bool is_known;
		uint32_t labels;
	} context;
	/* What it works on (work_labels.c). */
	struct rcore_work_watch {
		/* The stack in which `places` were found. */
		uint32_t node;
		size_t depth;
		uint64_t drops;
		/*
		 * Frames that an entry of recognizers.json matches: indices
		 * into `known`, the innermost first.
		 */
		struct {
			size_t *items;
			size_t count, capacity;
		} places;
		uint64_t key;  /* hash of these frames' words */
		bool is_known; /* `labels` are those of `key` */
		uint32_t labels;
	} work;
};

struct rcore_sampled_thread {
	uint64_t address; /* rb_thread_t */
	uint64_t ractor;  /* rb_ractor_t; 0 before 3.0 */
	char id[16];
	int tid;
	int inner_tid;            /* as the process itself sees it */
	int first_tid;            /* the first one that was found */
	uint64_t native_thread;   /* rb_native_thread for which tid was set */
	int schedstat, syscall;   /* files in /proc; -1: not open */
	uint64_t cpu, cpu_looked; /* from schedstat, and when it was read */
	uint64_t cpu_of_round;    /* at the last round of parked fibers */
	bool has_rested;          /* it has not run since then */
	uint64_t last_looked;     /* when it was last sampled */
	uint64_t name;            /* VALUE of its name when that was read */
	uint64_t fiber_ec;        /* the EC to which track.fiber belongs */
	uint64_t fiber_address;
	enum rcore_sample_state state;
	uint32_t state_number;
	/* The node and the status for which the wait was looked up. */
	uint32_t waited_node, waited_status;
	uint64_t waited_self, waited_at;
	bool was_running, is_listed;
	bool is_asked;      /* rcore_sampler_waits() looks up its wait */
	size_t fiber_count; /* of its fibers seen so far */
	struct rcore_track track;
};

struct rcore_sampled_ractor {
	uint64_t address; /* 0: the VM itself, before 3.0 */
	struct rcore_piece piece;
};

/*
 * Ids of fibers. The memory of an ended fiber may be reused for another one,
 * with another object.
 */
struct rcore_fiber_id;

/* What a kernel thread had used, for the next Ruby thread that it runs. */
struct rcore_thread_clock {
	int tid;
	uint64_t cpu;
};

/* The fields of recognizers.json that become labels, and how to read them. */
struct rcore_sampler_work_labels {
	/* Entries with a field that the options name; none: do nothing. */
	struct rcore_recognizers chosen;
	/* The process's pages of one look; `copies` has the stack above it. */
	struct rcore_cache *cache;
	struct rcore_copies copies;
	struct rcore_arena arena;
	struct rcore_ruby ruby;
	/* From a frame of the profile to 1 if an entry matches it, or 0. */
	struct rcore_address_map matching;
	uint64_t drops; /* codes->drops when `ruby` was set up */
	size_t looks;   /* since then */
};

/* A kernel thread that has left its processor (away.h). */
struct rcore_away;

/* A fiber that no thread runs. */
struct rcore_parked {
	uint64_t address;
	struct rcore_piece fiber, frames; /* in this round */
	/* In the last round in which it was decoded. */
	uint64_t frames_from, last_thread, last_words[4];
	/* In this round; NULL if none is alive. */
	struct rcore_sampled_thread *thread;
	/* In this round: it cannot have run. */
	bool is_skipped;
	uint8_t *last_frames;
	size_t last_size;
	bool is_resolved;
	/* When it was last sampled; 0 if not since it was parked. */
	uint64_t since;
	uint32_t state_number;
	struct rcore_track track;
};

struct rcore_sampler {
	struct rcore_sampler_options options;
	struct rcore_options open;
	struct rcore_native *native; /* NULL: without native frames */
	struct rcore_session *session;
	struct rcore_located *located; /* the session's */
	struct rcore_live *live;
	struct rcore_profile *profile;
	char ruby[32];
	uint32_t generation;
	uint32_t process; /* number in the profile; 0: not yet */
	char *title;      /* or NULL */
	const struct rcore_layout *layout;
	uint64_t vm;
	struct rcore_stack_reader reader;
	struct rcore_copies copies;
	struct rcore_codes codes;
	uint64_t codes_changed;
	struct {
		struct rcore_sampled_ractor *items;
		size_t count, capacity;
	} ractors;
	struct {
		struct rcore_sampled_thread **items;
		size_t count, capacity;
	} threads;
	struct {
		struct rcore_parked **items;
		size_t count, capacity;
	} parked;
	/* address to index in `parked` */
	struct rcore_address_map parked_at;
	struct rcore_address_map parked_states; /* node to state */
	struct {
		struct rcore_thread_clock *items;
		size_t count, capacity;
	} clocks;
	struct rcore_fiber_id *fiber_ids;
	struct rcore_away *away;
	/* From a node to the string of what threads waited for there. */
	struct rcore_address_map wait_kinds;
	/* Waits of which nothing was known when they ended. */
	struct {
		struct rcore_profile_sample *items;
		size_t count, capacity;
	} unknown_waits;
	/* All records up to this time were added. */
	uint64_t consumed;
	struct rcore_redactor *redactor; /* of labels; NULL: they stay */
	struct rcore_sampler_work_labels works;
	struct rcore_piece gc; /* objspace's flags */
	uint64_t objspace;
	struct rcore_piece **others; /* room for those of one tick */
	struct rcore_stack **stacks;
	size_t stack_capacity;
	size_t thread_count; /* threads ever seen */
	size_t lost_fibers;  /* of unknown threads */
	/* Where glibc's struct pthread has the tid; 0 if not found. */
	int pthread_tid;
	uint32_t states[RCORE_SAMPLE_STATES];
	uint32_t gc_frame, partial_frame;
	uint64_t begun, last_tick, last_verified, last_fibers, last_search, search_cost;
	struct rcore_sampler_statistics statistics;
	uint64_t checked_samples; /* at the last check that it still exists */
};

/* thread_list.c */
struct rcore_error *rcore_sampler_list(struct rcore_sampler *sampler);
bool rcore_sampler_list_holds(const struct rcore_sampler *sampler);
/* Returns the thread whose rb_thread_t has this address, or NULL. */
struct rcore_sampled_thread *rcore_sampler_thread_at(const struct rcore_sampler *sampler,
						     uint64_t address);
/*
 * Adds a thread that the VM's lists lack, because it has ended. `tid` is 0 if
 * it is unknown. The sampler owns it. Returns NULL if memory is short.
 */
struct rcore_sampled_thread *rcore_sampler_add_thread(struct rcore_sampler *sampler,
						      uint64_t address, int tid);
/* Adds the last samples of a thread that has ended, and frees it. */
void rcore_sampler_remove_thread(struct rcore_sampler *sampler,
				 struct rcore_sampled_thread *thread);
void rcore_sampled_thread_free(struct rcore_sampled_thread *thread);
/* Sets the thread's name if it has changed. */
void rcore_sampler_name_thread(struct rcore_sampler *sampler,
			       struct rcore_sampled_thread *thread);

/*
 * thread_time.c. rcore_thread_time() reads the nanoseconds that the thread was
 * on a processor since the last call. The first call opens a file, because with
 * BPF nobody asks. Returns false if that is unknown.
 */
bool rcore_thread_time(const struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		       uint64_t *ret);
/* Forgets what is known of the kernel thread, before `tid` changes. */
void rcore_thread_time_close(struct rcore_sampled_thread *thread);
/*
 * Switches a thread's clock to the kernel thread that runs it now: M:N threads
 * (RUBY_MN_THREADS, and those of Ractors, from 3.3 on) change kernel threads.
 */
void rcore_thread_follow(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread);
/*
 * Notes that a kernel thread runs this thread now, and no other one that ran
 * there before. rcore_thread_time() then fails.
 */
void rcore_thread_move(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		       int tid);
/* Returns the same since the kernel thread began; 0: unknown. */
uint64_t rcore_thread_time_total(const struct rcore_sampled_thread *thread);
/* Returns the same for any kernel thread of the process. */
uint64_t rcore_thread_ran(const struct rcore_sampler *sampler, uint32_t tid);
/* Returns false only if the process surely has no such kernel thread. */
bool rcore_thread_exists(const struct rcore_sampler *sampler, uint32_t tid);
/*
 * Returns the kernel's id of a thread in rcore's pid namespace, or 0 if
 * unknown; *ret_inner is the id in the process's own.
 */
int rcore_thread_tid(struct rcore_sampler *sampler, uint64_t thread, int *ret_inner);
/*
 * Returns 1 if it runs, or would run if it had a processor; 0 if not; -1 if the
 * kernel does not say.
 */
int rcore_thread_runs(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread);
/*
 * Reads the registers of the system call that the thread is in. Returns false
 * if it runs, or if that is unknown.
 */
bool rcore_thread_registers(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			    struct rcore_native_thread *ret);

/* track.c */
void rcore_track_decode(struct rcore_sampler *sampler, struct rcore_track *track);
void rcore_track_forget(struct rcore_track *track);
void rcore_track_deinit(struct rcore_track *track);
/*
 * Adds a sample at `now`; `before` is the time of the previous one. Each
 * represents half of the time between.
 */
void rcore_track_add(struct rcore_sampler *sampler, struct rcore_track *track, uint32_t node,
		     uint32_t state, uint64_t before, uint64_t now, uint64_t cpu_before,
		     uint64_t cpu_now);
/* Adds a sample at `now` with these amounts. */
void rcore_track_add_copied(struct rcore_sampler *sampler, struct rcore_track *track,
			    uint32_t node, uint32_t state, uint64_t now, uint64_t wall,
			    uint64_t cpu);
void rcore_track_settle(struct rcore_sampler *sampler, struct rcore_track *track);
/*
 * Adds a sample to the pending one if they differ only in their amounts.
 * Otherwise writes the pending one to the profile first.
 */
void rcore_pending_add(struct rcore_sampler *sampler, struct rcore_pending *pending,
		       const struct rcore_profile_sample *sample);
void rcore_pending_write(struct rcore_sampler *sampler, struct rcore_pending *pending);
/* Returns the number of a fiber in the profile. */
uint32_t rcore_sampler_fiber(struct rcore_sampler *sampler, uint64_t fiber, uint64_t object,
			     struct rcore_sampled_thread *thread, uint32_t thread_number);
void rcore_sampler_forget_fibers(struct rcore_sampler *sampler);

/*
 * thread_state.c. `rests`: the thread was blocked, and its stack is the same.
 * `is_busy` decides whether a thread without the GVL runs if the kernel does
 * not say: it used a processor for more than half of the time.
 */
void rcore_sampler_state(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			 bool rests, bool is_busy, uint64_t now);
bool rcore_sampler_holds_gvl(const struct rcore_sampler *sampler,
			     const struct rcore_sampled_thread *thread);
uint32_t rcore_sampler_plain_state(struct rcore_sampler *sampler, enum rcore_sample_state kind);

/*
 * waits.c: sets the state_number of a blocked thread. waits() does that for all
 * that are `is_asked`, and reads their stacks from the process: each call costs
 * time for every thread of the process.
 */
void rcore_sampler_wait(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread);
void rcore_sampler_waits(struct rcore_sampler *sampler);
/* waits.c: returns the number of the state of a parked fiber. */
uint32_t rcore_sampler_parked_wait(struct rcore_sampler *sampler,
				   const struct rcore_parked *parked);

/*
 * Decodes one frame of a track's last stack, like the decoders of vm/. `place`
 * is its index in `known`.
 */
struct rcore_frame rcore_sampler_frame(const struct rcore_sampler *sampler,
				       const struct rcore_track *track, size_t place);

/*
 * Decodes the `limit` innermost frames, the innermost first. The array is in
 * `arena`. Returns NULL if memory is short.
 */
struct rcore_frame *rcore_sampler_frames(const struct rcore_sampler *sampler,
					 const struct rcore_track *track, size_t limit,
					 struct rcore_arena *arena, size_t *ret_count);

/* track.c: the node of the garbage collector, called from `node`. */
uint32_t rcore_sampler_gc_node(struct rcore_sampler *sampler, uint32_t node);
/*
 * track.c: returns the profile's frame for a note of rcore's own, such as
 * "(no Ruby stack)".
 */
uint32_t rcore_sampler_note(struct rcore_sampler *sampler, const char *label);
/* track.c: the node of a thread that runs no Ruby code. */
uint32_t rcore_sampler_no_stack(struct rcore_sampler *sampler);

/*
 * sampler.c: begins a tick. Verifies what was looked up earlier, and forgets
 * what is no longer valid.
 */
void rcore_sampler_begin_tick(struct rcore_sampler *sampler, uint64_t now);
/*
 * sampler.c: forgets the numbers of nodes, threads and labels if the profile's
 * tables have been emptied, which invalidates them.
 */
void rcore_sampler_forget_cleared(struct rcore_sampler *sampler);
/*
 * sampler.c: returns the profile's number of the fiber that the thread ran when
 * its stack was read.
 */
uint32_t rcore_sampler_current_fiber(struct rcore_sampler *sampler,
				     struct rcore_sampled_thread *thread);

/* process_title.c: returns the number of the process in the profile. */
uint32_t rcore_sampler_process(struct rcore_sampler *sampler);
/* Looks whether the process has another title now. */
void rcore_sampler_update_title(struct rcore_sampler *sampler);

/* parked.c */
struct rcore_error *rcore_sampler_parked(struct rcore_sampler *sampler, uint64_t now);
void rcore_parked_free(struct rcore_parked *parked);

/*
 * labels.c: lets a tick read what rcore_sampler_context() compares, together
 * with the stacks. Stores up to RCORE_CONTEXT_PIECES pieces in `ret`, and
 * returns their number.
 */
enum { RCORE_CONTEXT_PIECES = 2 };
size_t rcore_sampler_aim_context(struct rcore_context_watch *watch, struct rcore_piece **ret);
/* Sets track->context.labels to those of the fiber's context. */
void rcore_sampler_context(struct rcore_sampler *sampler, struct rcore_track *track,
			   uint64_t now);
bool rcore_sampler_is_wanted(struct rcore_sampler *sampler, uint32_t labels);
/* Returns whether --label, --where or --by name this label. */
bool rcore_sampler_asks_for(const struct rcore_sampler *sampler, const char *key);
/* Makes a label of a variable; its text is redacted if the options say so. */
struct rcore_profile_label rcore_sampler_label(struct rcore_sampler *sampler,
					       const struct rcore_variable *variable);

/* work_labels.c. Error of init(): NO_MEMORY. */
struct rcore_error *rcore_sampler_work_labels_init(struct rcore_sampler *sampler);
void rcore_sampler_work_labels_deinit(struct rcore_sampler *sampler);
/*
 * Sets track->labels to those of the context and the fields of recognizers.json
 * that the options name. Call it after rcore_track_decode().
 */
void rcore_sampler_labels(struct rcore_sampler *sampler, struct rcore_track *track,
			  uint64_t now);
/*
 * labels.c: sets track->labels to those of the context in a record of the BPF
 * program.
 */
void rcore_sampler_copied_labels(struct rcore_sampler *sampler, struct rcore_track *track,
				 const struct rcore_bpf_record *record);
/*
 * Returns whether the record has all that its labels depend on: each value of
 * the context is an immediate or a String that was copied.
 */
bool rcore_sampler_has_whole_context(const struct rcore_bpf_record *record);

/*
 * bpf_records.c: finds the thread of a record, and decodes the record's stack
 * and labels into its track. Sets *ret to NULL if the thread is not known.
 * Errors: as rcore_sampler_add_record().
 */
struct rcore_error *rcore_sampler_decode_record(struct rcore_sampler *sampler,
						const struct rcore_bpf_record *record,
						struct rcore_sampled_thread **ret);
/*
 * bpf_records.c: returns the node of a record whose stack was decoded, with
 * native frames if it has any. Error: NO_MEMORY.
 */
struct rcore_error *rcore_sampler_record_node(struct rcore_sampler *sampler,
					      const struct rcore_bpf_record *record,
					      const struct rcore_sampled_thread *thread,
					      bool in_gc, uint32_t *ret);

/* bpf_records.c: copies the rb_thread_t. Returns false if it cannot be read. */
bool rcore_sampler_read_thread(struct rcore_sampler *sampler,
			       struct rcore_sampled_thread *thread);

/* kernel_frames.c: returns the node of `node` and the kernel's frames. */
uint32_t rcore_sampler_kernel_node(struct rcore_sampler *sampler,
				   const struct rcore_bpf_record *record, uint32_t node);

/*
 * away.c: adds a thread whose stack was read from the process, if it waits. It
 * left its processor before the recording began. Error: NO_MEMORY.
 */
struct rcore_error *rcore_away_found(struct rcore_sampler *sampler,
				     const struct rcore_sampled_thread *thread, uint32_t node,
				     uint64_t now);
/* Adds the times of threads that have not returned yet. */
void rcore_away_settle(struct rcore_sampler *sampler);
/* Forgets threads that have ended. Call it about once a second. */
void rcore_away_verify(struct rcore_sampler *sampler);
void rcore_away_deinit(struct rcore_sampler *sampler);

#endif
