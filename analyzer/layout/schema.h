/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_SCHEMA_H
#define RCORE_LAYOUT_SCHEMA_H

#include "layout/layout.h"
#include "target/machine.h"

/*
 * fields.def as an array, in its order, for the parser, the printer and the
 * DWARF reader. Private to layout/.
 */
enum rcore_item_kind {
	RCORE_ITEM_STRUCT, /* uint32_t in the layout: the size */
	RCORE_ITEM_FIELD,  /* struct rcore_field */
	RCORE_ITEM_ENUM,   /* int64_t */
};

struct rcore_item {
	enum rcore_item_kind kind;
	const char *group; /* the struct's id; "" for an enumerator */
	/* The id of the field or enumerator; "" for a struct. */
	const char *id;
	/* DWARF names or paths, separated by '|', newest first. */
	const char *names;
	size_t where; /* offset in struct rcore_layout */
	/* For a struct: the offsets of its is_borrowed and is_unmeasured. */
	size_t borrowed, unmeasured;
};

extern const struct rcore_item rcore_items[];
extern const size_t rcore_item_count;

/* Return the item's place in a layout, by type. */
uint32_t *rcore_item_size(struct rcore_layout *layout, const struct rcore_item *item);
bool *rcore_item_borrowed(struct rcore_layout *layout, const struct rcore_item *item);
bool *rcore_item_unmeasured(struct rcore_layout *layout, const struct rcore_item *item);
struct rcore_field *rcore_item_field(struct rcore_layout *layout,
				     const struct rcore_item *item);
int64_t *rcore_item_constant(struct rcore_layout *layout, const struct rcore_item *item);

/* "3.3.1..3.3.6", or "3.3.0": the releases that a layout was measured on. */
enum { RCORE_RANGE_TEXT = 80 };
void rcore_layout_print_range(const struct rcore_layout *layout, char ret[RCORE_RANGE_TEXT]);

/*
 * Does the same as rcore_layout_parse(), for a text that may lack items and the
 * machine: these are copied from `base`. If that is NULL, what is missing is
 * unmeasured.
 */
struct rcore_error *rcore_layout_parse_over(const struct rcore_layout *base, const char *text,
					    const char *origin, struct rcore_layout *ret);

/* What a layout knows about an item; SETS one to unmeasured, or to absent. */
bool rcore_item_is_measured(const struct rcore_layout *layout, const struct rcore_item *item);
void rcore_item_set_unmeasured(struct rcore_layout *layout, const struct rcore_item *item);
void rcore_item_set_absent(struct rcore_layout *layout, const struct rcore_item *item);

/* "struct vm", "vm.main_thread" or "enum qnil". */
enum { RCORE_ITEM_TEXT = 96 };
void rcore_item_print(const struct rcore_item *item, char ret[RCORE_ITEM_TEXT]);

/*
 * Set up a layout in which nothing is measured, and one of a Ruby that has no
 * item of fields.def.
 */
void rcore_layout_init(struct rcore_layout *ret);
void rcore_layout_init_absent(struct rcore_layout *ret);

#endif
