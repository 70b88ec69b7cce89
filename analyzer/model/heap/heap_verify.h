/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_VERIFY_H
#define RCORE_MODEL_HEAP_VERIFY_H

#include "model/heap/heap_object.h"

/* `rcore heap verify`: what contradicts itself in a heap. */
enum rcore_heap_defect_kind {
	RCORE_DEFECT_FREE_SLOT, /* refers to a slot that is free */
	RCORE_DEFECT_NO_SLOT,   /* refers to no slot at all */
	/* Refers to what the collector found to be garbage. */
	RCORE_DEFECT_GARBAGE,
	/* Old, refers to a young object, and nobody told the collector. */
	RCORE_DEFECT_BARRIER,
	RCORE_DEFECT_TYPE,  /* its flags have a type that no object has */
	RCORE_DEFECT_CLASS, /* its class is no class */
	RCORE_DEFECT_KINDS,
};

struct rcore_heap_defect {
	enum rcore_heap_defect_kind kind;
	struct rcore_heap_object object;
	const char *how; /* of the reference; NULL: the object itself */
	uint64_t value;  /* what it refers to, or its flags */
	/* What is there; its `klass` is NULL if nothing is. */
	struct rcore_heap_object target;
};

struct rcore_heap_verified {
	uint64_t objects, references;        /* that were checked */
	uint64_t counts[RCORE_DEFECT_KINDS]; /* of all defects */
	struct rcore_heap_defect *defects;   /* the first ones */
	size_t defect_count;
	const char *collector; /* what it was doing: "sweeping" */
	/* What was not checked because of what the collector did. */
	const char *unchecked; /* NULL: nothing */
	struct rcore_heap_gaps gaps;
	struct rcore_redaction redaction;
	struct rcore_arena arena; /* everything above is in it */
};

/* "reference to a free slot" */
const char *rcore_heap_defect_name(enum rcore_heap_defect_kind kind);

#endif
