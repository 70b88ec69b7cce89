/* SPDX-License-Identifier: MIT */
#include "ruby/iseq/iseq_locals.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/iseq/iseq_private.h"

/* Of an ID past the operators: enum ruby_id_types of id.h. */
enum { ID_SCOPE_MASK = 0x7 << 1, ID_LOCAL = 0 };

static struct rcore_error *has(struct rcore_ruby *ruby, uint64_t body,
			       const struct rcore_field *flag, const char *name, bool *ret)
{
	uint64_t value = 0;
	struct rcore_error *err = rcore_get(ruby, body, flag, name, &value);
	*ret = value;
	return err;
}

/* `count` parameters from `start` on. */
static struct rcore_error *mark(struct rcore_iseq_local *locals, uint64_t local_count,
				uint64_t start, uint64_t count, enum rcore_parameter parameter)
{
	if (start > local_count || count > local_count - start)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "its parameters are more than its %" PRIu64 " locals",
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
					  "it has keywords and no table of them");
	if ((err = RCORE_GET(ruby, keyword, keyword, num, &num)) ||
	    (err = RCORE_GET(ruby, keyword, keyword, required_num, &required)) ||
	    (err = RCORE_GET(ruby, keyword, keyword, bits_start, &bits)) ||
	    (err = RCORE_GET(ruby, keyword, keyword, rest_start, &rest)))
		return err;
	/*
	 * The keywords stand just before their bits; those without a default
	 * come first.
	 */
	if (num > bits || required > num)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "its keywords make no sense");
	if (num)
		err = mark(locals, count, bits - num, required, RCORE_PARAMETER_KEYREQ);
	if (!err && num)
		err = mark(locals, count, bits - num + required, num - required,
			   RCORE_PARAMETER_KEY);
	if (!err && has_rest)
		err = mark(locals, count, rest, 1, RCORE_PARAMETER_KEYREST);
	return err;
}

static struct rcore_error *mark_parameters(struct rcore_ruby *ruby, uint64_t body,
					   struct rcore_iseq_local *locals, uint64_t count)
{
	uint64_t lead, opt, rest_start, post_start, post, block_start;
	bool has_opt, has_rest, has_post, has_kw, has_kwrest, has_block;
	struct rcore_error *err;
#define HAS(flag) has(ruby, body, &ruby->layout->iseq_body.flag, "iseq_body." #flag, &flag)
	if ((err = HAS(has_opt)) || (err = HAS(has_rest)) || (err = HAS(has_post)) ||
	    (err = HAS(has_kw)) || (err = HAS(has_kwrest)) || (err = HAS(has_block)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, lead_num, &lead)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, opt_num, &opt)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, rest_start, &rest_start)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, post_start, &post_start)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, post_num, &post)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, block_start, &block_start)))
		return err;
#undef HAS
	err = mark(locals, count, 0, lead, RCORE_PARAMETER_REQ);
	if (!err && has_opt)
		err = mark(locals, count, lead, opt, RCORE_PARAMETER_OPT);
	if (!err && has_rest)
		err = mark(locals, count, rest_start, 1, RCORE_PARAMETER_REST);
	if (!err && has_post)
		err = mark(locals, count, post_start, post, RCORE_PARAMETER_REQ);
	if (!err && (has_kw || has_kwrest))
		err = mark_keywords(ruby, body, has_kwrest, locals, count);
	if (!err && has_block)
		err = mark(locals, count, block_start, 1, RCORE_PARAMETER_BLOCK);
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
	/* What the compiler makes for itself has no name. */
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
	enum rcore_fault fault = rcore_read(ruby->memory, table, ids, count * sizeof(*ids));
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
	*ret = rcore_arena_alloc(&ruby->scratch, (*ret_count + 1) * sizeof(**ret));
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
