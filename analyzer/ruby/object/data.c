/* SPDX-License-Identifier: MIT */
#include "ruby/object/data.h"

#include <inttypes.h>
#include <string.h>

#include "ruby/get.h"

enum {
	/* typed_flag: 1, or 2 if embedded; otherwise it is a dfree. */
	TYPED_FLAG_LIMIT = 3,
	TYPED_FLAG_EMBEDDED = 2, /* TYPED_DATA_EMBEDDED, 3.3 and 3.4 */
	TYPE_EMBEDDED = 1,       /* the same in `type`, from 4.0 on */
};

struct rcore_error *rcore_data_head(struct rcore_ruby *ruby, uint64_t value,
				    struct rcore_data *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t flags, typed = 0;
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (!err && (flags & RCORE_T_MASK) != RCORE_T_DATA)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a T_DATA",
					 value);
	if (err)
		return err;
	*ret = (struct rcore_data){0};
	if (rcore_has(&layout->data.typed_flag)) {
		err = RCORE_GET(ruby, value, data, typed_flag, &typed);
		ret->is_typed = typed && typed <= TYPED_FLAG_LIMIT;
		ret->is_embedded = ret->is_typed && typed & TYPED_FLAG_EMBEDDED;
	} else {
		ret->is_typed = flags & (uint64_t)layout->constant.typed_fl_is_typed_data;
	}
	if (!err && ret->is_typed)
		err = RCORE_GET(ruby, value, data, type, &ret->type);
	if (!rcore_has(&layout->data.typed_flag)) {
		ret->is_embedded = ret->is_typed && ret->type & TYPE_EMBEDDED;
		ret->type &= ~(uint64_t)TYPE_EMBEDDED;
	}
	if (err)
		return err;
	if (!ret->is_embedded)
		return RCORE_GET(ruby, value, data, data, &ret->data);
	ret->data = value + (uint64_t)layout->data.data.offset;
	return NULL;
}

struct rcore_error *rcore_data_type_name(struct rcore_ruby *ruby, uint64_t type, char *name,
					 size_t size)
{
	uint64_t pointer;
	struct rcore_error *err = RCORE_GET(ruby, type, data_type, wrap_struct_name, &pointer);
	if (err)
		return err;
	enum rcore_fault fault = rcore_read_string(ruby->memory, pointer, name, size);
	return fault ? rcore_fault_error(fault, "name of a rb_data_type_t", pointer, 1) : NULL;
}

struct rcore_error *rcore_data(struct rcore_ruby *ruby, uint64_t value, struct rcore_data *ret)
{
	char name[RCORE_DATA_NAME_SIZE];
	struct rcore_error *err = rcore_data_head(ruby, value, ret);
	if (err || !ret->is_typed)
		return err;
	err = rcore_data_type_name(ruby, ret->type, name, sizeof(name));
	const char **where = err ? &ret->problem : &ret->type_name;
	*where = rcore_arena_strdup(ruby->arena, err ? err->message : name);
	rcore_error_free(err);
	return *where ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_data_is(struct rcore_ruby *ruby, uint64_t value,
				  const char *type_name, bool *ret, uint64_t *data)
{
	char name[RCORE_DATA_NAME_SIZE];
	struct rcore_data head;
	struct rcore_error *err = rcore_data_head(ruby, value, &head);
	if (!err && head.is_typed)
		err = rcore_data_type_name(ruby, head.type, name, sizeof(name));
	if (err)
		return err;
	*ret = head.is_typed && !strcmp(name, type_name);
	if (data)
		*data = head.data;
	return NULL;
}
