/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_STACK_H
#define RCORE_SAMPLER_STACK_H

#include "layout/layout.h"
#include "target/live/live.h"
#include "target/memory.h"

/*
 * sampler/stack/ copies VM stacks while their threads may run, and reads the
 * copies. It includes base/, layout/, target/ and sampler/bpf/ only. Start
 * here, after sampler.h, which says which words are read, in which order, and
 * what they prove.
 */

/* In the order in which one system call reads them. */
enum rcore_piece_id {
	/* The rb_thread_t; empty for a parked fiber. */
	RCORE_PIECE_THREAD,
	/*
	 * The head of the EC: stack, size, cfp, thread. Only for a stack that
	 * is not known yet, or rests.
	 */
	RCORE_PIECE_EC,
	/* Control frames, from a guess of the innermost one to the end. */
	RCORE_PIECE_FRAMES,
	/*
	 * The EC's head, for any other stack. Its cfp is the one that counts.
	 */
	RCORE_PIECE_EC_BETWEEN,
	/* From the VM stack's start to a guess of the innermost sp. */
	RCORE_PIECE_VALUES,
	RCORE_PIECE_FRAMES_AGAIN,
	RCORE_PIECE_VALUES_AGAIN,
	RCORE_PIECE_COUNT,
};

struct rcore_piece {
	uint64_t start;
	size_t size, read, capacity;
	uint8_t *bytes;
};

enum rcore_stack_verdict {
	RCORE_STACK_GOOD,  /* all words are of one moment */
	RCORE_STACK_EMPTY, /* it has no frames */
	/* The guess was wrong, and is corrected: read again. */
	RCORE_STACK_MOVED,
	RCORE_STACK_TORN,   /* it changed while it was read */
	RCORE_STACK_GONE,   /* the thread or fiber no longer exists */
	RCORE_STACK_BROKEN, /* its bounds are not those of a VM stack */
};

struct rcore_stack {
	uint64_t thread; /* rb_thread_t; 0 for a fiber that no thread runs */
	uint64_t ec;     /* 0: not known yet */
	/*
	 * The guess: bounds of the VM stack (0 if not known yet), the innermost
	 * frame to read, and the end of the values to read.
	 */
	uint64_t bottom, top, frames_from, values_to;
	uint64_t last_cfp; /* of the last copies */
	uint32_t slack;    /* how many more frames to read than there were */
	/*
	 * Its thread was blocked: the next read reads only what shows whether
	 * anything has changed since, and reads that once. The caller sets it
	 * before each such read, and compares the frames.
	 */
	bool rests;
	/*
	 * As `rests`, and it is proved that its thread has not run since: the
	 * next read reads nothing, and the pieces keep what they have.
	 */
	bool sleeps;
	struct rcore_piece pieces[RCORE_PIECE_COUNT];

	/* Set with the verdict. */
	uint64_t cfp;    /* the innermost frame that can be trusted */
	bool is_partial; /* there were frames further in */
	bool is_light;   /* read as one that rests or sleeps */
};

/* What all stacks of a process share. */
struct rcore_stack_reader {
	struct rcore_live *live;
	const struct rcore_layout *layout;
	uint64_t vm;
	size_t ec_size; /* of the EC's head */
	bool is_single; /* for tests: trust the first copy */
	struct rcore_live_range *ranges;
	size_t range_capacity;
};

void rcore_stack_reader_init(struct rcore_stack_reader *reader, struct rcore_live *live,
			     const struct rcore_layout *layout, uint64_t vm);
void rcore_stack_reader_deinit(struct rcore_stack_reader *reader);

/*
 * Reads `stacks`, after the other pieces, in one system call if they are few.
 * piece.read says whether a piece could be read. Error: NO_MEMORY.
 */
struct rcore_error *rcore_stack_read(struct rcore_stack_reader *reader,
				     struct rcore_stack *const *stacks, size_t count,
				     struct rcore_piece *const *others, size_t other_count);

/* Reads the rb_thread_t of each stack again. Error: NO_MEMORY. */
struct rcore_error *rcore_stack_read_threads(struct rcore_stack_reader *reader,
					     struct rcore_stack *const *stacks, size_t count);

/*
 * Makes room in a piece for `size` bytes at `start`. Returns false if memory is
 * short.
 */
bool rcore_piece_set(struct rcore_piece *piece, uint64_t start, size_t size);

/*
 * Returns a field of the struct at the piece's start; 0 if this Ruby does not
 * have it, or it was not read.
 */
uint64_t rcore_piece_field(const struct rcore_piece *piece, const struct rcore_field *field);

/*
 * Checks what the copies prove. After TORN, rcore_stack_salvage() finds the
 * part that did not change.
 */
enum rcore_stack_verdict rcore_stack_check(const struct rcore_stack_reader *reader,
					   struct rcore_stack *stack);

/*
 * Sets `cfp` to the innermost frame that can be trusted: it and all frames
 * outside of it are equal in both copies, and the EC's cfp counts them. Returns
 * false if there is none.
 */
bool rcore_stack_salvage(const struct rcore_stack_reader *reader, struct rcore_stack *stack);

/*
 * Returns the words of the frame at `cfp`, which must be in [stack->cfp,
 * stack->top).
 */
static inline const uint8_t *rcore_stack_frame(const struct rcore_stack *stack, uint64_t cfp)
{
	const struct rcore_piece *piece = &stack->pieces[RCORE_PIECE_FRAMES];
	return piece->bytes + (cfp - piece->start);
}

/* Reads a word of the copied values. Returns false if it is not among them. */
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

#endif
