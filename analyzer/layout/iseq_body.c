/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "layout/layout.h"

/*
 * Bytes at the end of struct rb_iseq_constant_body (vm_core.h) that exist if
 * Ruby was built with any of these compilers. Up to 3.1, all usual builds have
 * the same members.
 */
static const struct part {
	unsigned major, first_minor, last_minor;
	unsigned jits;
	uint32_t bytes;
} parts[] = {
	/* jit_func, total_calls */
	{3, 2, 2, RCORE_BUILT_MJIT | RCORE_BUILT_YJIT, 16},
	/* mjit_unit */
	{3, 2, 2, RCORE_BUILT_MJIT, 8},
	/* yjit_payload */
	{3, 2, 2, RCORE_BUILT_YJIT, 8},
	/* jit_entry, jit_entry_calls */
	{3, 3, 4, RCORE_BUILT_RJIT | RCORE_BUILT_YJIT, 16},
	/* jit_exception, jit_exception_calls */
	{3, 3, 4, RCORE_BUILT_YJIT, 16},
	/* rjit_blocks */
	{3, 3, 4, RCORE_BUILT_RJIT, 8},
	/* yjit_payload, yjit_calls_at_interv */
	{3, 3, 4, RCORE_BUILT_YJIT, 16},
	/* jit_entry, jit_entry_calls, jit_exception, jit_exception_calls */
	{4, 0, 0, RCORE_BUILT_YJIT | RCORE_BUILT_ZJIT, 32},
	/* yjit_payload, yjit_calls_at_interv */
	{4, 0, 0, RCORE_BUILT_YJIT, 16},
	/* zjit_payload */
	{4, 0, 0, RCORE_BUILT_ZJIT, 8},
};

static bool is_of(const struct part *part, const struct rcore_layout *layout)
{
	return layout->version[0] == part->major && layout->version[1] >= part->first_minor &&
	       layout->version[1] <= part->last_minor;
}

bool rcore_layout_has_jit_members(const struct rcore_layout *layout)
{
	for (size_t i = 0; i < RCORE_COUNT(parts); i++)
		if (is_of(&parts[i], layout))
			return true;
	return false;
}

uint32_t rcore_layout_iseq_body_size(const struct rcore_layout *layout, unsigned jits)
{
	if (!rcore_layout_has_jit_members(layout))
		return layout->iseq_body.size;
	uint32_t size = (uint32_t)rcore_field_end(&layout->iseq_body.mandatory_only_iseq);
	for (size_t i = 0; size && i < RCORE_COUNT(parts); i++)
		if (is_of(&parts[i], layout) && (parts[i].jits & jits))
			size += parts[i].bytes;
	return size;
}
