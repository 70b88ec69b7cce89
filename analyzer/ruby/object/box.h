/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_BOX_H
#define RCORE_RUBY_BOX_H

#include "ruby/ruby.h"

/*
 * A Ruby::Box (4.0 on, RUBY_BOX=1): a module whose constants are those that
 * Object has in the box. Each box has classes, global variables and
 * $LOADED_FEATURES of its own; a class that Ruby itself made is the same object
 * in all boxes, with an rb_classext_struct for each box that changed it. Ruby
 * starts in the root box and runs the program in the main box. Mirrors struct
 * rb_box_struct of internal/box.h and box.c.
 */
struct rcore_box {
	uint64_t address; /* of the rb_box_struct */
	uint64_t object;  /* the Ruby::Box */
	uint64_t id;
	bool is_user, is_optional;
};

/* *found is false if a module is no Ruby::Box. CORRUPT, FAULT. */
struct rcore_error *rcore_box(struct rcore_ruby *ruby, uint64_t module, bool *found,
			      struct rcore_box *ret);

/*
 * Calls `visit` for each box of the process but the root, in the order of their
 * creation. Errors as rcore_box(), and what `visit` returns.
 */
typedef struct rcore_error *rcore_box_visit(void *context, const struct rcore_box *box);
struct rcore_error *rcore_boxes(struct rcore_ruby *ruby, rcore_box_visit *visit, void *context);

#endif
