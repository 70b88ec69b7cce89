/* SPDX-License-Identifier: MIT */
#include "ruby/object/fields.h"

#include <inttypes.h>

#include "ruby/object/class.h"
#include "ruby/object/embedded.h"
#include "ruby/object/generic_ivar.h"
#include "ruby/get.h"
#include "ruby/object/shape.h"

/* An array, or a table if the shape says so; NULL if there is neither. */
static struct rcore_error *by_shape(struct rcore_ruby *ruby, uint64_t at, uint32_t id,
				    struct rcore_fields *ret)
{
	struct rcore_shape shape;
	if (!at)
		return NULL;
	struct rcore_error *err = rcore_shape(ruby, id, &shape);
	if (!err)
		*ret = (struct rcore_fields){
			.kind = shape.is_too_complex ? RCORE_FIELDS_TABLE
						     : RCORE_FIELDS_BY_SHAPE,
			.at = at,
			.shape = id,
		};
	return err;
}

/* Finds the iv_index_tbl of an object's class. */
static struct rcore_error *class_indices(struct rcore_ruby *ruby, uint64_t object,
					 uint64_t *ret)
{
	uint64_t klass, ext;
	struct rcore_error *err = rcore_value_class(ruby, object, &klass);
	if (!err)
		err = rcore_classext(ruby, klass, &ext);
	return err ? err : RCORE_GET(ruby, ext, classext, iv_index_tbl, ret);
}

/* For a T_OBJECT, or an imemo of fields, which has the same layout. */
static struct rcore_error *of_object(struct rcore_ruby *ruby, uint64_t object, uint64_t flags,
				     struct rcore_fields *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	bool embedded = rcore_has_embedded_fields(layout, flags);
	uint64_t at = object + (uint64_t)layout->object.ary.offset;
	struct rcore_error *err = embedded ? NULL : RCORE_GET(ruby, object, object, ivptr, &at);
	if (err)
		return err;
	if (layout->traits.shapes)
		err = by_shape(ruby, at, rcore_shape_id(flags), ret);
	/*
	 * 3.3 does not clear the flag of an embedded object that became too
	 * complex.
	 */
	if (!err && embedded && ret->kind == RCORE_FIELDS_TABLE)
		return RCORE_GET(ruby, object, object, ivptr, &ret->at);
	if (err || layout->traits.shapes)
		return err;
	*ret = (struct rcore_fields){
		.kind = RCORE_FIELDS_BY_INDEX,
		.at = at,
		.count = layout->object.ary.size / sizeof(uint64_t),
	};
	if (embedded)
		return class_indices(ruby, object, &ret->indices);
	err = RCORE_GET(ruby, object, object, numiv, &ret->count);
	return err ? err : RCORE_GET(ruby, object, object, iv_index_tbl, &ret->indices);
}

/* From 4.0 on; 0 if the object has none. */
static struct rcore_error *of_imemo(struct rcore_ruby *ruby, uint64_t imemo,
				    struct rcore_fields *ret)
{
	uint64_t flags;
	if (!imemo)
		return NULL;
	struct rcore_error *err = rcore_flags(ruby, imemo, &flags);
	if (!err && rcore_imemo_type(flags) != ruby->layout->constant.imemo_fields)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " has no fields",
					 imemo);
	return err ? err : of_object(ruby, imemo, flags, ret);
}

static struct rcore_error *of_class(struct rcore_ruby *ruby, uint64_t klass, uint64_t flags,
				    struct rcore_fields *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t ext, at;
	struct rcore_error *err = rcore_classext(ruby, klass, &ext);
	if (err || !ext) /* it is just being allocated */
		return err;
	if (rcore_has(&layout->classext.iv_tbl)) {
		err = RCORE_GET(ruby, ext, classext, iv_tbl, &ret->at);
		ret->kind = ret->at ? RCORE_FIELDS_TABLE : RCORE_FIELDS_NONE;
		return err;
	}
	if (rcore_has(&layout->classext.fields_obj)) {
		err = RCORE_GET(ruby, ext, classext, fields_obj, &at);
		return err ? err : of_imemo(ruby, at, ret);
	}
	err = RCORE_GET(ruby, ext, classext, iv_ptr, &at);
	return err ? err : by_shape(ruby, at, rcore_shape_id(flags), ret);
}

/* Up to 3.4: struct gen_ivtbl. */
static struct rcore_error *of_gen_ivtbl(struct rcore_ruby *ruby, uint64_t object,
					uint64_t flags, struct rcore_fields *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t table, count;
	struct rcore_error *err;
	if (!(flags & (uint64_t)layout->constant.fl_exivar))
		return NULL;
	err = rcore_generic_ivar(ruby, object, &table);
	if (err)
		return err;
	uint64_t at = table + (uint64_t)layout->gen_ivtbl.ivptr.offset;
	if (layout->traits.shapes) {
		err = by_shape(ruby, at, rcore_shape_id(flags), ret);
		return err || ret->kind != RCORE_FIELDS_TABLE
			       ? err
			       : RCORE_GET(ruby, table, gen_ivtbl, table, &ret->at);
	}
	err = RCORE_GET(ruby, table, gen_ivtbl, numiv, &count);
	if (err)
		return err;
	*ret = (struct rcore_fields){
		.kind = RCORE_FIELDS_BY_INDEX,
		.at = at,
		.count = count,
	};
	return class_indices(ruby, object, &ret->indices);
}

/*
 * From 4.0 on. An object whose shape is the root has no fields
 * (rb_shape_obj_has_fields of shape.h).
 */
static struct rcore_error *of_other(struct rcore_ruby *ruby, uint64_t object, uint64_t flags,
				    struct rcore_fields *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t imemo, too_complex = (uint64_t)layout->constant.shape_id_fl_too_complex;
	struct rcore_error *err;
	if (!(rcore_shape_id(flags) & (layout->traits.shape_id_mask | too_complex)))
		return NULL;
	enum rcore_type type = flags & RCORE_T_MASK;
	if (type == RCORE_T_STRUCT)
		return rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"instance variables of a Struct (0x%" PRIx64 ") are not read", object);
	if (type == RCORE_T_DATA && flags & (uint64_t)layout->constant.typed_fl_is_typed_data)
		err = RCORE_GET(ruby, object, data, fields_obj, &imemo);
	else
		err = rcore_generic_ivar(ruby, object, &imemo);
	return err ? err : of_imemo(ruby, imemo, ret);
}

struct rcore_error *rcore_fields(struct rcore_ruby *ruby, uint64_t object,
				 struct rcore_fields *ret)
{
	uint64_t flags;
	*ret = (struct rcore_fields){0};
	struct rcore_error *err = rcore_flags(ruby, object, &flags);
	if (err)
		return err;
	switch (flags & RCORE_T_MASK) {
	case RCORE_T_OBJECT:
		return of_object(ruby, object, flags, ret);
	case RCORE_T_CLASS:
	case RCORE_T_MODULE:
		return of_class(ruby, object, flags, ret);
	case RCORE_T_NONE:
	case RCORE_T_IMEMO:
	case RCORE_T_NODE:
	case RCORE_T_ICLASS:
	case RCORE_T_ZOMBIE:
	case RCORE_T_MOVED:
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "0x%" PRIx64 " is not an object of Ruby", object);
	default:
		return rcore_has(&ruby->layout->gen_ivtbl.ivptr)
			       ? of_gen_ivtbl(ruby, object, flags, ret)
			       : of_other(ruby, object, flags, ret);
	}
}

struct rcore_error *rcore_fields_of_imemo(struct rcore_ruby *ruby, uint64_t imemo,
					  struct rcore_fields *ret)
{
	*ret = (struct rcore_fields){0};
	return of_imemo(ruby, imemo, ret);
}
