/* SPDX-License-Identifier: MIT */
/* Classes with their tables, and shapes. */
#include "proof/check.h"
#include "ruby/object/class.h"
#include "ruby/object/id_table.h"
#include "ruby/object/shape.h"
#include "ruby/object/st_table.h"

static uint64_t ext_of(const struct rcore_samples *s, uint64_t klass)
{
	uint64_t ext = 0;
	rcore_auto_error err = rcore_classext(s->ruby, klass, &ext);
	return rcore_sample_failed(s, err) ? 0 : ext;
}

/*
 * The constants of a class: as many as the table's counter says. Each is a
 * VALUE, or not loaded yet. Not all are Strings: the file names of the
 * definitions are. In a method table, the same place has objects.
 */
CHECK(class_constants)
{
	const struct rcore_layout *layout = layout_of(s);
	struct rcore_id_iterator items;
	uint64_t table, expected, serial, entry, value, count = 0, strings = 0;
	bool found = true;
	if (!get(s, ext_of(s, base), &layout->classext.const_tbl, &table))
		return RCORE_FAILS;
	if (!table)
		return RCORE_SILENT;
	rcore_auto_error err = rcore_id_table_begin(&items, s->ruby, table);
	if (rcore_sample_failed(s, err) || !get(s, table, &layout->id_table.count, &expected))
		return RCORE_FAILS;
	if (!expected || expected > ENTRY_LIMIT)
		return RCORE_SILENT;
	while (!(err = rcore_id_table_next(&items, &found, &serial, &entry)) && found) {
		if (!get(s, entry, &layout->const_entry.value, &value) ||
		    is_object(s, entry, TYPE(IMEMO)) ||
		    (!is_value(s, value) && value != (uint64_t)layout->constant.qundef))
			return RCORE_FAILS;
		strings += !value || is_object(s, value, TYPE(STRING));
		count++;
	}
	bool holds = !rcore_sample_failed(s, err) && count == expected;
	return holds && strings == count ? RCORE_SILENT : verdict_of(holds);
}

/* Up to 3.1, the table of its instance variables, or of its instances'. */
static enum rcore_verdict class_table(const struct rcore_samples *s, uint64_t base,
				      const struct rcore_field *field, bool of_values)
{
	struct rcore_st_iterator entries;
	uint64_t table, expected, key, value, count = 0;
	bool found = true;
	if (!get(s, ext_of(s, base), field, &table))
		return RCORE_FAILS;
	if (!table)
		return RCORE_SILENT;
	rcore_auto_error err = rcore_st_begin(&entries, s->ruby, table, ENTRY_LIMIT);
	if (rcore_sample_failed(s, err) ||
	    !get(s, table, &layout_of(s)->st_table.num_entries, &expected))
		return RCORE_FAILS;
	while (!(err = rcore_st_next(&entries, &found, &key, &value)) && found) {
		if (of_values && !is_value(s, value))
			return RCORE_FAILS;
		count++;
	}
	if (rcore_sample_failed(s, err) || count != expected)
		return RCORE_FAILS;
	return count ? RCORE_HOLDS : RCORE_SILENT;
}

CHECK(class_ivars)
{
	return class_table(s, base, field, true);
}

CHECK(class_indices)
{
	return class_table(s, base, field, false);
}

CHECK(class_super)
{
	return object_of(s, base, field, TYPE(CLASS) | TYPE(ICLASS));
}

CHECK(classext_super)
{
	return object_of(s, ext_of(s, base), field, TYPE(CLASS) | TYPE(ICLASS));
}

/*
 * The class of the object that a singleton class is attached to is this class.
 */
CHECK(class_attached)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t flags, object;
	if (!get(s, base, &layout->basic.flags, &flags) ||
	    !(flags & layout->traits.singleton_flag))
		return RCORE_SILENT;
	if (!get(s, ext_of(s, base), field, &object))
		return RCORE_FAILS;
	return object ? verdict_of(rcore_is_object(s->ruby, object) &&
				   leads(s, object, &layout->basic.klass, base))
		      : RCORE_SILENT;
}

CHECK(class_includer)
{
	return object_of(s, ext_of(s, base), field, TYPE(CLASS) | TYPE(MODULE) | TYPE(ICLASS));
}

CHECK(class_path)
{
	return object_of(s, ext_of(s, base), field, TYPE(STRING));
}

/* If the name is permanent, there is one. */
CHECK(class_path_permanent)
{
	uint64_t ext = ext_of(s, base), permanent;
	if (!get(s, ext, field, &permanent))
		return RCORE_FAILS;
	return permanent ? rcore_check_class_path(s, base, &layout_of(s)->classext.classpath)
			 : RCORE_SILENT;
}

CHECK(class_fields)
{
	return rcore_check_data_fields(s, ext_of(s, base), field);
}

CHECK(classext_pointer)
{
	return rcore_check_pointer_or_null(s, ext_of(s, base), field);
}

/* shape.c checks the tree of shapes when it looks for it. */
CHECK(shape_tree)
{
	struct rcore_shape shape;
	if (!layout_of(s)->traits.shapes)
		return RCORE_SILENT;
	rcore_auto_error err = rcore_shape(s->ruby, 0, &shape);
	bool is_root = !rcore_sample_failed(s, err) && shape.is_root;
	if (!s->ruby->shape_list && !s->ruby->statics.writable_count)
		return RCORE_SILENT; /* there is no place to look for it */
	return verdict_of(is_root);
}
