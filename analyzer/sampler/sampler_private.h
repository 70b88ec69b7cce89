/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_PRIVATE_H
#define RCORE_SAMPLER_PRIVATE_H

#include "base/address_map.h"
#include "sampler/bpf/record.h"
#include "sampler/code.h"
#include "sampler/sampler.h"
#include "sampler/thread.h"
#include "session/layout/examine.h"
#include "session/session.h"
#include "target/cache.h"
#include "vm/loader.h"
#include "vm/work/work.h"

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
	struct rcore_copies copies; /* of a stack, above sampler->pages */
	struct {
		struct rcore_live_range *items;
		size_t count, capacity;
	} ranges; /* room for rcore_work_words_read() */
	struct rcore_arena arena;
	struct rcore_ruby ruby;
	/* From a frame of the profile to 1 if an entry matches it, or 0. */
	struct rcore_address_map matching;
	uint64_t drops; /* codes->drops when `ruby` was set up */
	size_t looks;   /* since then */
};

/* A kernel thread that has left its processor (away.h). */
struct rcore_away;

/* A look at a thread in one tick. */
struct rcore_look {
	struct rcore_sampled_thread *thread;
	enum rcore_stack_verdict verdict;
	bool is_again; /* its stack is read again */
	uint64_t cpu;  /* nanoseconds since the last look that read them */
};

enum {
	RCORE_PARKED_TOGETHER = 32, /* parked fibers that are read at once */
	RCORE_PARKED_LENT = 3,
};

/* A fiber that no thread runs. */
struct rcore_parked {
	uint64_t address;
	struct rcore_piece fiber, frames; /* as last read */
	/* In the last round in which it was decoded. */
	uint64_t frames_from, last_thread, last_words[5];
	/* While a slice is read; NULL if none is alive. */
	struct rcore_sampled_thread *thread;
	size_t number; /* counts the fibers found */
	/*
	 * Rounds: since when it may be parked (0: longer than rcore knows), and
	 * in which it was last read or seen on its thread (0: none).
	 */
	size_t begun, round;
	/* In this round: it must be read; it was, and has ended. */
	bool is_due, is_gone;
	uint8_t *last_frames;
	size_t last_size;
	bool is_resolved;
	/* When it was first and last sampled while parked; 0: not yet. */
	uint64_t first, since;
	/*
	 * The last time at which it would have been sampled if it had been
	 * parked; 0: not before the first sample.
	 */
	uint64_t looked;
	/* How long it may have existed before it was found; 0: unknown. */
	uint64_t unseen;
	uint32_t state_number;
	struct rcore_track track;
};

/*
 * environments.c: of an environment, the method entry or cref, parent, and
 * flags; or of a rb_env_t, what comes before its slots.
 */
enum { RCORE_ENVIRONMENTS = 64, RCORE_ENVIRONMENT_WORDS = 3 };
struct rcore_environments {
	size_t count;
	struct rcore_live_range ranges[RCORE_ENVIRONMENTS];
	uint64_t words[RCORE_ENVIRONMENTS][RCORE_ENVIRONMENT_WORDS];
};

/* parked/turns.c: which fibers a round reads. */
struct rcore_parked_turns {
	size_t every; /* a fiber has its turn once in so many rounds */
	double all;   /* what all would cost, in seconds on a processor */
	/* A round may take several ticks. */
	bool is_open;
	uint64_t time; /* when it began */
	size_t next;   /* index of the first fiber that is not done */
	/* Nanoseconds on a processor, and since when they count. */
	uint64_t cost, begun;
	/* Fibers. `first` of the `read` ones were never read before. */
	size_t read, first, left;
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
	struct rcore_environments environments;
	struct rcore_cache *pages; /* of the process, during one look */
	struct rcore_codes codes;
	uint64_t codes_changed;
	struct {
		struct rcore_sampled_ractor *items;
		size_t count, capacity;
	} ractors;
	/*
	 * The head of the VM's list of Ractors: its first and last node, as a
	 * tick reads them, and as they were when the list was read. Ractors are
	 * added at the end. Up to 2.7 there is none, and nothing is read.
	 */
	struct rcore_piece ractor_list;
	uint64_t ractor_ends[2];
	struct {
		struct rcore_sampled_thread **items;
		size_t count, capacity;
	} threads;
	struct {
		struct rcore_parked **items;
		size_t count, capacity;
	} parked;
	/* Buffers for pieces of their stacks while these are decoded. */
	struct rcore_piece lent[RCORE_PARKED_TOGETHER][RCORE_PARKED_LENT];
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
	/* Room for what one tick reads. */
	struct {
		struct rcore_piece **items;
		size_t count, capacity;
	} others;
	struct {
		struct rcore_stack **items;
		size_t count, capacity;
	} stacks, all_stacks;
	struct {
		struct rcore_live_range *items;
		size_t count, capacity;
	} heads; /* of Ractors */
	struct {
		struct rcore_look *items;
		size_t count, capacity;
	} looks;
	size_t thread_count; /* threads ever seen */
	size_t sleeping;     /* threads of which this tick reads nothing */
	/* The Ractors have as many threads as were found. */
	bool are_counted;
	size_t lost_fibers; /* of unknown threads */
	size_t fiber_rounds;
	size_t fibers_found; /* ever */
	struct rcore_parked_turns turns;
	bool have_all_rested; /* no thread has run since the last search */
	bool has_fibers;      /* other ones than the first of each thread */
	uint64_t complete;    /* fibers that existed then are known; 0: never */
	/* Where glibc's struct pthread has the tid; 0 if not found. */
	int pthread_tid;
	uint32_t states[RCORE_SAMPLE_STATES];
	uint32_t gc_frame, partial_frame;
	/* How many stacks may be read again, and when that was set. */
	uint64_t retries, retries_allowed;
	uint64_t begun, last_tick, last_verified, last_fibers, last_search, search_cost;
	uint64_t search_share;
	struct rcore_sampler_statistics statistics;
	uint64_t checked_samples; /* at the last check that it still exists */
};

/*
 * waits.c: sets the state_number of all blocked threads that are `is_asked`.
 * Each call costs time for every thread of the process. What sampler->copies
 * lacks of their stacks, it reads from the process.
 */
void rcore_sampler_waits(struct rcore_sampler *sampler);
/* The same, with what this tick has copied. Error: NO_MEMORY. */
struct rcore_error *rcore_sampler_tick_waits(struct rcore_sampler *sampler);
/*
 * read_again.c. check_stack() does what rcore_stack_check() does, and returns
 * MOVED for a stack that was expected to rest and has other frames.
 *
 * read_again() reads again the stacks whose copies did not agree, until they do
 * or a limit is reached. allow_retries() raises that limit with time.
 */
enum rcore_stack_verdict rcore_sampler_check_stack(const struct rcore_sampler *sampler,
						   struct rcore_track *track);
void rcore_sampler_allow_retries(struct rcore_sampler *sampler, uint64_t now);
struct rcore_error *rcore_sampler_read_again(struct rcore_sampler *sampler,
					     struct rcore_look *looks, size_t count);

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

/*
 * environments.c: reads environments of the outermost `count` frames, if those
 * from frame `from` on need one, for `copies` to have until end_environments().
 */
void rcore_sampler_read_environments(struct rcore_sampler *sampler,
				     const struct rcore_stack *stack, size_t from,
				     size_t count);
void rcore_sampler_end_environments(struct rcore_sampler *sampler);

/* process_title.c: returns the number of the process in the profile. */
uint32_t rcore_sampler_process(struct rcore_sampler *sampler);
/* Looks whether the process has another title now. */
void rcore_sampler_update_title(struct rcore_sampler *sampler);

/*
 * parked/search.c: adds the fibers that are not known yet, and sorts them by
 * address. Errors: as rcore_fiber_search().
 */
struct rcore_error *rcore_parked_search(struct rcore_sampler *sampler, uint64_t now);

/*
 * parked/turns.c: to be called at the beginning of a round, of each fiber that
 * it would read, and at its end. has_turn() returns false if the round should
 * leave the fiber out. begin_turns() and measure_turns() begin to measure what
 * the round costs, and add_cost() adds it to the round. The round's samples
 * have `time`.
 */
void rcore_parked_begin_turns(struct rcore_sampler *sampler, uint64_t time);
void rcore_parked_measure_turns(struct rcore_sampler *sampler);
void rcore_parked_add_cost(struct rcore_sampler *sampler);
bool rcore_parked_has_turn(struct rcore_sampler *sampler, const struct rcore_parked *parked);
void rcore_parked_end_turns(struct rcore_sampler *sampler);

/*
 * parked/moved.c: reads fibers that may be running again. `now` is when the
 * round read them. Errors: NO_MEMORY.
 */
struct rcore_error *rcore_parked_read_moved(struct rcore_sampler *sampler,
					    struct rcore_parked *const *moved, size_t count,
					    uint64_t now);

/*
 * parked/parked_time.c: samples a fiber that the round has found parked; ends
 * the time for which it was parked, because it runs, or has ended.
 */
void rcore_parked_add_sample(struct rcore_sampler *sampler, struct rcore_parked *parked);
void rcore_parked_leave(struct rcore_sampler *sampler, struct rcore_parked *parked,
			bool has_ended);

/* parked/parked.c */
struct rcore_error *rcore_sampler_parked(struct rcore_sampler *sampler, uint64_t now);
void rcore_parked_free_all(struct rcore_sampler *sampler);
/* Ends the round, and begins another one if the time until `time` needs it. */
struct rcore_error *rcore_parked_end(struct rcore_sampler *sampler, uint64_t time);

/* work_labels.c. Error of init(): NO_MEMORY. */
struct rcore_error *rcore_sampler_work_labels_init(struct rcore_sampler *sampler);
void rcore_sampler_work_labels_deinit(struct rcore_sampler *sampler);
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
