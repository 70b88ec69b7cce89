/* SPDX-License-Identifier: MIT */
#include "ruby/children/census.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/second_thread.h"
#include "ruby/children/classless.h"
#include "ruby/children/memsize.h"
#include "ruby/children/page_bits.h"
#include "ruby/heap/heap_core_scan.h"
#include "target/core/core_reader.h"

enum { RECENT = 64, SLOT_LIMIT = 64 << 10 };

/* An object whose size the tally of a thread could not find out by itself. */
struct later {
	uint64_t address;
	uint32_t row, size;
};

/* What one thread has counted. */
struct tally {
	const struct rcore_layout *layout;
	struct rcore_ruby *ruby; /* NULL: another thread may be using it */
	struct rcore_core_reader reader;
	struct rcore_slot_only slot_only;
	struct rcore_page_bits bits;
	struct rcore_census census;
	/* Rows by key, + 1; open addressing; a power of two. */
	uint32_t *places;
	size_t place_count;
	/* The rows that were counted last. */
	struct {
		uint64_t key; /* 0: none */
		uint32_t row;
	} recent[RECENT];
	struct {
		struct later *items;
		size_t count, capacity;
	} later;
	struct rcore_error *err;
};

static inline uint64_t key_of(const struct rcore_layout *layout, uint64_t flags,
			      const void *copy, size_t size)
{
	uint64_t klass = 0;
	if ((flags & RCORE_T_MASK) != RCORE_T_IMEMO)
		rcore_field_of(copy, size, &layout->basic.klass, &klass);
	if (rcore_is_object(NULL, klass))
		return klass;
	return rcore_classless_key(flags);
}

uint64_t rcore_census_key(struct rcore_ruby *ruby, const void *copy, size_t size)
{
	uint64_t flags;
	memcpy(&flags, copy, sizeof(flags));
	return key_of(ruby->layout, flags, copy, size);
}

static size_t place_of(const struct tally *tally, uint64_t key)
{
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20);
	for (;; at++) {
		uint32_t row = tally->places[at &= tally->place_count - 1];
		if (!row || tally->census.items[row - 1].key == key)
			return at;
	}
}

static bool enlarge(struct tally *tally)
{
	size_t count = tally->place_count ? tally->place_count * 2 : 1024;
	uint32_t *places = calloc(count, sizeof(*places));
	if (!places)
		return false;
	free(tally->places);
	tally->places = places;
	tally->place_count = count;
	for (size_t i = 0; i < tally->census.count; i++)
		tally->places[place_of(tally, tally->census.items[i].key)] = (uint32_t)i + 1;
	return true;
}

/*
 * Returns the row of a key, or a new one for the object at `first`; NULL if
 * memory is short.
 */
static struct rcore_census_row *find_row(struct tally *tally, uint64_t key, uint64_t first,
					 uint8_t type)
{
	struct rcore_census *census = &tally->census;
	if (census->count * 2 >= tally->place_count && !enlarge(tally))
		return NULL;
	size_t at = place_of(tally, key);
	if (tally->places[at])
		return &census->items[tally->places[at] - 1];
	struct rcore_census_row *row = rcore_push(census);
	if (!row)
		return NULL;
	row->key = key;
	row->first = first;
	row->type = type;
	tally->places[at] = (uint32_t)census->count;
	return row;
}

static struct rcore_census_row *row_of(struct tally *tally, uint64_t address, uint64_t flags,
				       uint64_t key)
{
	size_t at = (key >> 3 ^ key >> 9) % RECENT;
	if (tally->recent[at].key == key)
		return &tally->census.items[tally->recent[at].row];
	struct rcore_census_row *row = find_row(tally, key, address, flags & RCORE_T_MASK);
	if (row) {
		tally->recent[at].key = key;
		tally->recent[at].row = (uint32_t)(row - tally->census.items);
	}
	return row;
}

static struct rcore_census_pool *pool_of(struct rcore_census_pools *pools, size_t slot_size)
{
	for (size_t i = pools->count; i--;)
		if (pools->items[i].slot_size == slot_size)
			return &pools->items[i];
	struct rcore_census_pool *pool = rcore_push(pools);
	if (pool)
		pool->slot_size = (uint32_t)slot_size;
	return pool;
}

/* Returns false if memory is short. */
static bool add_later(struct tally *tally, uint64_t address, uint32_t row, size_t size)
{
	struct later *later = rcore_push(&tally->later);
	if (!later)
		return false;
	*later = (struct later){address, row, (uint32_t)size};
	return true;
}

static bool count_slot(struct tally *tally, uint64_t address, uint64_t flags,
		       const unsigned char *copy, size_t size)
{
	struct rcore_census_row *row =
		row_of(tally, address, flags, key_of(tally->layout, flags, copy, size));
	uint64_t bytes = 0;
	if (!row)
		return false;
	if (rcore_is_slot_only(&tally->slot_only, flags)) {
		/* nothing to add */
	} else if (tally->ruby) {
		tally->census.unknown_sizes +=
			!rcore_memsize(tally->ruby, address, copy, size, &bytes);
	} else if (!rcore_memsize_simple(tally->layout, &tally->reader.memory, address, copy,
					 size, &bytes)) {
		bytes = 0;
		if (!add_later(tally, address, (uint32_t)(row - tally->census.items), size))
			return false;
	}
	/*
	 * Together: compilers load both members at once, which waits for the
	 * last store if that was of one of them.
	 */
	row->count++;
	row->bytes += size + bytes;
	return true;
}

/*
 * `before_sweep` is that of the page; if it is set, tally->bits have the page's
 * bits. Returns false if memory is short.
 */
static bool count_page(struct tally *tally, const struct rcore_heap_page *page,
		       bool before_sweep, const unsigned char *slots)
{
	enum { SPARSE = 4 };
	const struct rcore_layout *layout = tally->layout;
	const struct rcore_page_bits *bits = &tally->bits;
	uint64_t used = 0;
	for (size_t i = 0; i < page->slots && slots; i++) {
		const unsigned char *copy = slots + i * page->slot_size;
		uint64_t flags, address = page->start + i * page->slot_size;
		memcpy(&flags, copy, sizeof(flags));
		if (!rcore_type_is_used(flags & RCORE_T_MASK))
			continue;
		if (before_sweep &&
		    !rcore_page_bit(bits, &layout->heap_page.mark_bits, address)) {
			tally->census.unswept++;
			continue;
		}
		used++;
		if (!count_slot(tally, address, flags, copy, page->slot_size))
			return false;
	}
	struct rcore_census_pool *pool = pool_of(&tally->census.pools, page->slot_size);
	if (!pool)
		return false;
	pool->pages++;
	pool->slots += page->slots;
	pool->free += page->slots - used;
	pool->sparse_pages += used && used <= page->slots / SPARSE;
	tally->census.absent_pages += !slots;
	return true;
}

static bool scan_page(void *context, int thread, const struct rcore_heap_page *page,
		      const unsigned char *slots)
{
	struct tally *tally = (struct tally *)context + thread;
	struct rcore_page_bits *bits = &tally->bits;
	bits->size = tally->layout->heap_page.size;
	bits->bytes = rcore_core_reader_bytes(&tally->reader, page->heap_page, bits->size);
	return bits->bytes && bits->size <= RCORE_PAGE_STRUCT_LIMIT &&
	       count_page(tally, page, page->before_sweep, slots);
}

static bool walk_page(void *context, uint64_t heap_page, const struct rcore_heap_page *page,
		      const unsigned char *slots)
{
	struct tally *tally = context;
	uint64_t before_sweep = 0;
	rcore_page_bits_read(&tally->bits, tally->ruby, heap_page);
	rcore_field_of(tally->bits.bytes, tally->bits.size,
		       &tally->layout->heap_page.before_sweep, &before_sweep);
	if (!count_page(tally, page, before_sweep, slots))
		tally->err = rcore_error_no_memory();
	return !tally->err;
}

static struct rcore_error *walk(struct tally *tally, struct rcore_ruby *ruby, uint64_t objspace)
{
	size_t unreadable = 0;
	tally->ruby = ruby;
	struct rcore_error *err =
		rcore_heap_walk_pages(ruby, objspace, walk_page, tally, &unreadable);
	tally->census.absent_pages += unreadable;
	return err ? err : tally->err;
}

static struct rcore_error *count_later(struct tally *tally, struct rcore_ruby *ruby)
{
	unsigned char *copy = malloc(SLOT_LIMIT);
	for (size_t i = 0; i < tally->later.count && copy; i++) {
		const struct later *later = &tally->later.items[i];
		uint64_t bytes = 0;
		/* The file may have got shorter since the threads read it. */
		if (rcore_read(ruby->memory, later->address, copy, later->size) ||
		    !rcore_memsize(ruby, later->address, copy, later->size, &bytes))
			tally->census.unknown_sizes++;
		tally->census.items[later->row].bytes += bytes;
	}
	free(copy);
	return copy ? NULL : rcore_error_no_memory();
}

static struct rcore_error *add_tally(struct tally *sum, const struct tally *tally)
{
	for (size_t i = 0; i < tally->census.count; i++) {
		const struct rcore_census_row *row = &tally->census.items[i];
		struct rcore_census_row *to = find_row(sum, row->key, row->first, row->type);
		if (!to)
			return rcore_error_no_memory();
		if (row->first < to->first) {
			to->first = row->first;
			to->type = row->type;
		}
		to->count += row->count;
		to->bytes += row->bytes;
	}
	for (size_t i = 0; i < tally->census.pools.count; i++) {
		const struct rcore_census_pool *pool = &tally->census.pools.items[i];
		struct rcore_census_pool *to = pool_of(&sum->census.pools, pool->slot_size);
		if (!to)
			return rcore_error_no_memory();
		to->pages += pool->pages;
		to->slots += pool->slots;
		to->free += pool->free;
		to->sparse_pages += pool->sparse_pages;
	}
	sum->census.unknown_sizes += tally->census.unknown_sizes;
	sum->census.unswept += tally->census.unswept;
	return NULL;
}

/* The first tally gets all that the threads have counted. */
static struct rcore_error *join(struct tally *tallies, struct rcore_ruby *ruby)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < RCORE_HALVES && !err; i++)
		err = count_later(&tallies[i], ruby);
	return err ? err : add_tally(&tallies[0], &tallies[1]);
}

static void deinit_tally(struct tally *tally)
{
	rcore_census_deinit(&tally->census);
	free(tally->places);
	free(tally->later.items);
}

static struct tally *make_tallies(struct rcore_ruby *ruby)
{
	struct tally *tallies = calloc(RCORE_HALVES, sizeof(*tallies));
	for (size_t i = 0; i < RCORE_HALVES && tallies; i++) {
		tallies[i].layout = ruby->layout;
		tallies[i].slot_only = rcore_slot_only(ruby);
		tallies[i].bits.layout = ruby->layout;
		if (ruby->core)
			rcore_core_reader_init(&tallies[i].reader, ruby->core);
	}
	return tallies;
}

static void free_tallies(struct tally *tallies)
{
	for (size_t i = 0; i < RCORE_HALVES && tallies; i++)
		deinit_tally(&tallies[i]);
	free(tallies);
}

static int by_bytes(const void *a, const void *b)
{
	const struct rcore_census_row *left = a, *right = b;
	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	return left->key < right->key ? -1 : left->key > right->key;
}

static int by_slot_size(const void *a, const void *b)
{
	const struct rcore_census_pool *left = a, *right = b;
	return (left->slot_size > right->slot_size) - (left->slot_size < right->slot_size);
}

struct rcore_error *rcore_census(struct rcore_ruby *ruby, uint64_t objspace,
				 struct rcore_census *ret)
{
	struct rcore_error *err;
	*ret = (struct rcore_census){0};
	struct tally *tallies = make_tallies(ruby);
	if (tallies && ruby->core && rcore_heap_core_scan(ruby, objspace, scan_page, tallies)) {
		err = join(tallies, ruby);
	} else {
		free_tallies(tallies);
		tallies = make_tallies(ruby);
		err = tallies ? walk(tallies, ruby, objspace) : rcore_error_no_memory();
	}
	if (!err) {
		*ret = tallies->census;
		tallies->census = (struct rcore_census){0};
	}
	free_tallies(tallies);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_bytes);
	if (ret->pools.count)
		qsort(ret->pools.items, ret->pools.count, sizeof(*ret->pools.items),
		      by_slot_size);
	return err;
}

void rcore_census_deinit(struct rcore_census *census)
{
	free(census->items);
	free(census->pools.items);
	*census = (struct rcore_census){0};
}
