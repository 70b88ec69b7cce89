/* SPDX-License-Identifier: MIT */
#include <ruby.h>

#include <stdlib.h>
#include <unistd.h>

/* Variables of the types that a debugger may show as Ruby, and of others that it may not. */
struct pair {
	VALUE value;
	ID id;
	VALUE *pointer;
	unsigned long plain;
	VALUE list[2];
};

static VALUE look(VALUE self, VALUE argument, VALUE numbers)
{
	const VALUE constant = argument;
	ID id = rb_intern("each_pair");
	VALUE wrong = 0x10;
	struct pair pair = {numbers, rb_intern("+"), &numbers, argument, {Qnil, argument}};
	while (RTEST(rb_gv_get("$stay")))
		pause();
	abort();
	return constant + id + wrong + pair.plain + self;
}

void Init_native(void)
{
	rb_define_global_function("look", look, 2);
}
