/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_RECOGNIZER_H
#define RCORE_VM_RECOGNIZER_H

#include "vm/work/value_path.h"

/*
 * An entry of recognizers.json, or of a file of the same form that the user
 * names: in which frames a framework knows what it works on, and where.
 *
 *   "name"      what it recognizes: "Sidekiq"
 *   "kind"      what is worked on: "job"
 *   "methods"   labels of frames: "Sidekiq::Processor#process"; "#call" is a
 *               method of this name of any class
 *   "take"      "outermost" (the default) or "innermost": which frame, if more
 *               than one of a stack is such a frame
 *   "requires"  fields without which it is none
 *   "fields"    each a path (value_path.h), or several, of which the first that
 *               leads to a value other than nil or false is taken
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
 * Adds the built-in entries, and before them those of `file` (NULL: none), so
 * that its entry replaces a built-in one of the same name. The caller frees
 * *recognizers with rcore_recognizers_deinit(), also after an error. Errors: OS
 * (the file cannot be read), FORMAT (it is not such a file; the message names
 * the entry), LIMIT, NO_MEMORY.
 */
struct rcore_error *rcore_recognizers_read(struct rcore_recognizers *recognizers,
					   const char *file);

void rcore_recognizers_deinit(struct rcore_recognizers *recognizers);

/* Returns whether a frame with this label is one of its frames. */
bool rcore_recognizer_matches(const struct rcore_recognizer *recognizer, const char *label);

#endif
