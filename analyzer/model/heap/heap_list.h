/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_LIST_H
#define RCORE_MODEL_HEAP_LIST_H

#include "model/printed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `rcore heap --class`: the objects of a class. */
struct rcore_heap_instance {
	uint64_t address;
	uint64_t bytes; /* of its slot and its C memory */
	/* How many collections it has survived; an old object: 3. */
	unsigned age;
	bool is_size_unknown; /* of its C memory: an extension's */
};

struct rcore_heap_list {
	const char *klass;
	uint64_t total;        /* objects of the class */
	uint64_t count, bytes; /* of those that meet the conditions */
	/* By address, as many as print.count: the first ones. */
	struct rcore_heap_instance *items;
	uint64_t absent_pages;
	struct rcore_print print; /* their inspect; its arena has all */
};

#endif
