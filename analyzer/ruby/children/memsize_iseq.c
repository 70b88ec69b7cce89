/* SPDX-License-Identifier: MIT */
/* The size of compiled code. */
#include "base/count.h"
#include "ruby/children/memsize_private.h"
#include "ruby/object/constant.h"

/* The names in paths of constants that are cached, each ended by 0; 3.2 on. */
static uint64_t segments_size(struct rcore_sizing *sizing, uint64_t body)
{
	enum { SEGMENT_LIMIT = 4096 };
	const struct rcore_layout *layout = sizing->layout;
	uint64_t count = READ(body, iseq_body, ic_size), bytes = 0;
	uint64_t at = READ(body, iseq_body, is_entries) +
		      layout->inline_storage.size * (READ(body, iseq_body, ivc_size) +
						     READ(body, iseq_body, icvarc_size) +
						     READ(body, iseq_body, ise_size));
	if (!rcore_has(&layout->inline_constant.segments) || count > TABLE_LIMIT)
		return 0;
	for (uint64_t i = 0; i < count; i++, at += layout->inline_storage.size) {
		uint64_t list = READ(at, inline_constant, segments), id = 0;
		for (unsigned k = 0; list && k < SEGMENT_LIMIT; k++) {
			if (rcore_read_u64(sizing->memory, list + k * WORD, &id))
				sizing->failed = true;
			bytes += WORD;
			if (!id || sizing->failed)
				break;
		}
	}
	return bytes;
}

/* Modules that exist if Ruby was built with a compiler, enabled or not. */
static const struct {
	const char *path;
	unsigned jit;
} jit_modules[] = {
	{"RubyVM::MJIT", RCORE_BUILT_MJIT},
	{"RubyVM::RJIT", RCORE_BUILT_RJIT},
	{"RubyVM::YJIT", RCORE_BUILT_YJIT},
	{"RubyVM::ZJIT", RCORE_BUILT_ZJIT},
};

/* Returns false if it cannot be known whether there is such a constant. */
static bool has_constant(struct rcore_ruby *ruby, const char *path, bool *ret)
{
	uint64_t value;
	rcore_auto_error err = rcore_constant(ruby, path, &value);
	*ret = !err;
	return !err || err->code == RCORE_ERROR_USAGE;
}

static bool find_jits(struct rcore_ruby *ruby, unsigned *ret)
{
	bool exists;
	*ret = 0;
	if (!has_constant(ruby, "RubyVM", &exists) || !exists)
		return false;
	for (size_t i = 0; i < RCORE_COUNT(jit_modules); i++) {
		if (!has_constant(ruby, jit_modules[i].path, &exists))
			return false;
		*ret |= exists ? jit_modules[i].jit : 0;
	}
	return true;
}

/* The size of struct rb_iseq_constant_body. */
static uint32_t body_size(struct rcore_sizing *sizing)
{
	enum { SEARCH_LIMIT = 3 };
	unsigned jits;
	if (!rcore_layout_has_jit_members(sizing->layout))
		return rcore_layout_iseq_body_size(sizing->layout, 0);
	if (!rcore_sizing_can_decode(sizing))
		return 0;
	struct rcore_statics *statics = &sizing->ruby->statics;
	if (!statics->iseq_body_size && statics->searches.body++ < SEARCH_LIMIT &&
	    find_jits(sizing->ruby, &jits))
		statics->iseq_body_size = rcore_layout_iseq_body_size(sizing->layout, jits);
	sizing->failed |= !statics->iseq_body_size;
	return statics->iseq_body_size;
}

/* Calls that the code contains. 2.6 has other structs for them. */
static uint64_t plain_calls_size(struct rcore_sizing *sizing, uint64_t body)
{
	uint64_t count = READ(body, iseq_body, ci_size);
	sizing->failed |= count && !sizing->layout->call_data.size;
	return rcore_sizing_bounded(sizing, count, sizing->layout->call_data.size);
}

/*
 * Calls with keywords: up to 2.7, struct rb_kwarg_call_data (vm_core.h), which
 * is an rb_call_data and a pointer to the names. They follow the other calls.
 */
static uint64_t keyword_calls_size(struct rcore_sizing *sizing, uint64_t body)
{
	const uint64_t plain = sizing->layout->call_data.size;
	uint64_t count = READ(body, iseq_body, ci_kw_size), names;
	uint64_t at = READ(body, iseq_body, call_data) +
		      READ(body, iseq_body, ci_size) * plain + plain;
	uint32_t name_count;
	if (count > TABLE_LIMIT || (count && !plain)) {
		sizing->failed = true;
		return 0;
	}
	uint64_t bytes = count * (plain + WORD);
	for (uint64_t i = 0; i < count && !sizing->failed; i++, at += plain + WORD) {
		if (rcore_read_u64(sizing->memory, at, &names))
			sizing->failed = true;
		else if (names && rcore_read_u32(sizing->memory, names, &name_count))
			sizing->failed = true;
		else if (names)
			/* rb_call_info_kw_arg_bytes() */
			bytes += WORD + (uint64_t)name_count * WORD;
	}
	return bytes;
}

/* rb_iseq_memsize() of iseq.c. */
uint64_t rcore_sizing_of_iseq(struct rcore_sizing *sizing)
{
	enum { BITS = 64 };
	const struct rcore_layout *layout = sizing->layout;
	/* ISEQ_NOT_LOADED_YET, ISEQ_USE_COMPILE_DATA */
	const uint64_t compiling = RCORE_IMEMO_FL_USER(2);
	const uint64_t other = RCORE_IMEMO_FL_USER(1) | compiling;
	uint64_t body = FIELD(iseq, body), keyword, table, bytes;
	if (sizing->flags & compiling)
		sizing->failed = true;
	if (sizing->flags & other || !body)
		return 0;
	uint64_t size = READ(body, iseq_body, iseq_size);
	bytes = body_size(sizing) + rcore_sizing_bounded(sizing, size, WORD);
	bytes += rcore_sizing_bounded(sizing, READ(body, iseq_body, insns_info_size),
				      layout->insn_info.size + sizeof(uint32_t));
	bytes += rcore_sizing_bounded(sizing, READ(body, iseq_body, local_table_size), WORD);
	if (rcore_has(&layout->iseq_body.mark_bits))
		bytes += (size + BITS - 1) / BITS * WORD;
	table = READ(body, iseq_body, catch_table);
	if (table)
		bytes += (uint64_t)layout->catch_table.entries.offset +
			 rcore_sizing_bounded(sizing, READ(table, catch_table, count),
					      layout->catch_entry.size);
	bytes += rcore_sizing_bounded(sizing, READ(body, iseq_body, opt_num) + 1, WORD);
	keyword = READ(body, iseq_body, keyword);
	if (keyword)
		bytes += layout->keyword.size +
			 rcore_sizing_bounded(sizing,
					      READ(keyword, keyword, num) -
						      READ(keyword, keyword, required_num),
					      WORD);
	bytes += rcore_sizing_bounded(
		sizing,
		READ(body, iseq_body, is_size) + READ(body, iseq_body, ic_size) +
			READ(body, iseq_body, ise_size) + READ(body, iseq_body, ivc_size) +
			READ(body, iseq_body, icvarc_size),
		layout->inline_storage.size);
	bytes += segments_size(sizing, body);
	return bytes + plain_calls_size(sizing, body) + keyword_calls_size(sizing, body);
}
