/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_PRINTED_H
#define RCORE_MODEL_PRINTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena_struct.h"
#include "model/redaction.h"
#include "model/value.h"

/* What to print: rcore_print() takes an array of these. */
struct rcore_subject {
	/* Its path, "Foo::BAR"; NULL: `value` is the VALUE. */
	const char *constant;
	/* An address, or an immediate such as 0x14 (true). */
	uint64_t value;
};

/* A pair of a Hash, or an element of an Array or Set. */
struct rcore_element {
	bool has_key; /* false: an Array or Set */
	struct rcore_value key, value;
};

/*
 * A value and what it directly contains. Each part has an inspect of its own.
 */
struct rcore_printed {
	struct rcore_value value;
	/* "T_HASH", "immediate"; NULL: unknown. */
	const char *type;
	/* Of a T_DATA: "VM/thread"; NULL: none or unknown. */
	const char *data_type;
	/* Instance variables; members of a Struct or Data. */
	struct rcore_variable *variables;
	size_t variable_count;
	struct rcore_element *items;
	size_t item_count;
	/* Of the container; exceeds item_count if max_items cut it. */
	uint64_t item_total;
	const char *problem; /* of what it contains */
};

/*
 * The result of rcore_print(). rcore_print_free() frees it and all it points
 * to.
 */
struct rcore_print {
	struct rcore_arena arena; /* private */
	struct rcore_redaction redaction;
	struct rcore_printed *items; /* in the order of the subjects */
	size_t count;
};

#endif
