/* SPDX-License-Identifier: MIT */
#include "weave_log.h"

#include <ruby.h>

/* Calls Ruby while it is being loaded. The log is another extension's. */

static uintptr_t function(const char *name)
{
	return (uintptr_t)NUM2ULL(rb_const_get(rb_path2class("Weave"), rb_intern(name)));
}

void leave_log(struct weave_mark *mark)
{
	((weave_leave *)function("LEAVE"))(mark);
}

void Init_weave_init(void)
{
	weave_enter *enter_log = (weave_enter *)function("ENTER");
	ENTER();
	rb_funcall(rb_path2class("Steps"), rb_intern("loaded"), 0);
}
