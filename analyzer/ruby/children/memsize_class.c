/* SPDX-License-Identifier: MIT */
/* The sizes of classes. */
#include "ruby/children/memsize_private.h"

#include "ruby/object/class.h"
#include "ruby/object/id_table.h"
#include "ruby/object/shape.h"

/* cc_table_memsize() of gc.c; 3.0 to 3.4. */
static uint64_t call_caches_size(struct rcore_sizing *sizing, uint64_t table)
{
	struct rcore_id_iterator iterator;
	uint64_t serial, entries, bytes = rcore_sizing_id_table(sizing, table);
	bool found = true;
	if (!table)
		return 0;
	struct rcore_error *err = rcore_id_table_begin(&iterator, sizing->ruby, table);
	while (!err && found) {
		err = rcore_id_table_next(&iterator, &found, &serial, &entries);
		if (!err && found)
			bytes += sizing->layout->cc_entries.size +
				 rcore_sizing_bounded(sizing,
						      READ(entries, cc_entries, capacity),
						      sizing->layout->cc_entry.size);
	}
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	return bytes;
}

/* RCLASS_IV_COUNT() of internal/class.h; 3.2 to 3.4. */
static uint64_t class_ivar_count(struct rcore_sizing *sizing, uint64_t ext)
{
	const uint32_t id = rcore_shape_id(sizing->flags);
	struct rcore_shape shape;
	struct rcore_error *err = rcore_shape(sizing->ruby, id, &shape);
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	if (err)
		return 0;
	if (!shape.is_too_complex)
		return (uint32_t)(shape.index + 1);
	return READ(READ(ext, classext, iv_ptr), st_table, num_entries);
}

/*
 * SIZEOF_VALUE << bit_length(count). Ruby counts no more than that, even if the
 * class is too complex and has a table.
 */
static uint64_t class_ivars_size(struct rcore_sizing *sizing, uint64_t ext)
{
	const uint64_t count = class_ivar_count(sizing, ext);
	unsigned bits = 0;
	while (count >> bits && bits < POWER_LIMIT)
		bits++;
	return (uint64_t)WORD << bits;
}

static uint64_t method_table_of(struct rcore_sizing *sizing, uint64_t ext)
{
	return rcore_has(&sizing->layout->klass.m_tbl) ? FIELD(klass, m_tbl)
						       : READ(ext, classext, m_tbl);
}

uint64_t rcore_sizing_of_class(struct rcore_sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	/* RCLASS_SUPERCLASSES_INCLUDE_SELF */
	const uint64_t with_self = RCORE_FL_USER(2);
	uint64_t ext = 0, bytes, table;
	if (!rcore_sizing_can_decode(sizing))
		return 0;
	struct rcore_error *err = rcore_classext(sizing->ruby, sizing->object, &ext);
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	if (!ext)
		return 0;
	bytes = rcore_sizing_id_table(sizing, method_table_of(sizing, ext));
	bytes += rcore_sizing_id_table(sizing, READ(ext, classext, const_tbl));
	if (rcore_has(&layout->classext.superclasses_with_self)) { /* 4.0 */
		if (READ(ext, classext, superclasses_with_self))
			bytes += 2 * WORD * (READ(ext, classext, superclass_depth) + 1);
		return bytes;
	}
	/* counted twice, up to 3.1 */
	if (rcore_has(&layout->classext.iv_tbl)) {
		table = READ(ext, classext, iv_tbl);
		bytes += table ? 2 * rcore_sizing_st(sizing, table) : 0;
		table = READ(ext, classext, iv_index_tbl);
		bytes += table ? rcore_sizing_st(sizing, table) : 0;
		bytes += layout->classext.size;
	} else {
		bytes += class_ivars_size(sizing, ext);
		if (sizing->flags & with_self)
			bytes += WORD * (READ(ext, classext, superclass_depth) + 1);
	}
	bytes += rcore_sizing_id_table(sizing, READ(ext, classext, cvc_tbl));
	return bytes + call_caches_size(sizing, READ(ext, classext, cc_tbl));
}

uint64_t rcore_sizing_of_iclass(struct rcore_sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	uint64_t ext = 0, bytes = 0;
	bool owns;
	if (!rcore_sizing_can_decode(sizing))
		return 0;
	struct rcore_error *err = rcore_classext(sizing->ruby, sizing->object, &ext);
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	if (!ext)
		return 0;
	if (rcore_has(&layout->classext.is_origin))
		owns = READ(ext, classext, is_origin) &&
		       !READ(ext, classext, origin_shared_mtbl);
	else
		owns = sizing->flags & layout->traits.iclass_origin_flag &&
		       !(sizing->flags & layout->traits.iclass_shared_mtbl_flag);
	if (owns)
		bytes = rcore_sizing_id_table(sizing, method_table_of(sizing, ext));
	if (!rcore_has(&layout->classext.super))
		bytes += call_caches_size(sizing, READ(ext, classext, cc_tbl));
	return bytes;
}
