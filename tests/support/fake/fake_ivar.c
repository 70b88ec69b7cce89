/* SPDX-License-Identifier: MIT */
#include "fake_ivar.h"

#include <stdlib.h>
#include <string.h>

#include "ruby/object/value.h"

#define PUT(ruby, base, struct_id, id, value) \
	fake_put_field(&(ruby)->target, base, &(ruby)->layout.struct_id.id, value)

enum {
	SHAPE_COUNT = 1024,
	FIRST_SHAPES = 16, /* that a process begins with */
	SHAPE_ID_SHIFT = 32,
	TABLE_WITHOUT_BINS = 16,
	TYPE_FROZEN = 2,
	NAME_COUNT = 16,
};

static uint64_t number_hash(uint64_t key)
{
	return (key >> 11 | key << 3) ^ key >> 3;
}

/* The secondary hash of st.c. */
static void put_bin(struct fake_ruby *ruby, uint64_t bins, unsigned power, unsigned size,
		    uint64_t key, uint64_t entry)
{
	uint64_t mask = (UINT64_C(1) << power) - 1, perturb = number_hash(key);
	uint64_t index = perturb & mask, bin;
	for (;;) {
		bin = 0;
		rcore_read(&ruby->target.memory, bins + index * size, &bin, size);
		if (!bin)
			break;
		perturb >>= 11;
		index = (index * 5 + perturb + 1) & mask;
	}
	bin = entry + 2;
	fake_write(&ruby->target, bins + index * size, &bin, size);
}

uint64_t fake_st_table(struct fake_ruby *ruby, const struct fake_ivar *entries, size_t count,
		       size_t deleted)
{
	size_t size = ruby->layout.st_entry.size;
	unsigned power = 2;
	while ((size_t)1 << power < count)
		power++;
	uint64_t table = fake_alloc(&ruby->target, ruby->layout.st_table.size, 8);
	uint64_t array = fake_alloc(&ruby->target, size << power, 8), bins = 0;
	unsigned bin_size = power < 8 ? 1 : 2;
	if (count > TABLE_WITHOUT_BINS)
		bins = fake_alloc(&ruby->target, (size_t)bin_size << (power + 1), 8);
	PUT(ruby, table, st_table, entry_power, power);
	PUT(ruby, table, st_table, bin_power, power + 1);
	PUT(ruby, table, st_table, size_ind, bin_size - 1);
	PUT(ruby, table, st_table, num_entries, count - deleted);
	PUT(ruby, table, st_table, entries_start, deleted / 2);
	PUT(ruby, table, st_table, entries_bound, count);
	PUT(ruby, table, st_table, entries, array);
	PUT(ruby, table, st_table, bins, bins);
	for (size_t i = 0; i < count; i++) {
		uint64_t entry = array + i * size;
		PUT(ruby, entry, st_entry, hash,
		    i < deleted ? UINT64_MAX : number_hash(entries[i].id));
		PUT(ruby, entry, st_entry, key, entries[i].id);
		PUT(ruby, entry, st_entry, record, entries[i].value);
		if (!bins)
			continue;
		put_bin(ruby, bins, power + 1, bin_size, entries[i].id, i);
	}
	/* The bin of a deleted entry contains DELETED_BIN. */
	for (size_t i = 0; bins && i < (size_t)1 << (power + 1); i++) {
		uint64_t bin = 0, gone = 1;
		rcore_read(&ruby->target.memory, bins + i * bin_size, &bin, bin_size);
		if (bin >= 2 && bin - 2 < deleted)
			fake_write(&ruby->target, bins + i * bin_size, &gone, bin_size);
	}
	return table;
}

static uint32_t add_shape(struct fake_ruby *ruby, uint64_t type, uint64_t edge, uint64_t next,
			  uint64_t parent)
{
	uint64_t id = ruby->shape_count++;
	uint64_t at = ruby->shapes + id * ruby->layout.shape.size;
	if (id >= SHAPE_COUNT)
		abort();
	PUT(ruby, at, shape, type, type);
	PUT(ruby, at, shape, edge_name, edge);
	PUT(ruby, at, shape, next_index, next);
	PUT(ruby, at, shape, parent_id, parent);
	PUT(ruby, ruby->shape_tree, shape_tree, next_shape_id, ruby->shape_count);
	return (uint32_t)id;
}

void fake_make_shapes(struct fake_ruby *ruby)
{
	const struct rcore_layout *layout = &ruby->layout;
	if (!layout->traits.shapes)
		return;
	bool in_vm = rcore_has(&layout->vm.shape_list);
	uint64_t type_ivar = (uint64_t)layout->constant.shape_ivar;
	ruby->shapes = fake_alloc(&ruby->target, SHAPE_COUNT * layout->shape.size, 8);
	ruby->shape_tree = layout->traits.shape_tree_is_struct
				   ? ruby->statics + 16
				   : fake_alloc(&ruby->target, 128, 8);
	PUT(ruby, ruby->shape_tree, shape_tree, shape_list, ruby->shapes);
	PUT(ruby, ruby->shape_tree, shape_tree, root_shape, ruby->shapes);
	if (!in_vm && !layout->traits.shape_tree_is_struct)
		fake_put(&ruby->target, ruby->statics + 16, ruby->shape_tree);
	add_shape(ruby, (uint64_t)layout->constant.shape_root, 0, 0, UINT32_MAX);
	if (layout->constant.shape_too_complex != RCORE_NO_CONSTANT)
		ruby->too_complex =
			add_shape(ruby, (uint64_t)layout->constant.shape_too_complex, 0, 0, 0);
	else
		ruby->too_complex = (uint32_t)layout->constant.shape_id_fl_too_complex;
	while (ruby->shape_count < FIRST_SHAPES)
		add_shape(ruby, type_ivar, fake_id(ruby, "@first"), 1, 0);
}

uint32_t fake_shape(struct fake_ruby *ruby, const struct fake_ivar *ivars, size_t count)
{
	uint32_t parent = 0;
	for (size_t i = 0; i < count; i++) {
		parent = add_shape(ruby, (uint64_t)ruby->layout.constant.shape_ivar,
				   ivars[i].id, i + 1, parent);
		/* A shape that adds nothing, in between. */
		if (i == 0)
			parent = add_shape(ruby, TYPE_FROZEN, 0, 1, parent);
	}
	return parent;
}

static void set_shape(struct fake_ruby *ruby, uint64_t object, uint32_t id)
{
	fake_write(&ruby->target, object + 4, &id, sizeof(id));
}

static void add_flags(struct fake_ruby *ruby, uint64_t object, uint64_t more)
{
	uint64_t flags = 0;
	rcore_read_u64(&ruby->target.memory, object, &flags);
	fake_put(&ruby->target, object, flags | more);
}

static uint64_t values_of(struct fake_ruby *ruby, const struct fake_ivar *ivars, size_t count)
{
	uint64_t values = fake_alloc(&ruby->target, (count + 1) * sizeof(uint64_t), 8);
	for (size_t i = 0; i < count; i++)
		fake_put(&ruby->target, values + i * sizeof(uint64_t), ivars[i].value);
	return values;
}

/* iv_index_tbl up to 3.1; in 3.0 and 3.1, it leads to an entry. */
static uint64_t index_table(struct fake_ruby *ruby, const struct fake_ivar *ivars, size_t count)
{
	struct fake_ivar indices[NAME_COUNT];
	if (count > NAME_COUNT)
		abort();
	for (size_t i = 0; i < count; i++) {
		indices[i] = (struct fake_ivar){ivars[i].id, i};
		if (!rcore_has(&ruby->layout.iv_index.index))
			continue;
		indices[i].value = fake_alloc(&ruby->target, ruby->layout.iv_index.size, 8);
		PUT(ruby, indices[i].value, iv_index, index, i);
	}
	return fake_st_table(ruby, indices, count, 0);
}

/* Up to 3.1, these are of the class, not of its singleton class. */
static void set_class_indices(struct fake_ruby *ruby, uint64_t object, uint64_t table)
{
	uint64_t klass = 0, flags = 0, ext = 0;
	rcore_read_field(&ruby->target.memory, object, &ruby->layout.basic.klass, &klass);
	for (;;) {
		rcore_read_u64(&ruby->target.memory, klass, &flags);
		if (!(flags & ruby->layout.traits.singleton_flag))
			break;
		rcore_read_field(&ruby->target.memory, klass, &ruby->layout.klass.super,
				 &klass);
	}
	rcore_read_field(&ruby->target.memory, klass, &ruby->layout.klass.ptr, &ext);
	PUT(ruby, ext, classext, iv_index_tbl, table);
}

/* A T_OBJECT, or an imemo of fields. */
static void set_object(struct fake_ruby *ruby, uint64_t object, enum fake_ivar_storage storage,
		       const struct fake_ivar *ivars, size_t count)
{
	const struct rcore_layout *layout = &ruby->layout;
	uint64_t ary = object + (uint64_t)layout->object.ary.offset;
	bool has_heap_flag = layout->constant.robject_heap != RCORE_NO_CONSTANT;
	if (storage == FAKE_IVAR_EMBEDDED && !has_heap_flag)
		add_flags(ruby, object, (uint64_t)layout->constant.robject_embed);
	if (storage != FAKE_IVAR_EMBEDDED && has_heap_flag)
		add_flags(ruby, object, (uint64_t)layout->constant.robject_heap);
	if (storage == FAKE_IVAR_TOO_COMPLEX && layout->traits.shapes) {
		PUT(ruby, object, object, ivptr, fake_st_table(ruby, ivars, count, 0));
		set_shape(ruby, object, ruby->too_complex);
		return;
	}
	if (storage == FAKE_IVAR_EMBEDDED)
		for (size_t i = 0; i < count; i++)
			fake_put(&ruby->target, ary + i * sizeof(uint64_t), ivars[i].value);
	else
		PUT(ruby, object, object, ivptr, values_of(ruby, ivars, count));
	if (layout->traits.shapes) {
		set_shape(ruby, object, fake_shape(ruby, ivars, count));
		return;
	}
	uint64_t indices = index_table(ruby, ivars, count);
	set_class_indices(ruby, object, indices);
	if (storage != FAKE_IVAR_EMBEDDED) {
		PUT(ruby, object, object, numiv, count);
		PUT(ruby, object, object, iv_index_tbl, indices);
	}
}

static uint64_t fields_imemo(struct fake_ruby *ruby, uint64_t owner,
			     enum fake_ivar_storage storage, const struct fake_ivar *ivars,
			     size_t count)
{
	uint64_t imemo = fake_imemo(ruby, (unsigned)ruby->layout.constant.imemo_fields,
				    16 + count * sizeof(uint64_t));
	PUT(ruby, imemo, basic, klass, owner);
	set_object(ruby, imemo, storage, ivars, count);
	return imemo;
}

static void set_class(struct fake_ruby *ruby, uint64_t klass, enum fake_ivar_storage storage,
		      const struct fake_ivar *ivars, size_t count)
{
	const struct rcore_layout *layout = &ruby->layout;
	uint64_t ext = klass + layout->klass.size;
	if (rcore_has(&layout->klass.ptr))
		rcore_read_field(&ruby->target.memory, klass, &layout->klass.ptr, &ext);
	if (rcore_has(&layout->classext.iv_tbl)) {
		PUT(ruby, ext, classext, iv_tbl, fake_st_table(ruby, ivars, count, 0));
	} else if (rcore_has(&layout->classext.fields_obj)) {
		PUT(ruby, ext, classext, fields_obj,
		    fields_imemo(ruby, klass, storage, ivars, count));
	} else if (storage == FAKE_IVAR_TOO_COMPLEX) {
		PUT(ruby, ext, classext, iv_ptr, fake_st_table(ruby, ivars, count, 0));
		set_shape(ruby, klass, ruby->too_complex);
	} else {
		PUT(ruby, ext, classext, iv_ptr, values_of(ruby, ivars, count));
		set_shape(ruby, klass, fake_shape(ruby, ivars, count));
	}
}

static void add_generic(struct fake_ruby *ruby, uint64_t object, uint64_t record)
{
	if (ruby->generic_count >= FAKE_GENERIC_COUNT)
		abort();
	ruby->generic[ruby->generic_count][0] = object;
	ruby->generic[ruby->generic_count++][1] = record;
}

/* Up to 3.4. */
static void set_generic(struct fake_ruby *ruby, uint64_t object, enum fake_ivar_storage storage,
			const struct fake_ivar *ivars, size_t count)
{
	const struct rcore_layout *layout = &ruby->layout;
	bool complex = storage == FAKE_IVAR_TOO_COMPLEX && rcore_has(&layout->gen_ivtbl.table);
	uint64_t values = (uint64_t)layout->gen_ivtbl.ivptr.offset;
	uint64_t table = fake_alloc(&ruby->target, values + (count + 1) * sizeof(uint64_t), 8);
	add_flags(ruby, object, (uint64_t)layout->constant.fl_exivar);
	add_generic(ruby, object, table);
	if (complex) {
		PUT(ruby, table, gen_ivtbl, table, fake_st_table(ruby, ivars, count, 0));
		set_shape(ruby, object, ruby->too_complex);
		return;
	}
	PUT(ruby, table, gen_ivtbl, numiv, count);
	for (size_t i = 0; i < count; i++)
		fake_put(&ruby->target, table + values + i * sizeof(uint64_t), ivars[i].value);
	if (layout->traits.shapes)
		set_shape(ruby, object, fake_shape(ruby, ivars, count));
	else
		set_class_indices(ruby, object, index_table(ruby, ivars, count));
}

/* From 4.0 on: the object has the shape of its imemo, too. */
static void set_fields_obj(struct fake_ruby *ruby, uint64_t object, uint64_t flags,
			   enum fake_ivar_storage storage, const struct fake_ivar *ivars,
			   size_t count)
{
	uint64_t typed = (uint64_t)ruby->layout.constant.typed_fl_is_typed_data, shape = 0;
	uint64_t imemo = fields_imemo(ruby, object, storage, ivars, count);
	rcore_read_u64(&ruby->target.memory, imemo, &shape);
	set_shape(ruby, object, (uint32_t)(shape >> SHAPE_ID_SHIFT));
	if ((flags & RCORE_T_MASK) == RCORE_T_DATA && flags & typed)
		PUT(ruby, object, data, fields_obj, imemo);
	else
		add_generic(ruby, object, imemo);
}

void fake_set_ivars(struct fake_ruby *ruby, uint64_t object, enum fake_ivar_storage storage,
		    const struct fake_ivar *ivars, size_t count)
{
	uint64_t flags = 0;
	rcore_read_u64(&ruby->target.memory, object, &flags);
	switch (flags & RCORE_T_MASK) {
	case RCORE_T_OBJECT:
		set_object(ruby, object, storage, ivars, count);
		break;
	case RCORE_T_CLASS:
	case RCORE_T_MODULE:
		set_class(ruby, object, storage, ivars, count);
		break;
	default:
		if (rcore_has(&ruby->layout.gen_ivtbl.ivptr))
			set_generic(ruby, object, storage, ivars, count);
		else
			set_fields_obj(ruby, object, flags, storage, ivars, count);
	}
}

void fake_put_generic_ivars(struct fake_ruby *ruby)
{
	struct fake_ivar entries[FAKE_GENERIC_COUNT];
	for (size_t i = 0; i < ruby->generic_count; i++)
		entries[i] = (struct fake_ivar){ruby->generic[i][0], ruby->generic[i][1]};
	fake_put(&ruby->target, ruby->statics + 8,
		 fake_st_table(ruby, entries, ruby->generic_count, 0));
}
