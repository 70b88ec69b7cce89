/* SPDX-License-Identifier: MIT */
/*
 * Arrays, Hashes, Strings and other values: gc_mark_children() and mark_hash()
 * of gc.c.
 */
#include "ruby/children/children_private.h"

#include "ruby/object/array.h"
#include "ruby/object/hash.h"
#include "ruby/object/shape.h"
#include "ruby/object/struct.h"

void rcore_children_of_array(struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t elements, length;
	if (children->flags & layout->traits.shared_flag &&
	    !(children->flags & RCORE_FL_USER(1))) {
		RCORE_CHILD_MARK(children, array, shared_root);
		return;
	}
	struct rcore_error *err =
		rcore_array(children->ruby, children->object, &elements, &length);
	if (!err)
		rcore_child_mark_values(children, elements, length, RCORE_EDGE_ELEMENT);
	rcore_child_failed(children, err);
}

void rcore_children_of_hash(struct rcore_children *children)
{
	struct rcore_hash_iterator iterator;
	uint64_t key, value, place = 0;
	bool found = true;
	struct rcore_error *err = rcore_hash_begin(&iterator, children->ruby, children->object);
	if (!err && iterator.is_st)
		rcore_child_count_table(children, iterator.st.bound - iterator.st.index);
	for (; !err && found; place++) {
		err = rcore_hash_next(&iterator, &found, &key, &value);
		if (err || !found)
			break;
		rcore_child_mark(children, key, RCORE_EDGE_KEY, place);
		rcore_child_mark(children, value, RCORE_EDGE_VALUE, place);
	}
	rcore_child_failed(children, err);
	rcore_child_mark_named(children, RCORE_CHILD_FIELD(children, hash, ifnone), "default");
}

void rcore_children_of_string(struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t shared =
		(uint64_t)layout->constant.string_noembed | layout->traits.shared_flag;
	if ((children->flags & shared) == shared)
		RCORE_CHILD_MARK(children, string, shared);
}

void rcore_children_of_symbol(struct rcore_children *children)
{
	if (children->ruby->layout->traits.symbols_marked)
		RCORE_CHILD_MARK(children, symbol, fstr);
}

void rcore_children_of_struct(struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t members, count;
	struct rcore_error *err =
		rcore_struct(children->ruby, children->object, &members, &count);
	if (!err)
		rcore_child_mark_values(children, members, count, RCORE_EDGE_ELEMENT);
	rcore_child_failed(children, err);
	if (err || !rcore_has(&layout->rstruct.fields_obj))
		return;
	/* rb_shape_obj_has_fields(), RSTRUCT_FIELDS_OBJ of internal/struct.h */
	uint32_t too_complex = (uint32_t)layout->constant.shape_id_fl_too_complex;
	uint32_t mask = layout->traits.shape_id_mask | too_complex;
	if (!(rcore_shape_id(children->flags) & mask) ||
	    children->flags & layout->traits.struct_gen_fields_flag)
		return;
	bool embedded = members - children->object < children->size;
	uint64_t place =
		embedded ? members + count * sizeof(uint64_t)
			 : children->object + (uint64_t)layout->rstruct.fields_obj.offset;
	uint64_t fields;
	if (rcore_read_u64(children->ruby->memory, place, &fields))
		children->state |= RCORE_HEAP_PARTIAL;
	else
		rcore_child_mark_named(children, fields, "instance variables");
}

void rcore_children_of_file(struct rcore_children *children)
{
	uint64_t io = RCORE_CHILD_FIELD(children, file, fptr);
	if (!io)
		return;
	RCORE_CHILD_MARK_AT(children, io, io, self);
	RCORE_CHILD_MARK_AT(children, io, io, pathv);
	RCORE_CHILD_MARK_AT(children, io, io, tied_io);
	RCORE_CHILD_MARK_AT(children, io, io, asciicompat);
	RCORE_CHILD_MARK_AT(children, io, io, pre_ecopts);
	RCORE_CHILD_MARK_AT(children, io, io, ecopts);
	RCORE_CHILD_MARK_AT(children, io, io, write_lock);
	RCORE_CHILD_MARK_AT(children, io, io, timeout);
	RCORE_CHILD_MARK_AT(children, io, io, wakeup_mutex);
}

void rcore_children_of_regexp(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, regexp, src);
}

void rcore_children_of_match(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, match, regexp);
	RCORE_CHILD_MARK(children, match, str);
}

void rcore_children_of_rational(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, rational, num);
	RCORE_CHILD_MARK(children, rational, den);
}

void rcore_children_of_complex(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, complex_, real);
	RCORE_CHILD_MARK(children, complex_, imag);
}
