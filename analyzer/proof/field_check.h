/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_FIELD_CHECK_H
#define RCORE_PROOF_FIELD_CHECK_H

#include "layout/schema.h"
#include "proof/samples.h"

/*
 * Proves single fields, on all instances at hand: a pointer that leads back, a VALUE of the type that
 * can stand there, a list that closes. A NULL, or a number that says little, is silent.
 */
enum rcore_verdict { RCORE_SILENT, RCORE_HOLDS, RCORE_FAILS };

/* One of fields.def on the samples; `field` is where to look for it, the layout's own or a guess.
 * *has_rule (may be NULL): whether there is a proof of this field at all. */
enum rcore_verdict rcore_field_prove(const struct rcore_samples *samples,
				     const struct rcore_item *item,
				     const struct rcore_field *field, bool *has_rule);

/* The rules, in files field_rules*.c: of the VM and what runs in it; of code; of methods and their
 * parameters; of objects; of tables and classes; of what T_DATA wrap; of who waits. */
typedef enum rcore_verdict rcore_judge(const struct rcore_samples *samples, uint64_t base,
				       const struct rcore_field *field);
/* A field may have several, on instances of different kinds; where any fails, it is wrong. */
struct rcore_field_rule {
	size_t field;   /* offset in struct rcore_layout */
	size_t samples; /* of its list in struct rcore_samples */
	rcore_judge *judge;
};
extern const struct rcore_field_rule rcore_vm_rules[], rcore_code_rules[], rcore_method_rules[],
	rcore_object_rules[], rcore_table_rules[], rcore_wrapped_rules[], rcore_wait_rules[];
extern const size_t rcore_vm_rules_count, rcore_code_rules_count, rcore_method_rules_count,
	rcore_object_rules_count, rcore_table_rules_count, rcore_wrapped_rules_count,
	rcore_wait_rules_count;

#endif
