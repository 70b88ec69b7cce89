/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "malloc/jemalloc.h"

/*
 * jemalloc's configure script chooses the page size and the number of
 * significant bits for the machine.
 */
static const struct rcore_je_shape shapes[] = {
	{12, 48, 2, {18, 18}, 8, true},
	{16, 48, 2, {16, 16}, 8, true},
	{12, 57, 3, {15, 15, 15}, 16, false},
	{14, 48, 2, {17, 17}, 8, true},
};

static const struct rcore_je_release releases[] = {
	{17, 3, 20, 28, RCORE_JE_CACHES_POINTED}, /* from 5.3 on */
	{16, 2, 18, 26, RCORE_JE_CACHES_COUNTED}, /* 5.1 and 5.2 */
};

/* The data has little more than the root, which has 2 MiB. */
enum { DATA_LIMIT = 64 << 20, PAGE = 4096, PAGE_WORDS = PAGE / 8 };

/* Pages that may be read to find the tree; the right one needs about 1000. */
enum { SEARCH_BUDGET = 1 << 20 };

static bool is_aligned(uint64_t table)
{
	return table && table % 64 == 0;
}

/*
 * Reads a page of a table of the tree, if je->budget allows it. If the core
 * lacks a part of it, zeroes that part and returns false.
 */
static bool read_page(struct rcore_je *je, uint64_t address, uint64_t *words)
{
	if (je->budget) {
		je->budget--;
		return rcore_malloc_copy(je->source->memory, address, address + PAGE, words);
	}
	memset(words, 0, PAGE);
	return false;
}

/* Finds the first entry of a table that points to something. */
static bool find_first(struct rcore_je *je, uint64_t table, unsigned level, uint64_t *index,
		       uint64_t *entry)
{
	const struct rcore_je_shape *shape = je->shape;
	const bool is_leaf = level + 1 == shape->levels;
	const uint64_t size = rcore_je_level_size(shape, level);
	const uint64_t entry_size = size >> shape->bits[level];
	uint64_t words[PAGE_WORDS];
	for (uint64_t at = 0; at < size; at += PAGE) {
		/* A table must begin in mapped memory. */
		if (!read_page(je, table + at, words) && !at)
			return false;
		for (uint64_t i = 0; i < PAGE; i += entry_size)
			if (is_leaf ? rcore_je_extent_of(shape, words[i / 8]) : words[i / 8]) {
				*index = (at + i) / entry_size;
				*entry = words[i / 8];
				return true;
			}
	}
	return false;
}

/*
 * Follows the first entries from a word that may belong to the root, down to an
 * extent. Returns the index in the root that the extent's address implies for
 * this word.
 */
static bool find_index(struct rcore_je *je, uint64_t word, uint64_t *ret)
{
	const struct rcore_je_shape *shape = je->shape;
	uint64_t low = 0, at = word, words[3];
	for (unsigned level = 1; level < shape->levels; level++) {
		uint64_t index;
		if (!is_aligned(at) || at >> shape->lg_address ||
		    !find_first(je, at, level, &index, &at))
			return false;
		low = low << shape->bits[level] | index;
	}
	at = rcore_je_extent_of(shape, at);
	if (!is_aligned(at) || rcore_read(je->source->memory, at, words, sizeof(words)) ||
	    words[1] >> shape->lg_address)
		return false;
	unsigned root_shift = rcore_je_shift(shape, 0);
	uint64_t offset =
		(low << shape->lg_page) - (words[1] & ((UINT64_C(1) << root_shift) - 1) &
					   ~((UINT64_C(1) << shape->lg_page) - 1));
	*ret = words[1] >> root_shift;
	return offset < words[2];
}

struct sample {
	size_t valid, wrong;
};

enum { SAMPLE = 2000 };

static bool add_sample(void *context, const struct rcore_je_extent *extent)
{
	struct sample *sample = context;
	if (extent)
		sample->valid++;
	else
		sample->wrong++;
	return sample->valid + sample->wrong < SAMPLE;
}

/* Tolerates a few wrong extents: the corruption may be why the process died. */
static struct rcore_error *fits(struct rcore_je *je, bool *ret)
{
	struct sample sample = {0};
	struct rcore_je_walked walked;
	struct rcore_error *err = rcore_je_walk(je, add_sample, &sample, &walked);
	*ret = !err && walked.is_tree && sample.valid && sample.wrong * 50 <= sample.valid;
	return err;
}

/* Chooses the release, and whether large extents have an extra page. */
static struct rcore_error *choose_release(struct rcore_je *je, bool *ret)
{
	struct rcore_error *err = NULL;
	*ret = false;
	for (size_t i = 0; i < RCORE_COUNT(releases) * 2 && !*ret && !err; i++) {
		je->release = &releases[i / 2];
		je->padding = i % 2 ? 0 : UINT64_C(1) << je->shape->lg_page;
		err = fits(je, ret);
	}
	return err;
}

static struct rcore_error *find_in(struct rcore_je *je, const struct rcore_malloc_range *range,
				   const uint64_t *words, size_t count, bool *ret)
{
	uint64_t tried = 0;
	for (size_t i = 0; i < count && !*ret; i++) {
		uint64_t index, root_size = rcore_je_level_size(je->shape, 0);
		if (!words[i] || !find_index(je, words[i], &index) || index > i ||
		    (i - index) * 8 + root_size > count * 8)
			continue;
		je->root = range->start + (i - index) * 8;
		if (je->root == tried)
			continue;
		tried = je->root;
		struct rcore_error *err = choose_release(je, ret);
		if (err)
			return err;
	}
	return NULL;
}

struct rcore_error *rcore_je_find_tree(struct rcore_je *je, bool *ret)
{
	struct rcore_error *err = NULL;
	*ret = false;
	je->budget = SEARCH_BUDGET;
	for (size_t i = 0; i < je->source->data_count && !*ret && !err; i++) {
		struct rcore_malloc_range range = je->source->data[i];
		range.start = (range.start + 7) & ~UINT64_C(7);
		if (range.end <= range.start || range.end - range.start > DATA_LIMIT)
			continue;
		size_t count = (range.end - range.start) / 8;
		uint64_t *words = rcore_calloc(count, sizeof(*words));
		if (!words)
			return rcore_error_no_memory();
		rcore_malloc_copy(je->source->memory, range.start, range.start + count * 8,
				  words);
		for (size_t k = 0; k < RCORE_COUNT(shapes) && !*ret && !err; k++) {
			je->shape = &shapes[k];
			rcore_je_set_sizes(je);
			err = find_in(je, &range, words, count, ret);
		}
		free(words);
	}
	return err;
}

/* A table of the tree: all pages of its extents begin with `base`. */
struct table {
	uint64_t address, base;
};

struct tables {
	struct table *items;
	size_t count, capacity;
};

static int by_address(const void *a, const void *b)
{
	const struct table *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

/* Adds the tables that `from`, a table of `level`, points to. */
static struct rcore_error *add_tables(struct rcore_je *je, const struct table *from,
				      unsigned level, struct tables *ret, bool *is_complete)
{
	uint64_t words[PAGE_WORDS], size = rcore_je_level_size(je->shape, level);
	for (uint64_t at = 0; at < size; at += PAGE) {
		*is_complete &= read_page(je, from->address + at, words);
		for (uint64_t i = 0; i < PAGE_WORDS; i++) {
			if (!words[i])
				continue;
			struct table *table = rcore_push(ret);
			if (!table)
				return rcore_error_no_memory();
			table->address = words[i];
			table->base =
				from->base + ((at / 8 + i) << rcore_je_shift(je->shape, level));
		}
	}
	return NULL;
}

/*
 * Refuses tables that overlap: they are not a tree, and a walk might not end.
 */
static bool are_apart(struct tables *tables, uint64_t size)
{
	if (tables->count)
		qsort(tables->items, tables->count, sizeof(*tables->items), by_address);
	for (size_t i = 0; i < tables->count; i++)
		if (!is_aligned(tables->items[i].address) ||
		    (i && tables->items[i].address - tables->items[i - 1].address < size))
			return false;
	return true;
}

/* Finds the tables of the last level. */
static struct rcore_error *find_leaves(struct rcore_je *je, struct tables *ret,
				       struct rcore_je_walked *walked)
{
	struct table root = {je->root, 0};
	struct rcore_error *err = add_tables(je, &root, 0, ret, &walked->is_complete);
	for (unsigned level = 1; !err; level++) {
		struct tables next = {0};
		walked->is_tree = are_apart(ret, rcore_je_level_size(je->shape, level));
		if (!walked->is_tree || level + 1 == je->shape->levels)
			break;
		for (size_t i = 0; i < ret->count && !err; i++)
			err = add_tables(je, &ret->items[i], level, &next,
					 &walked->is_complete);
		free(ret->items);
		*ret = next;
	}
	return err;
}

struct visiting {
	struct rcore_je *je;
	struct rcore_je_extent extent;
	rcore_je_visit *visit;
	void *context;
};

/*
 * Visits the extent whose first page has this entry. Returns false if `visit`
 * did.
 */
static bool visit_entry(struct visiting *visiting, uint64_t page, uint64_t entry)
{
	struct rcore_je_extent *extent = &visiting->extent;
	enum rcore_je_verdict verdict = rcore_je_read_extent(visiting->je, entry, extent);
	if (verdict == RCORE_JE_UNUSED || (extent->start < page && page < extent->end))
		return true;
	bool is_valid = verdict == RCORE_JE_VALID && extent->start == page;
	return visiting->visit(visiting->context, is_valid ? extent : NULL);
}

static bool walk_leaf(struct visiting *visiting, const struct table *leaf, bool *is_complete)
{
	const struct rcore_je_shape *shape = visiting->je->shape;
	uint64_t words[PAGE_WORDS], last = 0;
	uint64_t size = rcore_je_level_size(shape, shape->levels - 1);
	for (uint64_t at = 0; at < size; at += PAGE) {
		*is_complete &= read_page(visiting->je, leaf->address + at, words);
		for (uint64_t i = 0; i < PAGE; i += shape->leaf_entry) {
			uint64_t entry = words[i / 8];
			uint64_t number = (at + i) / shape->leaf_entry;
			/*
			 * A slab repeats its entry for all its pages. A removed
			 * entry keeps its size class.
			 */
			if (!rcore_je_extent_of(shape, entry) || entry == last)
				continue;
			last = entry;
			if (!visit_entry(visiting, leaf->base + (number << shape->lg_page),
					 entry))
				return false;
		}
	}
	return true;
}

struct rcore_error *rcore_je_walk(struct rcore_je *je, rcore_je_visit *visit, void *context,
				  struct rcore_je_walked *ret)
{
	struct visiting visiting = {.je = je, .visit = visit, .context = context};
	struct tables leaves = {0};
	*ret = (struct rcore_je_walked){.is_complete = true};
	struct rcore_error *err = find_leaves(je, &leaves, ret);
	for (size_t i = 0; i < leaves.count && !err && ret->is_tree; i++)
		if (!walk_leaf(&visiting, &leaves.items[i], &ret->is_complete))
			break;
	free(leaves.items);
	return err;
}
