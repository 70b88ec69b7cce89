/* SPDX-License-Identifier: MIT */
#include "session/layout/field_checks.h"

#include "layout/schema.h"
#include "proof/field_check.h"

static enum rcore_field_state state_of(const struct rcore_samples *samples,
				       const struct rcore_check_row *row,
				       const struct rcore_field *field)
{
	static const enum rcore_field_state states[] = {
		[RCORE_SILENT] = RCORE_FIELD_SILENT,
		[RCORE_HOLDS] = RCORE_FIELD_PROVED,
		[RCORE_FAILS] = RCORE_FIELD_WRONG,
	};
	if (!rcore_has_place(field))
		return RCORE_FIELD_UNMEASURED;
	return row->check ? states[rcore_check_field(samples, row)] : RCORE_FIELD_NO_PROOF;
}

struct rcore_error *rcore_session_check_fields(const struct rcore_target *target,
					       struct rcore_located *located,
					       struct rcore_snapshot *snapshot)
{
	struct rcore_samples samples;
	struct rcore_ruby ruby;

	snapshot->field_checks = rcore_arena_alloc(
		&snapshot->arena, rcore_item_count * sizeof(*snapshot->field_checks));
	if (!snapshot->field_checks)
		return rcore_error_no_memory();
	rcore_reader_init(&ruby, target, located, &snapshot->arena);
	rcore_samples_take(&ruby, target->process, located->location.vm, &samples);
	rcore_samples_take_heap(&samples);
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind != RCORE_ITEM_FIELD)
			continue;
		const struct rcore_field *field =
			rcore_item_field(&located->location.layout, item);
		const struct rcore_check_row *row = rcore_check_row(item->where);
		if (!rcore_has(field))
			continue;
		snapshot->field_checks[snapshot->field_check_count++] =
			(struct rcore_field_check){
				.group = item->group,
				.id = item->id,
				.offset = field->offset,
				.state = state_of(&samples, row, field),
				.reason = row->reason,
			};
	}
	bool lacks_memory = ruby.lacks_memory;
	rcore_reader_deinit(&ruby, located);
	return lacks_memory ? rcore_error_no_memory() : NULL;
}
