/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the fields of methods and of their parameters, locals and lines.
 */
#include "ruby/iseq.h"
#include "proof/check.h"

/* enum rb_method_type_t of method.h, the same from 2.6 to 4.0. */
enum {
	ISEQ,
	CFUNC,
	ATTRSET,
	IVAR,
	BMETHOD,
	ZSUPER,
	ALIAS,
	UNDEF,
	NOTIMPLEMENTED,
	OPTIMIZED,
	MISSING,
	REFINED,
};

static bool is_of(const struct rcore_samples *s, uint64_t definition, uint64_t type)
{
	return leads(s, definition, &layout_of(s)->method_def.type, type);
}

JUDGE(method_iseq)
{
	uint64_t iseq;
	if (!is_of(s, base, ISEQ))
		return RCORE_SILENT;
	return told(get(s, base, field, &iseq) &&
		    is_imemo(s, iseq, layout_of(s)->traits.imemo_iseq));
}

JUDGE(method_function)
{
	return is_of(s, base, CFUNC) ? a_function(s, base, field) : RCORE_SILENT;
}

/* By its body one sees what it is. */
JUDGE(method_type)
{
	uint64_t type;
	if (!get(s, base, field, &type) || type > REFINED)
		return RCORE_FAILS;
	return type == ISEQ    ? method_iseq(s, base, &layout_of(s)->method_def.iseqptr)
	       : type == CFUNC ? method_function(s, base, &layout_of(s)->method_def.cfunc_func)
			       : RCORE_SILENT;
}

/* -1 takes all in an array of C, -2 in a Ruby one; else their number. */
JUDGE(method_argc)
{
	enum { LEAST = -2, MOST = 15 };
	uint64_t argc;
	if (!is_of(s, base, CFUNC))
		return RCORE_SILENT;
	return told(get(s, base, field, &argc) && (int32_t)argc >= LEAST &&
		    (int32_t)argc <= MOST);
}

JUDGE(method_alias)
{
	uint64_t original;
	if (!is_of(s, base, ALIAS))
		return RCORE_SILENT;
	return told(get(s, base, field, &original) &&
		    is_imemo(s, original, layout_of(s)->traits.imemo_ment));
}

JUDGE(method_proc)
{
	return is_of(s, base, BMETHOD) ? object_of(s, base, field, TYPE(DATA)) : RCORE_SILENT;
}

/* Where the accessor was defined, while that is traced: an Array of path and line. */
JUDGE(method_location)
{
	return is_of(s, base, ATTRSET) || is_of(s, base, IVAR)
		       ? object_of(s, base, field, TYPE(ARRAY))
		       : RCORE_SILENT;
}

JUDGE(method_optimized)
{
	enum { TYPES = 5 };
	return is_of(s, base, OPTIMIZED) ? at_most(s, base, field, TYPES - 1) : RCORE_SILENT;
}

/* Most methods are called by the name that they were defined with. */
JUDGE(method_name)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t definition, original, called;
	if (!get(s, base, &layout->cme.def, &definition) ||
	    !get(s, definition, field, &original) ||
	    !get(s, base, &layout->cme.called_id, &called))
		return RCORE_FAILS;
	return is_of(s, definition, ALIAS) ? RCORE_SILENT : told(original == called);
}

JUDGE(svar_method)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? told(is_object(s, value, TYPE(IMEMO))) : RCORE_SILENT;
}

/* The environment in front of its own end: ep[VM_ENV_DATA_INDEX_ENV]. */
JUDGE(env_end)
{
	uint64_t ep, back;
	return told(get(s, base, field, &ep) && ep &&
		    !rcore_read_u64(s->ruby->memory, ep + sizeof(back), &back) && back == base);
}

JUDGE(env_iseq)
{
	uint64_t iseq;
	if (!get(s, base, field, &iseq))
		return RCORE_FAILS;
	return iseq ? told(is_imemo(s, iseq, layout_of(s)->traits.imemo_iseq)) : RCORE_SILENT;
}

/* Parameters stand in one row: required, optional, rest, required, keywords and what says which were
 * given, the rest of them, block (iseq_set_arguments of compile.c). */
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

/* Of a field that is zero here nothing is told. */
JUDGE(parameter_sum)
{
	struct parameters parameters;
	uint64_t value;
	if (!get(s, base, field, &value) || !read_parameters(s, base, &parameters))
		return RCORE_FAILS;
	return value && !parameters.forwardable ? told(add_up(&parameters)) : RCORE_SILENT;
}

JUDGE(has_optional)
{
	uint64_t has, count;
	if (!get(s, base, &layout_of(s)->iseq_body.has_opt, &has) ||
	    !get(s, base, &layout_of(s)->iseq_body.opt_num, &count))
		return RCORE_FAILS;
	return has || count ? told(has && count) : RCORE_SILENT;
}

JUDGE(has_post)
{
	uint64_t has, count;
	if (!get(s, base, &layout_of(s)->iseq_body.has_post, &has) ||
	    !get(s, base, &layout_of(s)->iseq_body.post_num, &count))
		return RCORE_FAILS;
	return has || count ? told(has && count) : RCORE_SILENT;
}

JUDGE(rest_start)
{
	struct parameters p;
	uint64_t start;
	if (!get(s, base, field, &start) || !read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.rest ? told(start == p.lead + p.opt) : RCORE_SILENT;
}

JUDGE(post_start)
{
	struct parameters p;
	uint64_t start;
	if (!get(s, base, field, &start) || !read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.post ? told(start == p.lead + p.opt + p.rest) : RCORE_SILENT;
}

JUDGE(block_start)
{
	struct parameters p;
	uint64_t start;
	if (!get(s, base, field, &start) || !read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.block ? told(start + 1 == p.size) : RCORE_SILENT;
}

JUDGE(keyword_pointer)
{
	struct parameters p;
	if (!read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.kw ? told(p.keyword && add_up(&p)) : RCORE_SILENT;
}

/* What says which keywords were given comes after these. */
JUDGE(keyword_bits)
{
	struct parameters p;
	uint64_t start;
	if (!read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.kw ? told(get(s, p.keyword, field, &start) &&
			   start + 1 == p.size - p.kwrest - p.block)
		    : RCORE_SILENT;
}

JUDGE(keyword_rest)
{
	struct parameters p;
	uint64_t start;
	if (!read_parameters(s, base, &p))
		return RCORE_FAILS;
	return p.kwrest
		       ? told(get(s, p.keyword, field, &start) && start + 1 == p.size - p.block)
		       : RCORE_SILENT;
}

JUDGE(keyword_required)
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

/* Locals have IDs, but for those that the compiler makes up; the parameters are the first of them. */
JUDGE(locals)
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
	return told(named * 2 >= count);
}

/* The last instruction has a line, in reach of the first. */
JUDGE(lines)
{
	enum { REACH = 1 << 16 };
	const struct rcore_iseq_info *info;
	int line = 0;
	struct rcore_error *err = rcore_iseq(s->ruby, base, &info);
	if (!err && info->size)
		err = rcore_iseq_line(s->ruby, info,
				      info->encoded + (info->size - 1) * sizeof(uint64_t),
				      &line);
	bool failed = err;
	rcore_error_free(err);
	if (failed || line < 0)
		return RCORE_FAILS;
	return line ? told(info->first_line >= 0 && line >= info->first_line &&
			   line - info->first_line < REACH)
		    : RCORE_SILENT;
}

/* BUILTIN_ATTR_LEAF, _NO_GC ... of vm_core.h. */
JUDGE(builtin_attributes)
{
	return at_most(s, base, field, 0xff);
}

const struct rcore_field_rule rcore_method_rules[] = {
	RULE(method_def, type, method_type),
	RULE(method_def, iseqptr, method_iseq),
	RULE(method_def, cfunc_func, method_function),
	RULE(method_def, cfunc_argc, method_argc),
	RULE(method_def, alias_me, method_alias),
	RULE(method_def, bmethod_proc, method_proc),
	RULE(method_def, attr_location, method_location),
	RULE_ON(cme, method_def, original_id, method_name),
	RULE(method_def, optimized_type, method_optimized),
	RULE(svar, cref_or_me, svar_method),
	RULE(env, ep, env_end),
	RULE(env, iseq, env_iseq),
	RULE(iseq_body, has_opt, has_optional),
	RULE(iseq_body, has_rest, parameter_sum),
	RULE(iseq_body, has_post, has_post),
	RULE(iseq_body, has_kw, parameter_sum),
	RULE(iseq_body, has_kwrest, parameter_sum),
	RULE(iseq_body, has_block, parameter_sum),
	RULE(iseq_body, param_size, parameter_sum),
	RULE(iseq_body, lead_num, parameter_sum),
	RULE(iseq_body, opt_num, parameter_sum),
	RULE(iseq_body, rest_start, rest_start),
	RULE(iseq_body, post_start, post_start),
	RULE(iseq_body, post_num, parameter_sum),
	RULE(iseq_body, block_start, block_start),
	RULE(iseq_body, keyword, keyword_pointer),
	RULE_ON(iseq_body, keyword, num, keyword_pointer),
	RULE_ON(iseq_body, keyword, required_num, keyword_required),
	RULE_ON(iseq_body, keyword, bits_start, keyword_bits),
	RULE_ON(iseq_body, keyword, rest_start, keyword_rest),
	RULE(iseq_body, local_table, locals),
	RULE(iseq_body, local_table_size, locals),
	RULE_ON(iseq, iseq_body, first_lineno, lines),
	RULE_ON(iseq, iseq_body, insns_info_body, lines),
	RULE_ON(iseq, iseq_body, insns_info_size, lines),
	RULE_ON(iseq, iseq_body, succ_index_table, lines),
	RULE_ON(iseq, insn_info, line_no, lines),
	RULE(iseq_body, builtin_attrs, builtin_attributes),
};

const size_t rcore_method_rules_count =
	sizeof(rcore_method_rules) / sizeof(*rcore_method_rules);
