/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_TRACK_H
#define RCORE_SAMPLER_TRACK_H

/* A stack that is sampled again and again, and the labels of its samples. */

#include "profile/profile.h"
#include "sampler/bpf/record.h"
#include "sampler/code.h"
#include "sampler/read_log.h"
#include "sampler/stack/stack.h"

struct rcore_sampler;
struct rcore_sampled_thread;
struct rcore_variable;

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
		/* Of the environment, once something has asked for them. */
		uint32_t flags;
		bool has_flags;
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
		/*
		 * When the table was looked up in the Fiber, what that read,
		 * and codes->forgets then: the decoders knew the rest.
		 */
		uint64_t looked, forgets;
		struct rcore_read_log log;
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
		/*
		 * The words of the VM stack that fields of these frames come
		 * from: local variables and arguments.
		 */
		struct {
			struct rcore_work_word *items;
			size_t count, capacity;
		} words;
		uint64_t key;  /* hash of these frames and words */
		bool is_known; /* `labels` are those of `key` */
		bool is_gone;  /* it changed before the last look ended */
		uint32_t labels;
	} work;
};

/*
 * track.c: finds what the frames of the stack run. What that reads of the
 * process is kept in sampler->pages for the other stacks that were copied
 * together with it, because many lead to the same objects. The caller drops it
 * when it has copied stacks.
 */
void rcore_track_decode(struct rcore_sampler *sampler, struct rcore_track *track);
/* Whether the stack has the frames that were decoded last. */
bool rcore_track_is_same(const struct rcore_sampler *sampler, const struct rcore_track *track);
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
 * labels.c: lets a tick read what rcore_sampler_context() compares, together
 * with the stacks. Stores up to RCORE_CONTEXT_PIECES pieces in `ret`, and
 * returns their number.
 */
enum { RCORE_CONTEXT_PIECES = 2 };
size_t rcore_sampler_aim_context(struct rcore_context_watch *watch, struct rcore_piece **ret);
/*
 * Sets track->context.labels to those of the fiber's context. Returns whether
 * they were looked up anew, so after the rest of the tick was read.
 */
bool rcore_sampler_context(struct rcore_sampler *sampler, struct rcore_track *track,
			   uint64_t now);
/*
 * Reads the context again, after it was looked up. Returns whether
 * track->context.labels are still right; if not, sets them anew.
 */
bool rcore_sampler_context_holds(struct rcore_sampler *sampler, struct rcore_track *track);
bool rcore_sampler_is_wanted(struct rcore_sampler *sampler, uint32_t labels);
/* Returns whether --label, --where or --by name this label. */
bool rcore_sampler_asks_for(const struct rcore_sampler *sampler, const char *key);
/* Makes a label of a variable; its text is redacted if the options say so. */
struct rcore_profile_label rcore_sampler_label(struct rcore_sampler *sampler,
					       const struct rcore_variable *variable);

/*
 * Adds to track->labels the fields of recognizers.json that the options name.
 * Call it after rcore_track_decode().
 */
void rcore_sampler_add_work(struct rcore_sampler *sampler, struct rcore_track *track);
/*
 * Sets track->labels to those of the context. Adds these fields, too, unless
 * they may be of another request.
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

#endif
