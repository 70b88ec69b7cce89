/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MALLOC_JEMALLOC_H
#define RCORE_MALLOC_JEMALLOC_H

#include "malloc/chunks.h"

/*
 * jemalloc 5.1 to 5.3, on 64-bit machines (include/jemalloc/internal/ of its
 * sources).
 *
 * It divides its memory into extents, which are runs of pages. An extent in use
 * is either a slab of regions of one size or one large allocation. Sizes come
 * from a fixed list (sc.h), and an extent stores an index into it. From 5.3.1
 * on, a large size is any number of pages up to that of its class. Large
 * extents have an extra page if the allocation may start within a page. A
 * struct (edata_t, in edata.h; up to 5.2 extent_t, in extent_structs.h)
 * describes an extent:
 *
 * 	0	from the lowest bit on: the arena's number (12 bits), whether
 * 		it is a slab, three or four flags, the state (0: in use), the
 * 		size class (8 bits), how many regions of a slab are free
 * 	8	address; a large allocation may start within the first page
 * 	16	size, and a number in the lowest 12 bits
 * 	64	a map of a slab's regions; a bit is set if the region is free
 *
 * A radix tree (rtree.h) leads from the number of a page to its extent. Each
 * extent has entries for its first and last page, and a slab has entries for
 * all its pages. The root of the tree is an array in the library's data,
 * without a symbol. The address of an extent shows at which index of the root
 * the word that leads to it must be. So rcore tries each word of the data, and
 * checks where it leads.
 *
 * Freed regions first go into caches of threads (cache_bin.h), and their slabs
 * still count them as used. An arena has a ring of its threads' caches.
 */
enum {
	RCORE_JE_CLASSES = 232, /* SC_NSIZES */
	RCORE_JE_LEVELS = 3,
	RCORE_JE_MAP = 64,        /* from the start of an extent */
	RCORE_JE_MAP_WORDS = 128, /* with pages of 64 KiB */
};

/* jemalloc's sources call an array of entries of the last level a leaf. */
struct rcore_je_shape {
	uint8_t lg_page;
	uint8_t lg_address; /* significant bits of an address */
	uint8_t levels;
	uint8_t bits[RCORE_JE_LEVELS]; /* of the index in each level */
	uint8_t leaf_entry;            /* bytes */
	/*
	 * The entry also stores the size class, in the bits above the extent's
	 * address.
	 */
	bool is_compact;
};

enum rcore_je_caches {
	RCORE_JE_CACHES_COUNTED, /* up to 5.2: a cache has a count of regions */
	RCORE_JE_CACHES_POINTED, /* from 5.3 on: it has addresses */
};

/* Where the bits of an extent are. */
struct rcore_je_release {
	uint8_t state, state_width;
	uint8_t size_class;
	uint8_t free_count;
	uint8_t caches; /* enum rcore_je_caches */
};

struct rcore_je {
	const struct rcore_malloc_source *source;
	const struct rcore_je_shape *shape;
	const struct rcore_je_release *release;
	uint64_t root;
	uint64_t sizes[RCORE_JE_CLASSES];
	unsigned slab_classes; /* smaller classes are in slabs */
	uint64_t padding;      /* what a large extent has more than its size */
	/*
	 * How many pages of tables may still be read. A corrupt tree could be
	 * endless.
	 */
	uint64_t budget;
};

/* How much of the tree was read. */
struct rcore_je_walked {
	bool is_tree;     /* false: nothing was visited */
	bool is_complete; /* false: parts of it are not in the core */
};

enum rcore_je_verdict {
	RCORE_JE_UNUSED, /* free, or in transition */
	RCORE_JE_VALID,
	RCORE_JE_WRONG,
};

/* An extent in use. */
struct rcore_je_extent {
	uint64_t address;    /* of its first region */
	uint64_t start, end; /* of its pages */
	unsigned arena, size_class;
	uint64_t size; /* of a region */
	bool is_slab;
	unsigned regions, free_regions;
	uint64_t free[RCORE_JE_MAP_WORDS];
};

/* Fills je->sizes for je->shape. */
void rcore_je_set_sizes(struct rcore_je *je);

/* Whether a region of `size` bytes is one of this size class. */
static inline bool rcore_je_is_of_class(const struct rcore_je *je, uint64_t size,
					unsigned size_class)
{
	return size == je->sizes[size_class] ||
	       (size_class >= je->slab_classes && size < je->sizes[size_class] &&
		size > je->sizes[size_class - 1]);
}

/*
 * Finds the tree in the data: sets shape, release, padding and root. *ret is
 * false if there is none. Error: NO_MEMORY.
 */
struct rcore_error *rcore_je_find_tree(struct rcore_je *je, bool *ret);

/*
 * Reads the extent that an entry of the tree points to. If the extent is unused
 * or wrong, sets only its range, which is empty if that is wrong, too.
 */
enum rcore_je_verdict rcore_je_read_extent(const struct rcore_je *je, uint64_t entry,
					   struct rcore_je_extent *ret);

/* The address of an extent in an entry of the tree. */
uint64_t rcore_je_extent_of(const struct rcore_je_shape *shape, uint64_t entry);

/*
 * Calls `visit` for each extent of the tree that is in use or wrong, until it
 * returns false; `extent` is NULL for a wrong one. Error: NO_MEMORY.
 */
typedef bool rcore_je_visit(void *context, const struct rcore_je_extent *extent);
struct rcore_error *rcore_je_walk(struct rcore_je *je, rcore_je_visit *visit, void *context,
				  struct rcore_je_walked *ret);

/*
 * Changes the states of regions that are in a thread's cache. `heap` is sorted.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_je_mark_cached(const struct rcore_je *je, struct rcore_malloc *heap);

/* The size of a level of the tree, in bytes. */
static inline uint64_t rcore_je_level_size(const struct rcore_je_shape *shape, unsigned level)
{
	uint64_t entry = level + 1 == shape->levels ? shape->leaf_entry : 8;
	return entry << shape->bits[level];
}

/* How many bits of an address are below the index of a level. */
static inline unsigned rcore_je_shift(const struct rcore_je_shape *shape, unsigned level)
{
	unsigned shift = shape->lg_page;
	for (unsigned i = level + 1; i < shape->levels; i++)
		shift += shape->bits[i];
	return shift;
}

#endif
