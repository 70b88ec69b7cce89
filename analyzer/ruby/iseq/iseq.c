/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/hot.h"
#include "ruby/get.h"
#include "ruby/iseq/iseq_private.h"
#include "ruby/object/array.h"
#include "ruby/object/string.h"

/* Words of the longest possible code: 128 MiB. */
enum { SIZE_LIMIT = 1 << 24 };

static const char internal_prefix[] = "<internal:";

/*
 * location.pathobj is the path, or an Array of path and real path if they
 * differ.
 */
static struct rcore_error *read_path(struct rcore_ruby *ruby, uint64_t pathobj,
				     const char **ret)
{
	enum rcore_type type;
	struct rcore_error *err = rcore_type(ruby, pathobj, &type);
	if (!err && type == RCORE_T_ARRAY)
		err = rcore_array_at(ruby, pathobj, 0, &pathobj);
	return err ? err : rcore_string(ruby, pathobj, ret, NULL);
}

/*
 * Keeps the first error as the iseq's problem. Returns it only if memory is
 * short.
 */
static struct rcore_error *note(struct rcore_ruby *ruby, struct rcore_iseq_info *info,
				const char *what, struct rcore_error *err)
{
	err = rcore_error_wrap(err, "%s of iseq 0x%" PRIx64, what, info->address);
	return rcore_arena_keep_problem(ruby->arena, err, &info->problem);
}

/* Reads the rb_iseq_location_t. Sets the problem if a part cannot be read. */
static struct rcore_error *read_location(struct rcore_ruby *ruby, struct rcore_iseq_info *info)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t pathobj = 0, label = 0, base_label = 0, line = 0;
	struct rcore_error *err;

	err = RCORE_GET(ruby, info->body, iseq_body, pathobj, &pathobj);
	if (!err)
		err = read_path(ruby, pathobj, &info->path);
	if ((err = note(ruby, info, "path", err)))
		return err;

	err = RCORE_GET(ruby, info->body, iseq_body, label, &label);
	if (!err)
		err = rcore_string(ruby, label, &info->label, NULL);
	if ((err = note(ruby, info, "label", err)))
		return err;

	err = RCORE_GET(ruby, info->body, iseq_body, base_label, &base_label);
	if (!err && base_label == label)
		info->base_label = info->label;
	/* The iseq of a file that is being loaded has no label. */
	else if (!err && base_label)
		err = rcore_string(ruby, base_label, &info->base_label, NULL);
	if ((err = note(ruby, info, "base label", err)))
		return err;

	err = RCORE_GET(ruby, info->body, iseq_body, first_lineno, &line);
	if ((err = note(ruby, info, "first line", err)))
		return err;
	/* Up to 3.1 it is a VALUE, an Integer. */
	info->first_line = (int)(layout->iseq_body.first_lineno.size == 8 ? line >> 1 : line);

	info->is_internal = info->path &&
			    !strncmp(info->path, internal_prefix, sizeof(internal_prefix) - 1);
	return NULL;
}

static struct rcore_error *read_c_trace(struct rcore_ruby *ruby, struct rcore_iseq_info *info)
{
	const struct rcore_layout *layout = ruby->layout;
	int64_t flag = layout->constant.builtin_attr_c_trace;
	uint64_t attrs;
	if (flag == RCORE_NO_CONSTANT || !rcore_has(&layout->iseq_body.builtin_attrs))
		return NULL;
	struct rcore_error *err = RCORE_GET(ruby, info->body, iseq_body, builtin_attrs, &attrs);
	if (!err)
		info->is_c_trace = attrs & (uint64_t)flag;
	return err;
}

static struct rcore_error *read_iseq(struct rcore_ruby *ruby, uint64_t address,
				     struct rcore_iseq_info *info)
{
	uint64_t flags, type, size;
	struct rcore_error *err = rcore_flags(ruby, address, &flags);
	if (err)
		return err;
	info->address = address;
	if (rcore_imemo_type(flags) != (int)ruby->layout->traits.imemo_iseq)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "its flags are not those of an iseq");
	if ((err = RCORE_GET(ruby, address, iseq, body, &info->body)) ||
	    (err = RCORE_GET(ruby, info->body, iseq_body, type, &type)) ||
	    (err = RCORE_GET(ruby, info->body, iseq_body, iseq_size, &size)) ||
	    (err = RCORE_GET(ruby, info->body, iseq_body, iseq_encoded, &info->encoded)) ||
	    (err = RCORE_GET(ruby, info->body, iseq_body, parent_iseq, &info->parent)) ||
	    (err = RCORE_GET(ruby, info->body, iseq_body, local_iseq, &info->local)) ||
	    (err = read_c_trace(ruby, info)))
		return err;
	if (type >= RCORE_ISEQ_TYPE_COUNT)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "its type is %" PRIu64, type);
	if (size > SIZE_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT, "its code has %" PRIu64 " words",
					  size);
	info->type = (enum rcore_iseq_type)type;
	info->size = (uint32_t)size;
	return read_location(ruby, info);
}

RCORE_HOT struct rcore_error *rcore_iseq(struct rcore_ruby *ruby, uint64_t address,
					 const struct rcore_iseq_info **ret)
{
	struct rcore_iseq *iseq = rcore_cache_get(&ruby->iseqs, address, 0);
	if (!iseq) {
		struct rcore_iseq_info info = {0};
		struct rcore_error *err = read_iseq(ruby, address, &info);
		if (err)
			return rcore_error_wrap(err, "iseq 0x%" PRIx64, address);
		iseq = rcore_arena_alloc(&ruby->scratch, sizeof(*iseq));
		if (!iseq)
			return rcore_error_no_memory();
		iseq->info = info;
		if (!rcore_cache_put(&ruby->iseqs, &ruby->scratch, address, 0, iseq))
			return rcore_error_no_memory();
	}
	*ret = &iseq->info;
	return NULL;
}
