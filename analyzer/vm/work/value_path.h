/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_VALUE_PATH_H
#define RCORE_VM_VALUE_PATH_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

/*
 * The way from a Ruby frame to a value, as it is written in recognizers.json:
 *
 *   env['PATH_INFO']       a local variable or argument of the frame, then the
 *                          value that a Hash has for a String key
 *   payload[:sql]          ... for a Symbol key
 *   names[0]               an element of an Array
 *   self.@request.@path    instance variables
 *   self.queue             a member of a Struct
 *   self.class             the name of the class; ends the path
 *   argv[0]                the first argument of a method written in C
 */
struct rcore_value_path;

/*
 * Parses a path into `arena`. Errors: FORMAT (it is not a path; the message
 * says what was expected at which character), NO_MEMORY.
 */
struct rcore_error *rcore_value_path_parse(struct rcore_arena *arena, const char *text,
					   const struct rcore_value_path **ret);

/* What a path leads to. */
struct rcore_path_value {
	bool found;       /* false: it ends early, or at nil or false */
	uint64_t value;   /* VALUE */
	const char *text; /* instead of a VALUE: the name of a class */
};

/*
 * Finds where a path begins in a frame of `fiber`: sets *ret to the address of
 * the VALUE of the local variable or argument; 0 if the frame has none of that
 * name, or the path begins at self. Errors: as rcore_frame_local_address().
 */
struct rcore_error *rcore_value_path_start(struct rcore_ruby *ruby,
					   const struct rcore_fiber *fiber,
					   const struct rcore_frame *frame,
					   const struct rcore_value_path *path, uint64_t *ret);

/*
 * Follows a path from a frame of `fiber`. A path that does not exist in this
 * frame is no error: ret->found is then false. Errors: NO_MEMORY; FAULT,
 * CORRUPT or LIMIT if something on the way cannot be read.
 */
struct rcore_error *rcore_value_path_follow(struct rcore_ruby *ruby,
					    const struct rcore_fiber *fiber,
					    const struct rcore_frame *frame,
					    const struct rcore_value_path *path,
					    struct rcore_path_value *ret);

#endif
