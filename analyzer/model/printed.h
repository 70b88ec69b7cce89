/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_PRINTED_H
#define RCORE_MODEL_PRINTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "model/redaction.h"
#include "model/value.h"

/* A pair of a Hash; an element of an Array or a Set, without a key. */
struct rcore_element {
	bool has_key;
	struct rcore_value key, value;
};

/* A value, and what it holds one level down, each with its own inspect. */
struct rcore_printed {
	struct rcore_value value;
	const char *type;      /* "T_HASH"; "immediate"; NULL: not known */
	const char *data_type; /* what a T_DATA wraps, "VM/thread"; NULL: nothing, not known */
	struct rcore_variable *variables; /* ivars; members of a Struct or Data */
	size_t variable_count;
	struct rcore_element *items;
	size_t item_count;
	uint64_t item_total; /* of the container; more than item_count where options cut it */
	const char *problem; /* of what it holds */
};

/* What to print. */
struct rcore_subject {
	const char *constant; /* its path, "Foo::BAR"; NULL: `value` is the VALUE */
	uint64_t value;
};

struct rcore_print {
	struct rcore_arena arena; /* of everything below */
	struct rcore_redaction redaction;
	struct rcore_printed *items;
	size_t count;
};

/* Names of constants, each once, in the order of strcmp(). */
struct rcore_names {
	struct rcore_arena arena;
	const char **items;
	size_t count, capacity;
};

#endif
