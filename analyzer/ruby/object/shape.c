/* SPDX-License-Identifier: MIT */
#include "ruby/object/shape.h"

#include <inttypes.h>

#include "ruby/search.h"
#include "ruby/object/value.h"

enum {
	SHAPE_SIZE_LIMIT = 128,
	PROOF_COUNT = 64, /* shapes that a check reads */
	PROOF_LEAST = 4,  /* 4.0 has hundreds with its gems, a dozen without */
	SEARCH_LIMIT = 2,
	TYPE_LIMIT = 6, /* the highest shape_type of any release */
};

/* The fields of a struct rb_shape, as they are in memory. */
struct raw_shape {
	uint64_t edge, next, type, parent;
};

static bool raw_shape_of(const struct rcore_layout *layout, const void *copy,
			 struct raw_shape *ret)
{
	size_t size = layout->shape.size;
	return rcore_field_of(copy, size, &layout->shape.edge_name, &ret->edge) &&
	       rcore_field_of(copy, size, &layout->shape.next_index, &ret->next) &&
	       rcore_field_of(copy, size, &layout->shape.type, &ret->type) &&
	       rcore_field_of(copy, size, &layout->shape.parent_id, &ret->parent);
}

/*
 * Checks the first shapes of a list: the root comes first, and each shape comes
 * after its parent. (Shapes of type SHAPE_T_OBJECT have no parent: each of them
 * represents a size of slots.)
 */
static bool prove_shapes(struct rcore_ruby *ruby, uint64_t list, uint64_t count)
{
	const struct rcore_layout *layout = ruby->layout;
	unsigned char bytes[PROOF_COUNT * SHAPE_SIZE_LIMIT];
	size_t size = layout->shape.size;
	uint64_t last_index = 0;
	struct raw_shape shape;
	if (count < PROOF_LEAST || count > RCORE_SHAPE_COUNT_LIMIT || !size ||
	    size > SHAPE_SIZE_LIMIT)
		return false;
	if (count > PROOF_COUNT)
		count = PROOF_COUNT;
	if (rcore_read(ruby->memory, list, bytes, count * size))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		if (!raw_shape_of(layout, bytes + i * size, &shape))
			return false;
		bool is_root = (int64_t)shape.type == layout->constant.shape_root;
		bool has_parent = shape.parent != RCORE_NO_SHAPE;
		if ((i == 0 && (!is_root || has_parent || shape.next)) ||
		    (has_parent && (shape.parent & layout->traits.shape_id_mask) >= i) ||
		    shape.type > TYPE_LIMIT || shape.next > i)
			return false;
		last_index += shape.next;
	}
	return last_index > 0;
}

/*
 * Returns whether rb_shape_tree (4.0), or a pointer to one (3.3, 3.4), is at
 * `address`. Sets ruby->shape_list if so.
 */
static bool prove_tree(struct rcore_ruby *ruby, uint64_t address)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t list, root, count;
	if (!layout->traits.shape_tree_is_struct &&
	    rcore_read_u64(ruby->memory, address, &address))
		return false;
	if (!rcore_is_object(ruby, address) ||
	    rcore_read_field(ruby->memory, address, &layout->shape_tree.shape_list, &list) ||
	    rcore_read_field(ruby->memory, address, &layout->shape_tree.root_shape, &root) ||
	    !rcore_is_object(ruby, list) || root != list ||
	    rcore_read_field(ruby->memory, address, &layout->shape_tree.next_shape_id,
			     &count) ||
	    !prove_shapes(ruby, list, count))
		return false;
	ruby->shape_list = list;
	return true;
}

/* Rejects most words without a read: they cannot be an address. */
static bool test(void *context, uint64_t address, const void *copy, size_t size)
{
	struct rcore_ruby *ruby = context;
	const uint64_t *words = copy;
	if (!rcore_is_object(ruby, words[0]) || size < sizeof(*words))
		return false;
	return prove_tree(ruby, address);
}

static void find(struct rcore_ruby *ruby)
{
	struct rcore_statics *statics = &ruby->statics;
	if (statics->shape_tree && prove_tree(ruby, statics->shape_tree))
		return;
	if (statics->searches.shape >= SEARCH_LIMIT)
		return;
	statics->searches.shape++;
	rcore_search_statics(ruby, sizeof(uint64_t), test, ruby, &statics->shape_tree);
}

uint64_t rcore_shape_list(struct rcore_ruby *ruby)
{
	if (!ruby->shape_list)
		find(ruby);
	return ruby->shape_list;
}

struct rcore_error *rcore_shape(struct rcore_ruby *ruby, uint32_t id, struct rcore_shape *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	unsigned char copy[SHAPE_SIZE_LIMIT];
	struct raw_shape shape;
	size_t size = layout->shape.size;
	uint32_t place = id & layout->traits.shape_id_mask;
	if (!layout->traits.shapes || !size || size > sizeof(copy))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED, "layout %s has no shapes",
					  layout->name);
	if (!rcore_shape_list(ruby))
		return rcore_error_create(RCORE_ERROR_FAULT,
					  "the list of shapes was not found");
	if (place >= RCORE_SHAPE_COUNT_LIMIT)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "no shape %" PRIu32, id);
	uint64_t address = ruby->shape_list + place * size;
	enum rcore_fault fault = rcore_read(ruby->memory, address, copy, size);
	if (fault)
		return rcore_fault_error(fault, "rb_shape", address, size);
	if (!raw_shape_of(layout, copy, &shape))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED, "layout %s has no rb_shape",
					  layout->name);
	const int64_t type = (int64_t)shape.type;
	*ret = (struct rcore_shape){
		.is_root = type == layout->constant.shape_root,
		.adds_ivar = type == layout->constant.shape_ivar,
		.is_too_complex = type == layout->constant.shape_too_complex,
		.edge = shape.edge,
		.index = (uint32_t)shape.next - 1,
		.parent = (uint32_t)shape.parent,
	};
	if (layout->constant.shape_id_fl_too_complex != RCORE_NO_CONSTANT)
		ret->is_too_complex = id & (uint64_t)layout->constant.shape_id_fl_too_complex;
	/*
	 * In 3.2 and 3.3, there are several roots. A shape without a parent is
	 * a root, whatever its type is.
	 */
	if (ret->is_root || shape.parent == RCORE_NO_SHAPE)
		ret->is_root = true;
	else if (shape.parent >= RCORE_SHAPE_COUNT_LIMIT || shape.parent == place ||
		 (ret->adds_ivar && !shape.next))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "shape %" PRIu32 " is invalid",
					  id);
	return NULL;
}

uint32_t rcore_shape_of_too_complex(struct rcore_ruby *ruby)
{
	/* Init_default_shapes() makes it after at most 11 others. */
	enum { FIRST_SHAPES = 32 };
	const struct rcore_layout *layout = ruby->layout;
	struct rcore_shape shape;
	if (!layout->traits.shapes || layout->constant.shape_too_complex < 0)
		return RCORE_NO_SHAPE;
	for (uint32_t id = 1; id < FIRST_SHAPES && !ruby->too_complex_shape; id++) {
		rcore_auto_error err = rcore_shape(ruby, id, &shape);
		if (err)
			return RCORE_NO_SHAPE;
		if (shape.is_too_complex)
			ruby->too_complex_shape = id;
	}
	if (!ruby->too_complex_shape)
		ruby->too_complex_shape = RCORE_NO_SHAPE;
	return ruby->too_complex_shape;
}
