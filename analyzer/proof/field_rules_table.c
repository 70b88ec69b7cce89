/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the fields of hash tables, and of classes with theirs: a table holds as many entries
 * as it says.
 */
#include "ruby/class.h"
#include "ruby/hash.h"
#include "ruby/id_table.h"
#include "ruby/shape.h"
#include "ruby/st_table.h"
#include "proof/check.h"

enum {
	ENTRY_LIMIT = 4096, /* of tables that are gone through */
	ENTRIES_TO_TELL =
		4, /* where entries lie, and how far apart, a single one does not show */
	ST_TABLE_FLAG = 1 << (RCORE_FL_USHIFT + 3), /* RHASH_ST_TABLE_FLAG */
};

/* Each pair is of VALUEs, and there are as many as are counted. Memory that is not in use is zero, and
 * hardly any key is false. */
static enum rcore_verdict pairs_count(const struct rcore_samples *s, uint64_t hash,
				      bool is_wanted_st, bool is_any)
{
	struct rcore_hash_iterator pairs;
	uint64_t key, value, count = 0;
	bool found = true;
	rcore_auto_error err = rcore_hash_begin(&pairs, s->ruby, hash);
	if (err)
		return err->code == RCORE_ERROR_LIMIT ? RCORE_SILENT : RCORE_FAILS;
	if ((!is_any && pairs.is_st != is_wanted_st) || !pairs.count ||
	    pairs.count > ENTRY_LIMIT || (pairs.is_st && pairs.count < ENTRIES_TO_TELL))
		return RCORE_SILENT;
	while (!(err = rcore_hash_next(&pairs, &found, &key, &value)) && found) {
		if (!key || !is_value(s, key) || !is_value(s, value))
			return RCORE_FAILS;
		count++;
	}
	return told(!err && count == pairs.count);
}

JUDGE(hash_pairs)
{
	return pairs_count(s, base, false, true);
}

JUDGE(hash_small)
{
	return pairs_count(s, base, false, false);
}

JUDGE(hash_large)
{
	return pairs_count(s, base, true, false);
}

/* Tables of up to 16 entries have no bins; the others have twice as many bins as places, each as wide as
 * an index needs (struct st_features of st.c). */
JUDGE(hash_bins)
{
	enum { WITHOUT_BINS = 4 };
	const struct rcore_layout *layout = layout_of(s);
	uint64_t flags, table, power, bin_power, width, bins;
	if (!get(s, base, &layout->basic.flags, &flags) || !(flags & ST_TABLE_FLAG))
		return RCORE_SILENT;
	table = base + layout->hash.size;
	if ((rcore_has(&layout->hash.table) && !get(s, base, &layout->hash.table, &table)) ||
	    !get(s, table, &layout->st_table.entry_power, &power) ||
	    !get(s, table, &layout->st_table.bin_power, &bin_power) ||
	    !get(s, table, &layout->st_table.size_ind, &width) ||
	    !get(s, table, &layout->st_table.bins, &bins))
		return RCORE_FAILS;
	unsigned expected = power < 8 ? 0 : power < 16 ? 1 : power < 32 ? 2 : 3;
	return told(bin_power == power + 1 && width == expected &&
		    (power <= WITHOUT_BINS ? !bins : readable(s, bins)));
}

/* A Set of 4.0. */
JUDGE(set_keys)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t start, bound, entries, expected, count = 0;
	if (!get(s, base, &layout->set_table.num_entries, &expected) ||
	    !get(s, base, &layout->set_table.entries_start, &start) ||
	    !get(s, base, &layout->set_table.entries_bound, &bound) ||
	    !get(s, base, &layout->set_table.entries, &entries) || start > bound)
		return RCORE_FAILS;
	if (bound - start > ENTRY_LIMIT || start == bound)
		return RCORE_SILENT;
	for (; start < bound; start++) {
		uint64_t hash, key, entry = entries + start * layout->set_entry.size;
		if (!get(s, entry, &layout->set_entry.hash, &hash) ||
		    !get(s, entry, &layout->set_entry.key, &key))
			return RCORE_FAILS;
		if (hash == UINT64_MAX)
			continue;
		if (!key || !is_value(s, key))
			return RCORE_FAILS;
		count++;
	}
	return told(count == expected);
}

static uint64_t ext_of(const struct rcore_samples *s, uint64_t klass)
{
	uint64_t ext = 0;
	rcore_auto_error err = rcore_classext(s->ruby, klass, &ext);
	return err ? 0 : ext;
}

/* The constants of a class: as many as the table counts, each a VALUE or not loaded yet, and not all of
 * them Strings, as the files are that they were defined in. A method table has objects in the entries' place. */
JUDGE(class_constants)
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
	if (err || !get(s, table, &layout->id_table.count, &expected))
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
	return !err && count == expected && strings == count ? RCORE_SILENT
							     : told(!err && count == expected);
}

/* Up to 3.1: its instance variables, or where those of its instances are. */
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
	if (err || !get(s, table, &layout_of(s)->st_table.num_entries, &expected))
		return RCORE_FAILS;
	while (!(err = rcore_st_next(&entries, &found, &key, &value)) && found) {
		if (of_values && !is_value(s, value))
			return RCORE_FAILS;
		count++;
	}
	return err || count != expected ? RCORE_FAILS : count ? RCORE_HOLDS : RCORE_SILENT;
}

JUDGE(class_ivars)
{
	return class_table(s, base, field, true);
}

JUDGE(class_indices)
{
	return class_table(s, base, field, false);
}

JUDGE(super_class)
{
	return object_of(s, base, field, TYPE(CLASS) | TYPE(ICLASS));
}

JUDGE(super_of_ext)
{
	return object_of(s, ext_of(s, base), field, TYPE(CLASS) | TYPE(ICLASS));
}

/* The class of what a singleton class is of, is this one. */
JUDGE(attached)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t flags, object;
	if (!get(s, base, &layout->basic.flags, &flags) ||
	    !(flags & layout->traits.singleton_flag))
		return RCORE_SILENT;
	if (!get(s, ext_of(s, base), field, &object))
		return RCORE_FAILS;
	return object ? told(rcore_is_object(s->ruby, object) &&
			     leads(s, object, &layout->basic.klass, base))
		      : RCORE_SILENT;
}

JUDGE(includer)
{
	return object_of(s, ext_of(s, base), field, TYPE(CLASS) | TYPE(MODULE) | TYPE(ICLASS));
}

JUDGE(class_path)
{
	return object_of(s, ext_of(s, base), field, TYPE(STRING));
}

/* What has a name for good, has a name. */
JUDGE(class_path_permanent)
{
	uint64_t ext = ext_of(s, base), permanent;
	if (!get(s, ext, field, &permanent))
		return RCORE_FAILS;
	return permanent ? class_path(s, base, &layout_of(s)->classext.classpath)
			 : RCORE_SILENT;
}

JUDGE(class_fields)
{
	uint64_t fields;
	if (!get(s, ext_of(s, base), field, &fields))
		return RCORE_FAILS;
	return fields ? told(is_imemo(s, fields, (unsigned)layout_of(s)->constant.imemo_fields))
		      : RCORE_SILENT;
}

JUDGE(ext_pointer)
{
	return pointer_or_null(s, ext_of(s, base), field);
}

/* The tree of shapes proves itself where it is looked for (rcore_shapes_prove()). */
JUDGE(shapes)
{
	struct rcore_shape shape;
	if (!layout_of(s)->traits.shapes)
		return RCORE_SILENT;
	rcore_auto_error err = rcore_shape(s->ruby, 0, &shape);
	if (!s->ruby->shape_list && !s->ruby->statics.writable_count)
		return RCORE_SILENT; /* nowhere to look for it */
	return told(!err && shape.is_root);
}

const struct rcore_field_rule rcore_table_rules[] = {
	RULE(hash, table, hash_pairs),
	RULE_ON(hash, ar_table, pairs, hash_small),
	RULE_ON(hash, ar_pair, hash, hash_small),
	RULE_ON(hash, ar_pair, key, hash_small),
	RULE_ON(hash, ar_pair, value, hash_small),
	RULE_ON(hash, st_table, entry_power, hash_bins),
	RULE_ON(hash, st_table, bin_power, hash_bins),
	RULE_ON(hash, st_table, size_ind, hash_bins),
	RULE_ON(hash, st_table, bins, hash_bins),
	RULE_ON(hash, st_table, num_entries, hash_large),
	RULE_ON(hash, st_table, entries_start, hash_large),
	RULE_ON(hash, st_table, entries_bound, hash_large),
	RULE_ON(hash, st_table, entries, hash_large),
	RULE_ON(hash, st_entry, hash, hash_large),
	RULE_ON(hash, st_entry, key, hash_large),
	RULE_ON(hash, st_entry, record, hash_large),
	RULE(set_table, num_entries, set_keys),
	RULE(set_table, entries_start, set_keys),
	RULE(set_table, entries_bound, set_keys),
	RULE(set_table, entries, set_keys),
	RULE_ON(set_table, set_entry, hash, set_keys),
	RULE_ON(set_table, set_entry, key, set_keys),
	RULE(klass, super, super_class),
	RULE(klass, ptr, class_constants),
	RULE_ON(klass, klass_and_ext, classext, class_constants),
	RULE_ON(klass, classext, super, super_of_ext),
	RULE_ON(klass, classext, iv_tbl, class_ivars),
	RULE_ON(klass, classext, iv_index_tbl, class_indices),
	RULE_ON(klass, classext, const_tbl, class_constants),
	RULE_ON(klass, classext, iv_ptr, ext_pointer),
	RULE_ON(klass, classext, fields_obj, class_fields),
	RULE_ON(klass, classext, attached_object, attached),
	RULE_ON(iclass, classext, includer, includer),
	RULE_ON(klass, classext, classpath, class_path),
	RULE_ON(klass, classext, permanent_classpath, class_path_permanent),
	RULE_ON(klass, id_table, capacity, class_constants),
	RULE_ON(klass, id_table, count, class_constants),
	RULE_ON(klass, id_table, items, class_constants),
	RULE_ON(klass, id_item, key, class_constants),
	RULE_ON(klass, id_item, value, class_constants),
	RULE_ON(klass, const_entry, value, class_constants),
	RULE_ON(vm, shape, next_index, shapes),
	RULE_ON(vm, shape, type, shapes),
	RULE_ON(vm, shape, parent_id, shapes),
	RULE_ON(vm, shape_tree, shape_list, shapes),
	RULE_ON(vm, shape_tree, root_shape, shapes),
	RULE_ON(vm, shape_tree, next_shape_id, shapes),
};

const size_t rcore_table_rules_count = sizeof(rcore_table_rules) / sizeof(*rcore_table_rules);
