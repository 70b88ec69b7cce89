/* SPDX-License-Identifier: MIT */
/*
 * The slots of all pages, with what the collector notes of each one in the
 * bitmaps of its page (heap_page of gc.c; from 3.4 on, of
 * gc/default/default.c).
 */
#include "ruby/children/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/children/memsize.h"
#include "ruby/children/page_bits.h"
#include "ruby/object/heap.h"

/*
 * Gets each used slot and all of its bytes. Returns false if memory is short.
 */
typedef bool visit_used(void *context, const void *copy, size_t size, uint64_t bytes);

struct slots {
	struct rcore_ruby *ruby;
	struct rcore_heap *heap;
	size_t span_capacity, large_capacity;
	uint64_t node_capacity;
	visit_used *visit; /* may be NULL */
	void *context;
	struct rcore_page_bits bits;
	struct rcore_error *err;
};

static uint8_t state_of(const struct slots *slots, uint64_t address, uint64_t flags)
{
	const struct rcore_layout *layout = slots->ruby->layout;
	const struct rcore_page_bits *bits = &slots->bits;
	uint64_t before_sweep = 0;
	bool marked = rcore_page_bit(bits, &layout->heap_page.mark_bits, address);
	uint8_t state = marked ? RCORE_HEAP_MARKED : 0;
	rcore_field_of(bits->copy, bits->size, &layout->heap_page.before_sweep, &before_sweep);
	if (before_sweep && !marked)
		state |= RCORE_HEAP_UNSWEPT;
	if (rcore_page_age(bits, address, flags) == RCORE_OLD_AGE)
		state |= RCORE_HEAP_OLD;
	if (!rcore_page_bit(bits, &layout->heap_page.wb_unprotected_bits, address))
		state |= RCORE_HEAP_WB_PROTECTED;
	return state;
}

/* Makes room for the slots of one more page. */
static struct rcore_error *grow(struct slots *slots, uint64_t count)
{
	struct rcore_heap *heap = slots->heap;
	uint64_t wanted = (uint64_t)heap->node_count + count;
	if (wanted >= RCORE_HEAP_NONE)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "the heap has more than 2^32 slots");
	if (wanted <= slots->node_capacity)
		return NULL;
	uint64_t capacity = slots->node_capacity * 2;
	if (capacity < wanted)
		capacity = wanted;
	void *type = realloc(heap->type, capacity);
	heap->type = type ? type : heap->type;
	void *state = realloc(heap->state, capacity);
	heap->state = state ? state : heap->state;
	void *extra = realloc(heap->extra, capacity * sizeof(*heap->extra));
	heap->extra = extra ? extra : heap->extra;
	if (!type || !state || !extra)
		return rcore_error_no_memory();
	slots->node_capacity = capacity;
	return NULL;
}

static struct rcore_error *set_extra(struct slots *slots, uint32_t node, uint64_t bytes)
{
	struct rcore_heap *heap = slots->heap;
	heap->extra[node] = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	if (bytes < UINT32_MAX)
		return NULL;
	if (!rcore_grow((void **)&heap->large, heap->large_count, &slots->large_capacity,
			sizeof(*heap->large)))
		return rcore_error_no_memory();
	heap->large[heap->large_count++] = (struct rcore_heap_large){node, bytes};
	return NULL;
}

static bool is_used(uint64_t flags)
{
	enum rcore_type type = flags & RCORE_T_MASK;
	return type != RCORE_T_NONE && type != RCORE_T_MOVED && type != RCORE_T_ZOMBIE;
}

static struct rcore_error *add_slot(struct slots *slots, uint32_t node, uint64_t address,
				    const unsigned char *copy, size_t size)
{
	struct rcore_heap *heap = slots->heap;
	uint64_t flags, bytes = 0;
	bool known = true;
	memcpy(&flags, copy, sizeof(flags));
	heap->type[node] = flags & RCORE_T_MASK;
	heap->state[node] = 0;
	heap->extra[node] = 0;
	if (!is_used(flags)) {
		heap->type[node] = RCORE_T_NONE;
		return NULL;
	}
	heap->state[node] = state_of(slots, address, flags);
	if (heap->state[node] & RCORE_HEAP_UNSWEPT) {
		heap->type[node] = RCORE_T_NONE;
		return NULL;
	}
	known = rcore_memsize(slots->ruby, address, copy, size, &bytes);
	if (!known)
		heap->state[node] |= RCORE_HEAP_SIZE_UNKNOWN;
	if (slots->visit && !slots->visit(slots->context, copy, size, size + bytes))
		return rcore_error_no_memory();
	return set_extra(slots, node, bytes);
}

static bool add_page(void *context, uint64_t heap_page, const struct rcore_heap_page *page,
		     const unsigned char *copy)
{
	struct slots *slots = context;
	struct rcore_heap *heap = slots->heap;
	slots->err = grow(slots, page->slots);
	if (!slots->err && !rcore_grow((void **)&heap->spans, heap->span_count,
				       &slots->span_capacity, sizeof(*heap->spans)))
		slots->err = rcore_error_no_memory();
	if (slots->err)
		return false;
	heap->spans[heap->span_count++] = (struct rcore_heap_span){
		.start = page->start,
		.first_node = heap->node_count,
		.slot_count = (uint32_t)page->slots,
		.slot_size = (uint32_t)page->slot_size,
		.is_absent = !copy,
		.heap_page = heap_page,
	};
	rcore_page_bits_read(&slots->bits, slots->ruby, heap_page);
	for (size_t i = 0; i < page->slots && !slots->err; i++) {
		uint32_t node = heap->node_count + (uint32_t)i;
		if (copy) {
			slots->err = add_slot(slots, node, page->start + i * page->slot_size,
					      copy + i * page->slot_size, page->slot_size);
			continue;
		}
		heap->type[node] = RCORE_T_NONE;
		heap->state[node] = RCORE_HEAP_ABSENT;
		heap->extra[node] = 0;
	}
	heap->absent_pages += !copy;
	heap->node_count += (uint32_t)page->slots;
	return !slots->err;
}

static void read_mode(struct rcore_ruby *ruby, uint64_t objspace, struct rcore_heap *heap)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t mode = 0, during = 0;
	rcore_read_field(ruby->memory, objspace, &layout->objspace.gc_mode, &mode);
	rcore_read_field(ruby->memory, objspace, &layout->objspace.during_gc, &during);
	heap->mode = mode <= RCORE_HEAP_COMPACTING ? (enum rcore_heap_mode)mode
						   : RCORE_HEAP_COMPACTING;
	heap->is_collecting = during != 0;
	if (!rcore_read_field(ruby->memory, objspace, &layout->objspace.during_compacting,
			      &during) &&
	    during)
		heap->mode = RCORE_HEAP_COMPACTING;
}

static struct rcore_error *read_all(struct rcore_ruby *ruby, uint64_t objspace,
				    struct rcore_heap *ret, visit_used *visit, void *context)
{
	size_t unreadable = 0;
	*ret = (struct rcore_heap){0};
	struct slots *slots = calloc(1, sizeof(*slots));
	if (!slots)
		return rcore_error_no_memory();
	slots->ruby = ruby;
	slots->heap = ret;
	slots->visit = visit;
	slots->context = context;
	read_mode(ruby, objspace, ret);
	struct rcore_error *err =
		rcore_heap_walk_pages(ruby, objspace, add_page, slots, &unreadable);
	if (!err)
		err = slots->err;
	ret->absent_pages += unreadable;
	free(slots);
	return err;
}

struct rcore_error *rcore_graph_slots(struct rcore_ruby *ruby, uint64_t objspace,
				      struct rcore_heap *ret)
{
	return read_all(ruby, objspace, ret, NULL, NULL);
}

/* Counts by class in a hash table with open addressing. */
struct counter {
	struct rcore_ruby *ruby;
	struct {
		uint64_t key;
		struct rcore_census_row row;
	} * places;
	size_t size, used; /* size: a power of two */
	size_t last;
};

uint64_t rcore_census_key(struct rcore_ruby *ruby, const void *copy, size_t size)
{
	uint64_t klass = 0, flags;
	memcpy(&flags, copy, sizeof(flags));
	if ((flags & RCORE_T_MASK) != RCORE_T_IMEMO)
		rcore_field_of(copy, size, &ruby->layout->basic.klass, &klass);
	if (rcore_is_object(ruby, klass))
		return klass;
	int imemo = rcore_imemo_type(flags);
	return 1 + (flags & RCORE_T_MASK) + ((uint64_t)(imemo < 0 ? 0 : imemo) << 8);
}

static size_t place_of(const struct counter *counter, uint64_t key)
{
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (counter->size - 1);
	while (counter->places[at].key && counter->places[at].key != key)
		at = (at + 1) & (counter->size - 1);
	return at;
}

static bool enlarge(struct counter *counter)
{
	struct counter old = *counter;
	counter->size = old.size ? old.size * 2 : 1024;
	counter->places = calloc(counter->size, sizeof(*counter->places));
	if (!counter->places) {
		*counter = old;
		return false;
	}
	for (size_t i = 0; i < old.size; i++)
		if (old.places[i].key)
			counter->places[place_of(counter, old.places[i].key)] = old.places[i];
	free(old.places);
	counter->last = 0;
	return true;
}

static bool count_slot(void *context, const void *copy, size_t size, uint64_t bytes)
{
	struct counter *counter = context;
	uint64_t flags;
	memcpy(&flags, copy, sizeof(flags));
	uint64_t key = rcore_census_key(counter->ruby, copy, size);
	if (counter->used * 2 >= counter->size && !enlarge(counter))
		return false;
	size_t at = counter->places[counter->last].key == key ? counter->last
							      : place_of(counter, key);
	if (!counter->places[at].key) {
		counter->places[at].key = key;
		counter->places[at].row.type = flags & RCORE_T_MASK;
		counter->used++;
	}
	counter->places[at].row.count++;
	counter->places[at].row.bytes += bytes;
	counter->last = at;
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	const struct rcore_census_row *left = a, *right = b;
	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return left->key < right->key ? -1 : left->key > right->key;
}

struct rcore_error *rcore_graph_census(struct rcore_ruby *ruby, uint64_t objspace,
				       struct rcore_heap *ret, struct rcore_census *census)
{
	struct counter counter = {.ruby = ruby};
	*census = (struct rcore_census){0};
	struct rcore_error *err = read_all(ruby, objspace, ret, count_slot, &counter);
	for (size_t i = 0; i < counter.size && !err; i++) {
		if (!counter.places[i].key)
			continue;
		struct rcore_census_row *row = rcore_push(census);
		if (!row) {
			err = rcore_error_no_memory();
			break;
		}
		*row = counter.places[i].row;
		row->key = counter.places[i].key;
	}
	if (census->count)
		qsort(census->items, census->count, sizeof(*census->items), by_bytes);
	free(counter.places);
	return err;
}
