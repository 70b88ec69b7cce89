/* SPDX-License-Identifier: MIT */
#include "vm/field_proof.h"

/* One corrupt instance among many does not make the layout wrong. */
static enum rcore_verdict prove(const struct rcore_specimens *specimens,
				const struct rcore_field_rule *rule,
				const struct rcore_field *field)
{
	const struct rcore_specimen_list *list =
		(const void *)((const char *)specimens + rule->specimens);
	size_t held = 0, failed = 0;

	for (size_t i = 0; i < list->count; i++) {
		enum rcore_verdict verdict = rule->judge(specimens, list->at[i], field);
		held += verdict == RCORE_HOLDS;
		failed += verdict == RCORE_FAILS;
	}
	return failed && failed >= held ? RCORE_FAILS : held ? RCORE_HOLDS : RCORE_SILENT;
}

static const struct rcore_field_rule *find(const struct rcore_field_rule *rules, size_t count,
					   size_t field)
{
	for (size_t i = 0; i < count; i++)
		if (rules[i].field == field)
			return &rules[i];
	return NULL;
}

enum rcore_verdict rcore_field_prove(const struct rcore_specimens *specimens,
				     const struct rcore_item *item,
				     const struct rcore_field *field, bool *has_rule)
{
	const struct rcore_field_rule *rule =
		find(rcore_vm_rules, rcore_vm_rules_count, item->where);
	if (!rule)
		rule = find(rcore_code_rules, rcore_code_rules_count, item->where);
	if (has_rule)
		*has_rule = rule != NULL;
	return rule && rcore_has(field) ? prove(specimens, rule, field) : RCORE_SILENT;
}
