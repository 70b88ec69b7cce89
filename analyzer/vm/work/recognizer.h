/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_RECOGNIZER_H
#define RCORE_VM_RECOGNIZER_H

#include "vm/work/value_path.h"

/*
 * An entry of recognizers.json, or of a file of the same format that the user
 * names. It says which frames of a framework show what it works on, and by
 * which paths the values are found.
 *
 *   "name"      what it recognizes: "Sidekiq"
 *   "kind"      what is worked on: "job"
 *   "methods"   labels of frames: "Sidekiq::Processor#process"; "#call" stands
 *               for the method `call` of any class
 *   "take"      "outermost" (the default) or "innermost": which frame to use if
 *               several frames of a stack match
 *   "requires"  fields without which a frame is skipped
 *   "fields"    a path (value_path.h) for each field, or a list of paths: the
 *               first that leads to a value other than nil or false is used
 */
struct rcore_recognizer_field {
	const char *name;
	bool is_required;
	const struct rcore_value_path **paths;
	size_t path_count;
};

struct rcore_recognizer {
	const char *name, *kind;
	const char **methods;
	size_t method_count;
	bool is_innermost;
	struct rcore_recognizer_field *fields;
	size_t field_count;
};

/* More than this in a file is an error. */
enum { RCORE_RECOGNIZER_LIMIT = 1000 };

struct rcore_recognizers {
	struct rcore_arena arena;
	struct rcore_recognizer *items;
	size_t count, capacity;
};

/*
 * Adds the entries of `file` (NULL: none) and the built-in ones. An entry of
 * `file` replaces a built-in one of the same name. The caller frees
 * *recognizers with rcore_recognizers_deinit(), also after an error. Errors: OS
 * (the file cannot be read), FORMAT (it is not such a file; the message names
 * the entry), LIMIT, NO_MEMORY.
 */
struct rcore_error *rcore_recognizers_read(struct rcore_recognizers *recognizers,
					   const char *file);

void rcore_recognizers_deinit(struct rcore_recognizers *recognizers);

/* Returns whether the entry's methods include a frame with this label. */
bool rcore_recognizer_matches(const struct rcore_recognizer *recognizer, const char *label);

#endif
