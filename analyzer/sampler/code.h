/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_CODE_H
#define RCORE_SAMPLER_CODE_H

#include "profile/profile.h"
#include "ruby/iseq/iseq.h"
#include "sampler/stack.h"

/*
 * What code the frames of stacks run. A frame is looked up when it is first
 * seen, because the program may end at any time, and kept by its iseq and what
 * leads to its method entry. The GC gives addresses to new objects, so each is
 * verified again: a pc outside of the code at once, the rest by
 * rcore_codes_verify().
 */
struct rcore_code;

struct rcore_codes {
	struct rcore_profile *profile;
	/* Of the profile, in which the numbers below are. */
	uint32_t generation;
	struct rcore_memory *memory; /* of the decoders: struct rcore_copies */
	const struct rcore_layout *layout;
	struct rcore_ruby ruby;
	struct rcore_arena arena;
	/* After rcore_ruby_init(), and before rcore_ruby_deinit(). */
	void (*prepare)(struct rcore_ruby *ruby, void *context);
	void (*finish)(const struct rcore_ruby *ruby, void *context);
	void *context;
	struct rcore_code *entries;
	size_t count;
	/*
	 * Forgotten, but frames that were found in this tick still point to its
	 * texts; and how often that was so: what was found before is to be
	 * found again.
	 */
	struct rcore_code *dropped;
	uint64_t drops;
	uint32_t lost; /* frame: "(a frame that was not read)" */
	uint64_t looked_up, verified, changed, rounds;
};

void rcore_codes_init(struct rcore_codes *codes, struct rcore_profile *profile,
		      struct rcore_memory *memory, const struct rcore_layout *layout,
		      void (*prepare)(struct rcore_ruby *ruby, void *context),
		      void (*finish)(const struct rcore_ruby *ruby, void *context),
		      void *context);
void rcore_codes_deinit(struct rcore_codes *codes);

/* Frees what was forgotten in the last tick. */
void rcore_codes_begin_tick(struct rcore_codes *codes);

/* Begins anew: nothing that was looked up is believed any more. */
void rcore_codes_forget(struct rcore_codes *codes);

/* A frame of a stack: what it runs, and where. */
struct rcore_code_frame {
	uint32_t frame; /* of the profile; 0: it stands for no code */
	/*
	 * Live until the next tick, or longer while codes->drops stays; NULL:
	 * unknown.
	 */
	const char *label;
	const char *path;
	bool is_c;      /* a method or block in C */
	uint64_t cfunc; /* of a method in C: its function */
};

/*
 * Tells frames of two stacks apart beside their words: what their environments
 * lead to. Followed as far as the values were copied.
 */
uint64_t rcore_code_environment(const struct rcore_layout *layout,
				const struct rcore_stack *stack, const uint8_t *frame);

/* The frame at `cfp`, whose environment is `environment`. */
void rcore_codes_find(struct rcore_codes *codes, const struct rcore_stack *stack, uint64_t cfp,
		      uint64_t environment, struct rcore_code_frame *ret);

/* Whether the innermost frame, which was looked up, is one that was filled. */
bool rcore_codes_is_filled(struct rcore_codes *codes, const struct rcore_stack *stack,
			   uint64_t environment);

/*
 * Reads again what stands where the code was that was found since the last
 * time, and forgets what is something else now.
 */
void rcore_codes_verify(struct rcore_codes *codes, struct rcore_live *live);

#endif
