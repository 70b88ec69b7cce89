/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_CODE_H
#define RCORE_SAMPLER_CODE_H

#include "profile/profile.h"
#include "ruby/iseq/iseq.h"
#include "sampler/stack/copies.h"

/*
 * The code that the frames of stacks run. A frame is looked up when it is first
 * seen, because the program may end at any time. The result is kept under its
 * iseq and its method entry. As the garbage collector reuses addresses, each
 * entry is verified: at once if a pc is outside of the code, all others by
 * rcore_codes_verify().
 */
struct rcore_code;
struct rcore_code_place;

struct rcore_codes {
	struct rcore_profile *profile;
	/* The generation of the profile to which the numbers below belong. */
	uint32_t generation;
	struct rcore_memory *memory; /* of the decoders: struct rcore_copies */
	const struct rcore_layout *layout;
	struct rcore_ruby ruby;
	struct rcore_arena arena;
	/* Called after rcore_ruby_init() and before rcore_ruby_deinit(). */
	void (*prepare)(struct rcore_ruby *ruby, void *context);
	void (*finish)(const struct rcore_ruby *ruby, void *context);
	void *context;
	struct rcore_code *entries;
	size_t count;
	struct rcore_code_place *places; /* until rcore_codes_verify() */
	size_t place_count;
	/*
	 * Dropped entries, to whose texts frames of this tick still point.
	 * `drops` counts how often entries were dropped. When it changes, what
	 * was looked up before must be looked up again.
	 */
	struct rcore_code *dropped;
	uint64_t drops;
	uint32_t lost; /* the frame "(a frame that was not read)" */
	uint64_t looked_up, verified, changed, rounds;
	uint64_t forgets; /* how often `ruby` was created anew */
};

void rcore_codes_init(struct rcore_codes *codes, struct rcore_profile *profile,
		      struct rcore_memory *memory, const struct rcore_layout *layout,
		      void (*prepare)(struct rcore_ruby *ruby, void *context),
		      void (*finish)(const struct rcore_ruby *ruby, void *context),
		      void *context);
void rcore_codes_deinit(struct rcore_codes *codes);

/* Frees what was dropped in the last tick. */
void rcore_codes_begin_tick(struct rcore_codes *codes);

/* Forgets everything that was looked up. */
void rcore_codes_forget(struct rcore_codes *codes);

/* A frame of a stack: its code and position. */
struct rcore_code_frame {
	uint32_t frame; /* number in the profile; 0: it has no code */
	/* NULL if it could not be read. Valid as long as `label`. */
	struct rcore_code *code;
	/*
	 * Valid until the next tick, or as long as codes->drops does not
	 * change. NULL if unknown.
	 */
	const char *label;
	const char *path;
	bool is_c;      /* a method or block in C */
	uint64_t cfunc; /* of a method in C: its function */
	/* Its magic, and those of its flags that never change; 0: unknown. */
	uint32_t flags;
};

/*
 * Returns a hash of what a frame's environments point to, which distinguishes
 * frames of two stacks whose words are equal. Stops at an environment that was
 * not copied.
 */
uint64_t rcore_code_environment(const struct rcore_layout *layout,
				const struct rcore_stack *stack, const uint8_t *frame);

/* Finds the frame at `cfp`, whose environment is `environment`. */
void rcore_codes_find(struct rcore_codes *codes, const struct rcore_stack *stack, uint64_t cfp,
		      uint64_t environment, struct rcore_code_frame *ret);

/*
 * Returns whether the innermost frame, which rcore_codes_find() has found, is
 * completely filled.
 */
bool rcore_codes_is_filled(struct rcore_codes *codes, const struct rcore_stack *stack,
			   const struct rcore_code_frame *found);

/*
 * Reads again what is at the addresses of code that was seen since the last
 * time, and forgets code that was replaced.
 */
void rcore_codes_verify(struct rcore_codes *codes, struct rcore_live *live);

#endif
