/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_DOCTOR_H
#define RCORE_MODEL_HEAP_DOCTOR_H

#include "base/arena.h"
#include "model/heap/heap_object.h"

/* `rcore heap doctor`: whether rcore finds what the collector found. */
struct rcore_heap_doctor {
	uint64_t marked, reached; /* objects */
	/* By class, what was not reached; the most first. */
	struct rcore_doctor_class {
		const char *name;
		uint64_t count;
	} * missed;
	size_t missed_count;
	/* What would be reached without the references of one type. */
	struct rcore_doctor_rule {
		const char *type; /* static: "T_HASH" */
		uint64_t reached;
	} * rules;
	size_t rule_count;
	struct rcore_heap_gaps gaps;
	struct rcore_redaction redaction;
	struct rcore_arena arena; /* everything above is in it */
};

#endif
