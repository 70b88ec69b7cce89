/* SPDX-License-Identifier: MIT */
#include "ruby/children/imemo_name.h"

#include "base/count.h"

const char *rcore_imemo_name(const struct rcore_layout *layout, unsigned type)
{
	const struct rcore_traits *traits = &layout->traits;
	const struct {
		const char *name;
		int64_t type;
		bool may_be_0;
	} types[] = {
		{"env", traits->imemo_env, true},
		{"cref", traits->imemo_cref, false},
		{"svar", traits->imemo_svar, false},
		{"throw_data", traits->imemo_throw_data, false},
		{"ifunc", traits->imemo_ifunc, false},
		{"memo", traits->imemo_memo, false},
		{"ment", traits->imemo_ment, false},
		{"iseq", traits->imemo_iseq, false},
		{"tmpbuf", traits->imemo_tmpbuf, false},
		{"ast", traits->imemo_ast, false},
		{"parser_strterm", traits->imemo_parser_strterm, false},
		{"cvar_entry", traits->imemo_cvar_entry, false},
		{"callinfo", traits->imemo_callinfo, false},
		{"callcache", traits->imemo_callcache, false},
		{"constcache", traits->imemo_constcache, false},
		{"fields", layout->constant.imemo_fields, false},
	};
	for (size_t i = 0; i < RCORE_COUNT(types); i++)
		if (types[i].type == (int64_t)type && (type || types[i].may_be_0))
			return types[i].name;
	return "unknown";
}
