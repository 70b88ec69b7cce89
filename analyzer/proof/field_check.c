/* SPDX-License-Identifier: MIT */
#include "proof/field_check.h"

/* One corrupt instance among many does not make the layout wrong; nor does one that is being made or is
 * dead and not yet swept, where the others have no more to say than that they have nothing there. */
static enum rcore_verdict prove(const struct rcore_samples *samples,
				const struct rcore_field_rule *rule,
				const struct rcore_field *field)
{
	const struct rcore_sample_list *list =
		(const void *)((const char *)samples + rule->samples);
	enum { MANY = 16 };
	size_t held = 0, failed = 0;

	for (size_t i = 0; i < list->count; i++) {
		enum rcore_verdict verdict = rule->judge(samples, list->at[i], field);
		held += verdict == RCORE_HOLDS;
		failed += verdict == RCORE_FAILS;
	}
	return failed >= held && failed * MANY > list->count ? RCORE_FAILS
	       : held                                        ? RCORE_HOLDS
							     : RCORE_SILENT;
}

enum rcore_verdict rcore_field_prove(const struct rcore_samples *samples,
				     const struct rcore_item *item,
				     const struct rcore_field *field, bool *has_rule)
{
	const struct {
		const struct rcore_field_rule *rules;
		size_t count;
	} files[] = {
		{rcore_vm_rules, rcore_vm_rules_count},
		{rcore_code_rules, rcore_code_rules_count},
		{rcore_method_rules, rcore_method_rules_count},
		{rcore_object_rules, rcore_object_rules_count},
		{rcore_table_rules, rcore_table_rules_count},
		{rcore_wrapped_rules, rcore_wrapped_rules_count},
		{rcore_wait_rules, rcore_wait_rules_count},
	};
	enum rcore_verdict verdict = RCORE_SILENT;
	bool is_known = false;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		for (size_t j = 0; j < files[i].count; j++) {
			const struct rcore_field_rule *rule = &files[i].rules[j];
			if (rule->field != item->where)
				continue;
			is_known = true;
			if (rcore_has_place(field) && verdict != RCORE_FAILS) {
				enum rcore_verdict one = prove(samples, rule, field);
				verdict = one == RCORE_SILENT ? verdict : one;
			}
		}
	if (has_rule)
		*has_rule = is_known;
	return verdict;
}
