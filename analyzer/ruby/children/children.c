/* SPDX-License-Identifier: MIT */
#include "ruby/children/children_private.h"

#include <stdlib.h>
#include <string.h>

struct rcore_error *rcore_children_init(struct rcore_children *children,
					struct rcore_ruby *ruby, rcore_child_visit *visit,
					void *context)
{
	*children = (struct rcore_children){
		.ruby = ruby,
		.visit = visit,
		.context = context,
		.words = malloc(RCORE_CHILD_WORDS * sizeof(uint64_t)),
	};
	return children->words ? NULL : rcore_error_no_memory();
}

void rcore_children_deinit(struct rcore_children *children)
{
	free(children->words);
}

typedef void family(struct rcore_children *children);

static family *const families[RCORE_T_MASK + 1] = {
	[RCORE_T_OBJECT] = rcore_children_of_object,
	[RCORE_T_CLASS] = rcore_children_of_class,
	[RCORE_T_MODULE] = rcore_children_of_class,
	[RCORE_T_STRING] = rcore_children_of_string,
	[RCORE_T_REGEXP] = rcore_children_of_regexp,
	[RCORE_T_ARRAY] = rcore_children_of_array,
	[RCORE_T_HASH] = rcore_children_of_hash,
	[RCORE_T_STRUCT] = rcore_children_of_struct,
	[RCORE_T_FILE] = rcore_children_of_file,
	[RCORE_T_DATA] = rcore_children_of_data,
	[RCORE_T_MATCH] = rcore_children_of_match,
	[RCORE_T_COMPLEX] = rcore_children_of_complex,
	[RCORE_T_RATIONAL] = rcore_children_of_rational,
	[RCORE_T_SYMBOL] = rcore_children_of_symbol,
	[RCORE_T_IMEMO] = rcore_children_of_imemo,
	[RCORE_T_ICLASS] = rcore_children_of_iclass,
};

/* Floats and Bignums have no references, not even that to their class. */
static bool has_class(const struct rcore_children *children)
{
	switch (children->flags & RCORE_T_MASK) {
	case RCORE_T_FLOAT:
	case RCORE_T_BIGNUM:
	case RCORE_T_IMEMO:
		return false;
	case RCORE_T_SYMBOL:
		return children->ruby->layout->traits.symbols_marked;
	default:
		return true;
	}
}

void rcore_children_of(struct rcore_children *children, uint64_t object, const void *copy,
		       size_t size)
{
	uint64_t flags = 0;
	if (size >= sizeof(flags))
		memcpy(&flags, copy, sizeof(flags));
	children->object = object;
	children->flags = flags;
	children->copy = copy;
	children->size = size;
	children->state = 0;
	children->count = 0;
	enum rcore_type type = flags & RCORE_T_MASK;
	if (!rcore_type_is_used(type))
		return;
	if (children->total >= RCORE_CHILD_TOTAL_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	rcore_children_of_generic(children);
	if (has_class(children)) {
		uint64_t klass = RCORE_CHILD_FIELD(children, basic, klass);
		rcore_child_mark(children, klass, RCORE_EDGE_CLASS, 0);
	}
	if (families[type])
		families[type](children);
}
