/* SPDX-License-Identifier: MIT */
#include "ruby/iseq/iseq_locals.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/count.h"
#include "base/text.h"
#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/iseq/iseq_private.h"

/* For an ID that is not an operator: enum ruby_id_types of id.h. */
enum { ID_SCOPE_MASK = 0x7 << 1, ID_LOCAL = 0 };

/* Marks `count` parameters from `start` on. */
static struct rcore_error *mark(struct rcore_iseq_local *locals, uint64_t local_count,
				uint64_t start, uint64_t count, enum rcore_parameter parameter)
{
	if (start > local_count || count > local_count - start)
		return rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"it has more parameters than local variables (%" PRIu64 ")",
			local_count);
	for (uint64_t i = 0; i < count; i++)
		locals[start + i].parameter = parameter;
	return NULL;
}

static struct rcore_error *mark_keywords(struct rcore_ruby *ruby, uint64_t body, bool has_rest,
					 struct rcore_iseq_local *locals, uint64_t count)
{
	uint64_t keyword, num, required, bits, rest;
	struct rcore_error *err = RCORE_GET(ruby, body, iseq_body, keyword, &keyword);
	if (err)
		return err;
	if (!keyword)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "it has keywords, but no table of them");
	if ((err = RCORE_GET(ruby, keyword, keyword, num, &num)) ||
	    (err = RCORE_GET(ruby, keyword, keyword, required_num, &required)) ||
	    (err = RCORE_GET(ruby, keyword, keyword, bits_start, &bits)) ||
	    (err = RCORE_GET(ruby, keyword, keyword, rest_start, &rest)))
		return err;
	/*
	 * The keywords are just before their bits; those without a default come
	 * first.
	 */
	if (num > bits || required > num)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "its keywords are invalid");
	if (num)
		err = mark(locals, count, bits - num, required, RCORE_PARAMETER_KEYREQ);
	if (!err && num)
		err = mark(locals, count, bits - num + required, num - required,
			   RCORE_PARAMETER_KEY);
	if (!err && has_rest)
		err = mark(locals, count, rest, 1, RCORE_PARAMETER_KEYREST);
	return err;
}

/* What rb_iseq_constant_body.param says of an iseq's parameters. */
struct parameters {
	uint64_t has_opt, has_rest, has_post, has_kw, has_kwrest, has_block;
	uint64_t lead_num, opt_num, rest_start, post_start, post_num, block_start;
};

static struct rcore_error *read_parameters(struct rcore_ruby *ruby, uint64_t body,
					   struct parameters *ret)
{
#define MEMBER(id)                                                                            \
	{                                                                                     \
		offsetof(struct parameters, id), offsetof(struct rcore_layout, iseq_body.id), \
			"iseq_body." #id                                                      \
	}
	static const struct {
		size_t member, field;
		const char *name;
	} members[] = {
		MEMBER(has_opt),    MEMBER(has_rest),   MEMBER(has_post), MEMBER(has_kw),
		MEMBER(has_kwrest), MEMBER(has_block),  MEMBER(lead_num), MEMBER(opt_num),
		MEMBER(rest_start), MEMBER(post_start), MEMBER(post_num), MEMBER(block_start),
	};
#undef MEMBER
	const char *layout = (const char *)ruby->layout;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < RCORE_COUNT(members) && !err; i++)
		err = rcore_get(ruby, body,
				(const struct rcore_field *)(layout + members[i].field),
				members[i].name, (uint64_t *)((char *)ret + members[i].member));
	return err;
}

static struct rcore_error *mark_parameters(struct rcore_ruby *ruby, uint64_t body,
					   struct rcore_iseq_local *locals, uint64_t count)
{
	struct parameters has;
	struct rcore_error *err = read_parameters(ruby, body, &has);
	if (err)
		return err;
	const struct {
		bool present;
		uint64_t start, count;
		enum rcore_parameter parameter;
	} positional[] = {
		{true, 0, has.lead_num, RCORE_PARAMETER_REQ},
		{has.has_opt, has.lead_num, has.opt_num, RCORE_PARAMETER_OPT},
		{has.has_rest, has.rest_start, 1, RCORE_PARAMETER_REST},
		{has.has_post, has.post_start, has.post_num, RCORE_PARAMETER_REQ},
	};
	for (size_t i = 0; i < RCORE_COUNT(positional) && !err; i++)
		if (positional[i].present)
			err = mark(locals, count, positional[i].start, positional[i].count,
				   positional[i].parameter);
	if (!err && (has.has_kw || has.has_kwrest))
		err = mark_keywords(ruby, body, has.has_kwrest, locals, count);
	if (!err && has.has_block)
		err = mark(locals, count, has.block_start, 1, RCORE_PARAMETER_BLOCK);
	return err;
}

static bool is_numbered(const char *name)
{
	return name && name[0] == '_' && name[1] >= '1' && name[1] <= '9' && !name[2];
}

static struct rcore_error *set_name(struct rcore_ruby *ruby, uint64_t id,
				    struct rcore_iseq_local *local)
{
	local->is_hidden = id <= (uint64_t)ruby->layout->constant.last_op_id ||
			   (id & ID_SCOPE_MASK) != ID_LOCAL;
	struct rcore_error *err = id ? rcore_id_name(ruby, id, &local->name) : NULL;
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	/* A variable that the compiler adds has no name. */
	if (err && !local->is_hidden) {
		local->problem = rcore_arena_strdup(ruby->arena, err->message);
		if (!local->problem) {
			rcore_error_free(err);
			return rcore_error_no_memory();
		}
	}
	rcore_error_free(err);
	if (!ruby->layout->traits.numbered_are_locals && is_numbered(local->name))
		local->is_hidden = true;
	else if (local->is_hidden && rcore_same_text(local->name, "<it>"))
		local->name = "it"; /* idItImplicit, 4.0 */
	return NULL;
}

static struct rcore_error *set_names(struct rcore_ruby *ruby, uint64_t body, uint64_t count,
				     struct rcore_iseq_local *locals)
{
	uint64_t table;
	struct rcore_error *err = RCORE_GET(ruby, body, iseq_body, local_table, &table);
	if (err)
		return err;
	uint64_t *ids = calloc(count, sizeof(*ids));
	if (!ids)
		return rcore_error_no_memory();
	enum rcore_fault fault =
		rcore_read_large(ruby->memory, table, ids, count * sizeof(*ids));
	if (fault)
		err = rcore_fault_error(fault, "local_table", table, count * sizeof(*ids));
	for (uint64_t i = 0; !err && i < count; i++)
		err = set_name(ruby, ids[i], &locals[i]);
	free(ids);
	return err;
}

static struct rcore_error *read_locals(struct rcore_ruby *ruby, uint64_t body,
				       struct rcore_iseq_local **ret, uint64_t *ret_count)
{
	struct rcore_error *err = RCORE_GET(ruby, body, iseq_body, local_table_size, ret_count);
	if (err)
		return err;
	if (*ret_count > RCORE_LOCAL_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT, "it has %" PRIu64 " locals",
					  *ret_count);
	*ret = rcore_arena_array(&ruby->scratch, *ret_count, sizeof(**ret));
	if (!*ret)
		return rcore_error_no_memory();
	if (*ret_count)
		err = set_names(ruby, body, *ret_count, *ret);
	return err ? err : mark_parameters(ruby, body, *ret, *ret_count);
}

struct rcore_error *rcore_iseq_locals(struct rcore_ruby *ruby,
				      const struct rcore_iseq_info *info,
				      const struct rcore_iseq_local **ret, size_t *ret_count)
{
	struct rcore_iseq *iseq = rcore_cache_get(&ruby->iseqs, info->address, 0);
	if (!iseq)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "no iseq at 0x%" PRIx64,
					  info->address);
	if (!iseq->locals) {
		struct rcore_iseq_local *locals = NULL;
		uint64_t count;
		struct rcore_error *err = read_locals(ruby, iseq->info.body, &locals, &count);
		if (err)
			return rcore_error_wrap(err, "locals of iseq 0x%" PRIx64,
						info->address);
		iseq->locals = locals;
		iseq->local_count = count;
	}
	*ret = iseq->locals;
	*ret_count = iseq->local_count;
	return NULL;
}
