/* SPDX-License-Identifier: MIT */
/* Code: parameters, locals and lines. */
#include "proof/check.h"
#include "ruby/iseq/iseq.h"

CHECK(iseq_flags)
{
	return verdict_of(is_imemo(s, base, layout_of(s)->traits.imemo_iseq));
}

CHECK(iseq_type)
{
	uint64_t type;
	return verdict_of(get(s, base, field, &type) && type < RCORE_ISEQ_TYPE_COUNT);
}

/* The check of cfp.pc shows whether the pc of a frame is in it. */
CHECK(iseq_code)
{
	uint64_t value;
	return verdict_of(get(s, base, field, &value) && value);
}

CHECK(iseq_path)
{
	uint64_t value;
	return verdict_of(get(s, base, field, &value) &&
			  is_object(s, value, TYPE(STRING) | TYPE(ARRAY)));
}

/*
 * The order of parameters among the locals: required, optional, rest, required,
 * keywords, the bits that say which keywords were passed, the keyword rest,
 * block (iseq_set_arguments() of compile.c).
 */
struct parameters {
	uint64_t size, lead, opt, rest, post, kw, kwrest, block, forwardable;
	uint64_t keyword, keywords;
};

static bool read_parameters(const struct rcore_samples *s, uint64_t body,
			    struct parameters *ret)
{
	const struct rcore_layout *layout = layout_of(s);
	*ret = (struct parameters){0};
	if (!get(s, body, &layout->iseq_body.param_size, &ret->size) ||
	    !get(s, body, &layout->iseq_body.lead_num, &ret->lead) ||
	    !get(s, body, &layout->iseq_body.opt_num, &ret->opt) ||
	    !get(s, body, &layout->iseq_body.has_rest, &ret->rest) ||
	    !get(s, body, &layout->iseq_body.post_num, &ret->post) ||
	    !get(s, body, &layout->iseq_body.has_kw, &ret->kw) ||
	    !get(s, body, &layout->iseq_body.has_kwrest, &ret->kwrest) ||
	    !get(s, body, &layout->iseq_body.has_block, &ret->block) ||
	    !get(s, body, &layout->iseq_body.keyword, &ret->keyword))
		return false;
	get(s, body, &layout->iseq_body.forwardable, &ret->forwardable);
	return !ret->kw || get(s, ret->keyword, &layout->keyword.num, &ret->keywords);
}

static bool add_up(const struct parameters *p)
{
	return p->size == p->lead + p->opt + p->rest + p->post + (p->kw ? p->keywords + 1 : 0) +
				  p->kwrest + p->block;
}

/* Silent if the field is zero in this iseq. */
CHECK(iseq_parameters)
{
	struct parameters parameters;
	uint64_t value;
	if (!get(s, base, field, &value) || !read_parameters(s, base, &parameters))
		return RCORE_FAILS;
	return value && !parameters.forwardable ? verdict_of(add_up(&parameters))
						: RCORE_SILENT;
}

/* The flag is set if there are any. */
static enum rcore_verdict flags_count(const struct rcore_samples *s, uint64_t body,
				      const struct rcore_field *flag,
				      const struct rcore_field *number)
{
	uint64_t has, count;
	if (!get(s, body, flag, &has) || !get(s, body, number, &count))
		return RCORE_FAILS;
	return has || count ? verdict_of(has && count) : RCORE_SILENT;
}

CHECK(iseq_has_opt)
{
	return flags_count(s, base, field, &layout_of(s)->iseq_body.opt_num);
}

CHECK(iseq_has_post)
{
	return flags_count(s, base, field, &layout_of(s)->iseq_body.post_num);
}

CHECK(iseq_rest_start)
{
	struct parameters p;
	uint64_t start;
	if (!get(s, base, field, &start) || !read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.rest ? verdict_of(start == p.lead + p.opt) : RCORE_SILENT;
}

CHECK(iseq_post_start)
{
	struct parameters p;
	uint64_t start;
	if (!get(s, base, field, &start) || !read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.post ? verdict_of(start == p.lead + p.opt + p.rest) : RCORE_SILENT;
}

CHECK(iseq_block_start)
{
	struct parameters p;
	uint64_t start;
	if (!get(s, base, field, &start) || !read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.block ? verdict_of(start + 1 == p.size) : RCORE_SILENT;
}

CHECK(iseq_keyword)
{
	struct parameters p;
	if (!read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.kw ? verdict_of(p.keyword && add_up(&p)) : RCORE_SILENT;
}

/* The bits that say which keywords were passed come after the keywords. */
CHECK(keyword_bits)
{
	struct parameters p;
	uint64_t start;
	if (!read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.kw ? verdict_of(get(s, p.keyword, field, &start) &&
				 start + 1 == p.size - p.kwrest - p.block)
		    : RCORE_SILENT;
}

CHECK(keyword_rest)
{
	struct parameters p;
	uint64_t start;
	if (!read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.kwrest ? verdict_of(get(s, p.keyword, field, &start) &&
				     start + 1 == p.size - p.block)
			: RCORE_SILENT;
}

CHECK(keyword_required)
{
	struct parameters p;
	uint64_t required;
	if (!read_parameters(s, base, &p))
		return RCORE_FAILS;
	if (!p.kw)
		return RCORE_SILENT;
	return get(s, p.keyword, field, &required) && required <= p.keywords
		       ? (required ? RCORE_HOLDS : RCORE_SILENT)
		       : RCORE_FAILS;
}

/*
 * Locals have IDs, except those that the compiler adds. The parameters are the
 * first locals.
 */
CHECK(iseq_locals)
{
	enum { LIMIT = 1 << 12 };
	const struct rcore_layout *layout = layout_of(s);
	uint64_t table, count, parameters, id, named = 0;
	if (!get(s, base, &layout->iseq_body.local_table, &table) ||
	    !get(s, base, &layout->iseq_body.local_table_size, &count) ||
	    !get(s, base, &layout->iseq_body.param_size, &parameters) || count > LIMIT ||
	    parameters > count)
		return RCORE_FAILS;
	if (!count || !s->ruby->global_symbols)
		return RCORE_SILENT;
	for (uint64_t i = 0; i < count; i++) {
		if (rcore_read_u64(s->ruby->memory, table + i * sizeof(id), &id))
			return RCORE_FAILS;
		named += has_name(s, id);
	}
	return verdict_of(named * 2 >= count);
}

/* The last instruction has a line that is close to the first one's. */
CHECK(iseq_lines)
{
	enum { REACH = 1 << 16 };
	const struct rcore_iseq_info *info;
	int line = 0;
	struct rcore_error *err = rcore_iseq(s->ruby, base, &info);
	if (!err && info->size)
		err = rcore_iseq_line(s->ruby, info,
				      info->encoded + (info->size - 1) * sizeof(uint64_t),
				      &line);
	bool failed = rcore_sample_failed(s, err);
	rcore_error_free(err);
	if (failed || line < 0)
		return RCORE_FAILS;
	return line ? verdict_of(info->first_line >= 0 && line >= info->first_line &&
				 line - info->first_line < REACH)
		    : RCORE_SILENT;
}

/* BUILTIN_ATTR_LEAF, _NO_GC ... of vm_core.h */
CHECK(iseq_builtin_attrs)
{
	return at_most(s, base, field, 0xff);
}
