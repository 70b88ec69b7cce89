/* SPDX-License-Identifier: MIT */
#include "triage/activity.h"

#include <string.h>

#include "base/count.h"

/*
 * Functions that libruby exports, so that a stripped one has them, by the first
 * letters of their names.
 */
static const struct {
	const char *prefix, *what;
} known[] = {
	{"onig_match", "a regexp match"},
	{"onig_search", "a regexp match"},
	{"onig_new", "the compilation of a regexp"},
	{"rb_reg_search", "a regexp match"},
	{"rb_big_", "arithmetic with large integers"},
	{"rb_integer_", "arithmetic with large integers"},
	{"rb_marshal_", "Marshal"},
	{"ruby_qsort", "a sort"},
	{"rb_ary_sort", "a sort"},
};

const char *rcore_activity_name(const struct rcore_native_frame *frame)
{
	for (size_t i = 0; frame->is_interpreter && frame->function && i < RCORE_COUNT(known);
	     i++)
		if (!strncmp(frame->function, known[i].prefix, strlen(known[i].prefix)))
			return known[i].what;
	return NULL;
}

struct rcore_activity rcore_activity_of(const struct rcore_fiber *fiber)
{
	struct rcore_activity ret = {0};
	for (size_t i = 0; i < fiber->step_count; i++) {
		const struct rcore_step *step = &fiber->steps[i];
		if (step->kind != RCORE_STEP_NATIVE)
			break;
		const struct rcore_native_frame *frame = &fiber->native[step->index];
		const char *what = rcore_activity_name(frame);
		if (what)
			return (struct rcore_activity){what, frame};
		if (!ret.frame && !frame->is_interpreter && frame->module && frame->function)
			ret.frame = frame;
	}
	return ret;
}
