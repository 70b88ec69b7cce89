/* SPDX-License-Identifier: MIT */
#include "session/pack/pack_values.h"

uint64_t rcore_pack_values(const struct rcore_pack_facts *source,
			   const struct rcore_locals_options *values)
{
	uint64_t all = RCORE_PACK_VALUES_KNOWN;
	all |= values->self ? RCORE_PACK_SELF : 0;
	all |= values->arguments || values->locals ? RCORE_PACK_ARGUMENTS : 0;
	all |= values->locals ? RCORE_PACK_LOCALS : 0;
	return source ? all & source->values : all;
}

struct rcore_error *rcore_pack_values_limit(const struct rcore_pack_facts *pack,
					    struct rcore_locals_options *values)
{
	const uint64_t has = pack->values;
	/* --locals prints arguments, too. */
	const bool arguments = values->arguments || values->locals;
	const bool no_self = values->self && !(has & RCORE_PACK_SELF);
	const bool no_locals = values->locals && !(has & RCORE_PACK_LOCALS);
	const bool no_arguments = !values->locals && arguments && !(has & RCORE_PACK_ARGUMENTS);
	if (!(has & RCORE_PACK_VALUES_KNOWN) || !(no_self || no_locals || no_arguments))
		return NULL;
	values->self &= (has & RCORE_PACK_SELF) != 0;
	values->arguments = arguments && has & RCORE_PACK_ARGUMENTS;
	values->locals &= (has & RCORE_PACK_LOCALS) != 0;
	return rcore_error_create(
		RCORE_ERROR_FAULT,
		"the pack was written without%s%s%s, so it does not have all values; write it "
		"again, with `rcore pack%s%s%s`",
		no_self ? " --self" : "", no_arguments ? " --args" : "",
		no_locals ? " --locals" : "", no_self ? " --self" : "",
		no_arguments ? " --args" : "", no_locals ? " --locals" : "");
}
