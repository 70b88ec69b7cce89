/* SPDX-License-Identifier: MIT */
#include "ruby/object/class.h"

#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/object/st_table.h"

enum { ANCESTOR_LIMIT = 1 << 16 };

/* FL_USER4: a class that Ruby itself made, and thus a struct RClass_boxable. */
static const uint64_t RCLASS_BOXABLE = 1 << 16;

struct rcore_error *rcore_boxes_of_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t flags, at = klass + (uint64_t)layout->klass_and_ext.classext.offset +
			     layout->classext.size;
	*ret = 0;
	struct rcore_error *err = rcore_flags(ruby, klass, &flags);
	if (err || !(flags & RCLASS_BOXABLE))
		return err;
	enum rcore_fault fault = rcore_read_u64(ruby->memory, at, ret);
	return fault ? rcore_fault_error(fault, "box_classext_tbl", at, sizeof(*ret)) : NULL;
}

/*
 * RCLASS_EXT_READABLE_IN_BOX() of internal/class.h: the box's own, if it
 * changed the class.
 */
static struct rcore_error *in_box(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	uint64_t table, own;
	bool found = false;
	struct rcore_error *err = rcore_boxes_of_class(ruby, klass, &table);
	if (!err && table)
		err = rcore_st_find_number(ruby, table, ruby->main_box, &own, &found);
	if (!err && found)
		*ret = own;
	return err;
}

/*
 *   up to 3.1            RClass.ptr ──> rb_classext_struct
 *   3.2 on     RClass | rb_classext_struct     in one slot, one after the other
 *   4.0 on     ... | st_table of a Ruby::Box to its rb_classext_struct
 */
struct rcore_error *rcore_prime_classext(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	if (rcore_has(&layout->klass.ptr))
		return RCORE_GET(ruby, klass, klass, ptr, ret);
	if (rcore_has(&layout->klass_and_ext.classext))
		*ret = klass + (uint64_t)layout->klass_and_ext.classext.offset;
	else
		*ret = klass + layout->klass.size;
	return NULL;
}

struct rcore_error *rcore_classext(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	struct rcore_error *err = rcore_prime_classext(ruby, klass, ret);
	return !err && ruby->main_box ? in_box(ruby, klass, ret) : err;
}

struct rcore_error *rcore_class_super(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	uint64_t ext;
	if (rcore_has(&ruby->layout->klass.super))
		return RCORE_GET(ruby, klass, klass, super, ret);
	struct rcore_error *err = rcore_classext(ruby, klass, &ext);
	return err ? err : RCORE_GET(ruby, ext, classext, super, ret);
}

struct rcore_error *rcore_real_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	for (int steps = 0; steps < ANCESTOR_LIMIT; steps++) {
		uint64_t flags;
		struct rcore_error *err = rcore_flags(ruby, klass, &flags);
		unsigned type = flags & RCORE_T_MASK;
		if (err)
			return err;
		if (type != RCORE_T_ICLASS && type != RCORE_T_CLASS)
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "0x%" PRIx64 " is not a class", klass);
		if (type == RCORE_T_CLASS && !(flags & layout->traits.singleton_flag)) {
			*ret = klass;
			return NULL;
		}
		err = rcore_class_super(ruby, klass, &klass);
		if (err)
			return err;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d ancestors", ANCESTOR_LIMIT);
}

struct rcore_error *rcore_value_class(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	uint64_t klass;
	struct rcore_error *err = RCORE_GET(ruby, value, basic, klass, &klass);
	if (!err)
		err = rcore_real_class(ruby, klass, ret);
	return rcore_error_wrap(err, "class of 0x%" PRIx64, value);
}
