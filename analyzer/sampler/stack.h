/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_STACK_H
#define RCORE_SAMPLER_STACK_H

#include "layout/layout.h"
#include "target/live/live.h"
#include "target/memory.h"

/*
 * A VM stack that is copied while its thread may run. sampler.h says which
 * words are read, in which order, and what they prove.
 */

/* In the order in which they are read, by one system call. */
enum rcore_piece_id {
	/* The rb_thread_t; of a parked fiber, nothing. */
	RCORE_PIECE_THREAD,
	/*
	 * The head of the EC: stack, size, cfp, thread. Only of a stack that is
	 * not known yet.
	 */
	RCORE_PIECE_EC,
	/* Control frames, from a guess of the innermost to the end. */
	RCORE_PIECE_FRAMES,
	/* The EC's head, of a stack that is known: its cfp is the one that counts. */
	RCORE_PIECE_EC_BETWEEN,
	/* The VM stack's start up to a guess of the innermost sp. */
	RCORE_PIECE_VALUES,
	RCORE_PIECE_FRAMES_AGAIN,
	RCORE_PIECE_COUNT,
};

struct rcore_piece {
	uint64_t start;
	size_t size, read, capacity;
	uint8_t *bytes;
};

enum rcore_stack_verdict {
	RCORE_STACK_GOOD,  /* the copy is one of one moment */
	RCORE_STACK_EMPTY, /* there are no frames */
	/* The guess was wrong and is right now: read again. */
	RCORE_STACK_MOVED,
	RCORE_STACK_TORN,   /* it changed while it was read */
	RCORE_STACK_GONE,   /* there is no such thread, or no such fiber */
	RCORE_STACK_BROKEN, /* its bounds are those of no VM stack */
};

struct rcore_stack {
	uint64_t thread; /* rb_thread_t; 0: of a fiber that no thread runs */
	uint64_t ec;     /* 0: not known yet */
	/*
	 * The guess: bounds of the VM stack (0: not known yet), the innermost
	 * frame to read, and the end of the values to read.
	 */
	uint64_t bottom, top, frames_from, values_to;
	struct rcore_piece pieces[RCORE_PIECE_COUNT];

	/* The verdict's. */
	uint64_t cfp;    /* the innermost frame that may be believed */
	bool is_partial; /* there were frames further in */
};

/* What is the same for all stacks of a process. */
struct rcore_stack_reader {
	struct rcore_live *live;
	const struct rcore_layout *layout;
	uint64_t vm;
	size_t ec_size; /* of the EC's head */
	bool is_single; /* tests only: believe the first copy */
	struct rcore_live_range *ranges;
	size_t range_capacity;
};

void rcore_stack_reader_init(struct rcore_stack_reader *reader, struct rcore_live *live,
			     const struct rcore_layout *layout, uint64_t vm);
void rcore_stack_reader_deinit(struct rcore_stack_reader *reader);

/*
 * Reads `stacks`, and other pieces before them, in one system call if they are
 * few. Error: NO_MEMORY. What could not be read shows in piece.read.
 */
struct rcore_error *rcore_stack_read(struct rcore_stack_reader *reader,
				     struct rcore_stack *const *stacks, size_t count,
				     struct rcore_piece *others, size_t other_count);

/* Makes room in a piece for `size` bytes at `start`; false: memory is short. */
bool rcore_piece_set(struct rcore_piece *piece, uint64_t start, size_t size);

/*
 * A field of the struct at the piece's start; 0 if this Ruby has none, or it
 * was not read.
 */
uint64_t rcore_piece_field(const struct rcore_piece *piece, const struct rcore_field *field);

/*
 * What the copies prove. After TORN, rcore_stack_salvage() says what of them
 * did not change.
 */
enum rcore_stack_verdict rcore_stack_judge(const struct rcore_stack_reader *reader,
					   struct rcore_stack *stack);

/*
 * Sets `cfp` to the innermost of the outer frames that are the same in both
 * copies, and lie outside of the cfp; false: there is none.
 */
bool rcore_stack_salvage(const struct rcore_stack_reader *reader, struct rcore_stack *stack);

/* The words of the frame at `cfp`, which is one of [stack->cfp, stack->top). */
static inline const uint8_t *rcore_stack_frame(const struct rcore_stack *stack, uint64_t cfp)
{
	const struct rcore_piece *piece = &stack->pieces[RCORE_PIECE_FRAMES];
	return piece->bytes + (cfp - piece->start);
}

/* A word of the copied values; false: it is not among them. */
static inline bool rcore_stack_value(const struct rcore_stack *stack, uint64_t address,
				     uint64_t *ret)
{
	const struct rcore_piece *piece = &stack->pieces[RCORE_PIECE_VALUES];
	uint64_t offset = address - piece->start;
	if (offset >= piece->read || piece->read - offset < sizeof(*ret))
		return false;
	__builtin_memcpy(ret, piece->bytes + offset, sizeof(*ret));
	return true;
}

void rcore_stack_deinit(struct rcore_stack *stack);

/*
 * Memory for the decoders: what was copied of a stack, and else what the
 * process has now.
 */
struct rcore_copies {
	struct rcore_memory memory;      /* first: the callee casts back */
	const struct rcore_stack *stack; /* NULL: none */
	struct rcore_memory *below;
};

void rcore_copies_init(struct rcore_copies *copies, struct rcore_memory *below);

#endif
