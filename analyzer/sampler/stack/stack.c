/* SPDX-License-Identifier: MIT */
#include "sampler/stack/stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/hot.h"

enum {
	/*
	 * Bytes of control frames, and of values, that are read of one stack.
	 * A whole VM stack has 1 MiB, or what RUBY_THREAD_VM_STACK_SIZE says.
	 */
	USED_LIMIT = 64 << 20,
	/*
	 * How many more frames to read than last time, so that a deeper stack
	 * needs no second read; and bytes of values for each of them. While a
	 * stack does not get deeper, this number shrinks.
	 */
	SLACK_MAX = 16,
	SLACK_MIN = 2,
	SLACK_VALUES = 64,
	FIRST_VALUES = 8192,
};

void rcore_stack_reader_init(struct rcore_stack_reader *reader, struct rcore_live *live,
			     const struct rcore_layout *layout, uint64_t vm)
{
	const struct rcore_field *const fields[] = {&layout->ec.vm_stack,
						    &layout->ec.vm_stack_size, &layout->ec.cfp,
						    &layout->ec.thread_ptr};
	*reader = (struct rcore_stack_reader){.live = live, .layout = layout, .vm = vm};
	reader->ec_size = rcore_fields_end(fields, RCORE_COUNT(fields));
}

void rcore_stack_reader_deinit(struct rcore_stack_reader *reader)
{
	free(reader->ranges);
	reader->ranges = NULL;
	reader->range_capacity = 0;
}

RCORE_HOT bool rcore_piece_set(struct rcore_piece *piece, uint64_t start, size_t size)
{
	if (size > piece->capacity) {
		uint8_t *grown = realloc(piece->bytes, size + size / 2);
		if (!grown)
			return false;
		piece->bytes = grown;
		piece->capacity = size + size / 2;
	}
	piece->start = start;
	piece->size = size;
	piece->read = 0;
	return true;
}

RCORE_HOT uint64_t rcore_piece_field(const struct rcore_piece *piece,
				     const struct rcore_field *field)
{
	uint64_t value;
	if (!rcore_has_place(field) ||
	    !rcore_field_of(piece->bytes, piece->read, field, &value))
		return 0;
	return value;
}

/* Sets the ranges of the pieces according to the guess. */
static RCORE_HOT bool aim(const struct rcore_stack_reader *reader, struct rcore_stack *stack)
{
	struct rcore_piece *pieces = stack->pieces;
	bool is_known = stack->ec && stack->top;
	size_t thread = stack->thread ? reader->layout->thread.size : 0;
	bool is_light = is_known && stack->rests;
	size_t again = reader->is_single || !is_known || is_light ? 0 : 1;
	size_t ec = stack->ec ? reader->ec_size : 0;
	size_t frames = is_known ? stack->top - stack->frames_from : 0;
	size_t values = is_known && !is_light ? stack->values_to - stack->bottom : 0;
	return rcore_piece_set(&pieces[RCORE_PIECE_THREAD], stack->thread, thread) &&
	       rcore_piece_set(&pieces[RCORE_PIECE_EC], stack->ec, again ? 0 : ec) &&
	       rcore_piece_set(&pieces[RCORE_PIECE_FRAMES], stack->frames_from, frames) &&
	       rcore_piece_set(&pieces[RCORE_PIECE_EC_BETWEEN], stack->ec, ec * again) &&
	       rcore_piece_set(&pieces[RCORE_PIECE_VALUES], stack->bottom, values) &&
	       rcore_piece_set(&pieces[RCORE_PIECE_FRAMES_AGAIN], stack->frames_from,
			       frames * again) &&
	       rcore_piece_set(&pieces[RCORE_PIECE_VALUES_AGAIN], stack->bottom,
			       values * again);
}

/* Returns how many pieces are read. */
static RCORE_HOT size_t count_of(const struct rcore_stack *stack)
{
	return stack->sleeps ? 0 : RCORE_PIECE_COUNT;
}

static RCORE_HOT size_t add(struct rcore_live_range *ranges, size_t used,
			    struct rcore_piece *piece)
{
	if (piece->size)
		ranges[used++] =
			(struct rcore_live_range){piece->start, piece->size, piece->bytes, 0};
	return used;
}

static RCORE_HOT bool reserve(struct rcore_stack_reader *reader, size_t count)
{
	if (count <= reader->range_capacity)
		return true;
	struct rcore_live_range *grown = reallocarray(reader->ranges, count, sizeof(*grown));
	if (!grown)
		return false;
	reader->ranges = grown;
	reader->range_capacity = count;
	return true;
}

struct rcore_error *rcore_stack_read_threads(struct rcore_stack_reader *reader,
					     struct rcore_stack *const *stacks, size_t count)
{
	size_t used = 0;
	if (!reserve(reader, count))
		return rcore_error_no_memory();
	for (size_t i = 0; i < count; i++)
		used = add(reader->ranges, used, &stacks[i]->pieces[RCORE_PIECE_THREAD]);
	rcore_live_read(reader->live, reader->ranges, used);
	const struct rcore_live_range *range = reader->ranges;
	for (size_t i = 0; i < count; i++)
		if (stacks[i]->pieces[RCORE_PIECE_THREAD].size)
			stacks[i]->pieces[RCORE_PIECE_THREAD].read = range++->read;
	return NULL;
}

RCORE_HOT struct rcore_error *rcore_stack_read(struct rcore_stack_reader *reader,
					       struct rcore_stack *const *stacks, size_t count,
					       struct rcore_piece *const *others,
					       size_t other_count)
{
	size_t used = 0;
	if (!reserve(reader, count * RCORE_PIECE_COUNT + other_count))
		return rcore_error_no_memory();
	for (size_t i = 0; i < other_count; i++)
		used = add(reader->ranges, used, others[i]);
	for (size_t i = 0; i < count; i++) {
		if (!stacks[i]->sleeps && !aim(reader, stacks[i]))
			return rcore_error_no_memory();
		for (size_t j = 0; j < count_of(stacks[i]); j++)
			used = add(reader->ranges, used, &stacks[i]->pieces[j]);
	}
	rcore_live_read(reader->live, reader->ranges, used);
	const struct rcore_live_range *range = reader->ranges;
	for (size_t i = 0; i < other_count; i++)
		if (others[i]->size)
			others[i]->read = range++->read;
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < count_of(stacks[i]); j++)
			if (stacks[i]->pieces[j].size)
				stacks[i]->pieces[j].read = range++->read;
	return NULL;
}

static RCORE_HOT bool is_whole(const struct rcore_piece *piece)
{
	return piece->read == piece->size;
}

/* Sets the ranges according to what the EC says now. */
static RCORE_HOT enum rcore_stack_verdict move(const struct rcore_stack_reader *reader,
					       struct rcore_stack *stack, uint64_t bottom,
					       uint64_t top, uint64_t cfp)
{
	uint64_t slack = stack->slack * (uint64_t)reader->layout->cfp.size;
	if (bottom != stack->bottom || top != stack->top) {
		stack->bottom = bottom;
		stack->top = top;
		stack->values_to = bottom + FIRST_VALUES;
	}
	stack->frames_from = cfp - bottom > slack ? cfp - slack : bottom;
	if (stack->values_to > top)
		stack->values_to = top;
	return RCORE_STACK_MOVED;
}

/*
 * The innermost frame is the same even if its pc and sp moved, because its code
 * runs. In all other frames, no word changes until they return.
 */
static RCORE_HOT bool same_frame(const struct rcore_layout *layout, const uint8_t *one,
				 const uint8_t *other, bool is_innermost)
{
	const struct rcore_field *const kept[] = {&layout->cfp.iseq, &layout->cfp.self,
						  &layout->cfp.ep};
	if (!is_innermost)
		return !memcmp(one, other, layout->cfp.size);
	for (size_t i = 0; i < RCORE_COUNT(kept); i++)
		if (memcmp(one + kept[i]->offset, other + kept[i]->offset, kept[i]->size))
			return false;
	return true;
}

static RCORE_HOT const uint8_t *again(const struct rcore_stack *stack, uint64_t cfp)
{
	const struct rcore_piece *piece = &stack->pieces[RCORE_PIECE_FRAMES_AGAIN];
	return piece->bytes + (cfp - piece->start);
}

/*
 * Whether the environment of the frame at `cfp` is the same in both copies of
 * the values: its method entry, its block or parent, its flags. It is not if
 * the copies end before it. (The sp of a frame that is not filled yet may be
 * one from before: the values that are read end there.)
 */
static RCORE_HOT bool same_environment(const struct rcore_layout *layout,
				       const struct rcore_stack *stack, uint64_t cfp)
{
	enum { SIZE = 3 * sizeof(uint64_t), BEFORE_EP = 2 * sizeof(uint64_t) };
	const struct rcore_piece *one = &stack->pieces[RCORE_PIECE_VALUES];
	const struct rcore_piece *other = &stack->pieces[RCORE_PIECE_VALUES_AGAIN];
	uint64_t ep = 0;
	rcore_field_of(rcore_stack_frame(stack, cfp), layout->cfp.size, &layout->cfp.ep, &ep);
	uint64_t offset = ep - BEFORE_EP - one->start;
	if (offset >= one->read || one->read - offset < SIZE)
		return ep < stack->bottom || ep >= stack->top;
	return !memcmp(one->bytes + offset, other->bytes + offset, SIZE);
}

static RCORE_HOT bool is_torn(const struct rcore_stack_reader *reader,
			      const struct rcore_stack *stack, uint64_t cfp)
{
	const struct rcore_piece *pieces = stack->pieces;
	size_t step = reader->layout->cfp.size;
	if (reader->is_single || stack->is_light)
		return false;
	if (!is_whole(&pieces[RCORE_PIECE_EC_BETWEEN]) ||
	    !is_whole(&pieces[RCORE_PIECE_FRAMES_AGAIN]) ||
	    !is_whole(&pieces[RCORE_PIECE_VALUES_AGAIN]))
		return true;
	if (!same_frame(reader->layout, rcore_stack_frame(stack, cfp), again(stack, cfp),
			true) ||
	    memcmp(rcore_stack_frame(stack, cfp) + step, again(stack, cfp) + step,
		   stack->top - cfp - step))
		return true;
	for (; cfp < stack->top; cfp += step)
		if (!same_environment(reader->layout, stack, cfp))
			return true;
	return false;
}

/*
 * Reads the thread's current EC, and checks whether it is still the same
 * thread.
 */
static RCORE_HOT enum rcore_stack_verdict check_thread(const struct rcore_stack_reader *reader,
						       struct rcore_stack *stack)
{
	const struct rcore_layout *layout = reader->layout;
	const struct rcore_piece *thread = &stack->pieces[RCORE_PIECE_THREAD];
	if (!stack->thread)
		return RCORE_STACK_GOOD;
	if (!is_whole(thread) || rcore_piece_field(thread, &layout->thread.vm) != reader->vm)
		return RCORE_STACK_GONE;
	uint64_t ec = rcore_piece_field(thread, &layout->thread.ec);
	if (!ec)
		return RCORE_STACK_EMPTY;
	if (ec == stack->ec)
		return RCORE_STACK_GOOD;
	stack->ec = ec;
	stack->top = stack->bottom = 0;
	return RCORE_STACK_MOVED;
}

RCORE_HOT enum rcore_stack_verdict rcore_stack_check(const struct rcore_stack_reader *reader,
						     struct rcore_stack *stack)
{
	const struct rcore_layout *layout = reader->layout;
	const struct rcore_piece *ec = &stack->pieces[RCORE_PIECE_EC_BETWEEN];
	if (stack->sleeps) {
		stack->is_light = true;
		stack->rests = false;
		return RCORE_STACK_GOOD;
	}
	enum rcore_stack_verdict verdict = check_thread(reader, stack);
	if (!ec->size)
		ec = &stack->pieces[RCORE_PIECE_EC];
	stack->is_light = stack->rests && stack->pieces[RCORE_PIECE_FRAMES].size;
	stack->rests = false;
	stack->cfp = 0;
	stack->is_partial = false;
	if (verdict != RCORE_STACK_GOOD)
		return verdict;
	if (!is_whole(ec))
		return RCORE_STACK_GONE;
	uint64_t bottom = rcore_piece_field(ec, &layout->ec.vm_stack);
	uint64_t size = rcore_piece_field(ec, &layout->ec.vm_stack_size);
	uint64_t cfp = rcore_piece_field(ec, &layout->ec.cfp);
	if (stack->thread && rcore_piece_field(ec, &layout->ec.thread_ptr) != stack->thread)
		return RCORE_STACK_TORN;
	if (!bottom || !cfp)
		return RCORE_STACK_EMPTY;
	uint64_t top = bottom + size * sizeof(uint64_t);
	if (cfp == top)
		return RCORE_STACK_EMPTY;
	if (size > UINT64_MAX / sizeof(uint64_t) || top < bottom || cfp < bottom || cfp > top ||
	    top - cfp > USED_LIMIT || (top - cfp) % layout->cfp.size ||
	    bottom % sizeof(uint64_t))
		return RCORE_STACK_BROKEN;
	if (bottom != stack->bottom || top != stack->top || cfp < stack->frames_from) {
		stack->slack = SLACK_MAX;
		return move(reader, stack, bottom, top, cfp);
	}
	if (!is_whole(&stack->pieces[RCORE_PIECE_FRAMES]) ||
	    !is_whole(&stack->pieces[RCORE_PIECE_VALUES]))
		return RCORE_STACK_TORN;
	uint64_t sp = 0;
	rcore_field_of(rcore_stack_frame(stack, cfp), layout->cfp.size, &layout->cfp.sp, &sp);
	if (stack->is_light && cfp != stack->last_cfp)
		return move(reader, stack, bottom, top, cfp);
	bool is_short = sp > stack->values_to && sp <= cfp;
	bool is_deeper = is_short || cfp < stack->last_cfp;
	if (is_deeper)
		stack->slack = SLACK_MAX;
	else if (stack->slack > SLACK_MIN)
		stack->slack--;
	stack->last_cfp = cfp;
	uint64_t more = stack->slack * SLACK_VALUES;
	if (sp >= bottom && sp <= cfp && sp - bottom > USED_LIMIT)
		return RCORE_STACK_BROKEN;
	if (sp >= bottom && sp <= cfp)
		stack->values_to = sp + more < top ? sp + more : top;
	move(reader, stack, bottom, top, cfp);
	if (is_short)
		return RCORE_STACK_MOVED;
	if (is_torn(reader, stack, cfp))
		return RCORE_STACK_TORN;
	stack->cfp = cfp;
	return RCORE_STACK_GOOD;
}

bool rcore_stack_salvage(const struct rcore_stack_reader *reader, struct rcore_stack *stack)
{
	const struct rcore_piece *frames = &stack->pieces[RCORE_PIECE_FRAMES];
	size_t step = reader->layout->cfp.size;
	uint64_t from = frames->start, top = stack->top;
	if (stack->is_light || !frames->size || frames->start + frames->size != top ||
	    !is_whole(frames) || !is_whole(&stack->pieces[RCORE_PIECE_FRAMES_AGAIN]) ||
	    !is_whole(&stack->pieces[RCORE_PIECE_VALUES]) ||
	    !is_whole(&stack->pieces[RCORE_PIECE_VALUES_AGAIN]))
		return false;
	const struct rcore_piece *ec = &stack->pieces[RCORE_PIECE_EC_BETWEEN];
	uint64_t active = rcore_piece_field(ec, &reader->layout->ec.cfp);
	if (!is_whole(ec) ||
	    rcore_piece_field(ec, &reader->layout->ec.vm_stack) != stack->bottom ||
	    (stack->thread &&
	     rcore_piece_field(ec, &reader->layout->ec.thread_ptr) != stack->thread))
		return false;
	/* The innermost frame may not be filled. */
	if (active >= from)
		from = active + step;
	uint64_t cfp = top;
	while (cfp > from && cfp - step >= from &&
	       same_frame(reader->layout, rcore_stack_frame(stack, cfp - step),
			  again(stack, cfp - step), false) &&
	       same_environment(reader->layout, stack, cfp - step))
		cfp -= step;
	if (cfp == top)
		return false;
	stack->cfp = cfp;
	stack->is_partial = true;
	return true;
}

void rcore_stack_deinit(struct rcore_stack *stack)
{
	for (size_t i = 0; i < RCORE_PIECE_COUNT; i++)
		free(stack->pieces[i].bytes);
	*stack = (struct rcore_stack){0};
}
