/* SPDX-License-Identifier: MIT */
/* An extension that holds objects in static variables; variables.rb loads it. */
#include <ruby.h>

VALUE exported_one;
static VALUE registered_one;
static VALUE table_of_many[4];
static struct holder {
	const char *text;
	VALUE member;
} holder = {"text", Qnil};
static VALUE forgotten_one;

static VALUE *inner(void)
{
	static VALUE inside_function = Qnil;
	return &inside_function;
}

/* Holds six Strings that it makes, and returns their addresses. */
static VALUE holders_hold(VALUE self)
{
	enum { COUNT = 6, FORGOTTEN = COUNT - 1 };
	VALUE *const places[COUNT] = {&exported_one,  &registered_one, &table_of_many[2],
				      &holder.member, inner(),         &forgotten_one};
	VALUE numbers = rb_ary_new();
	(void)self;
	for (int i = 0; i < COUNT; i++) {
		*places[i] = rb_str_new_cstr("an object that only C code refers to, by itself");
		if (i != FORGOTTEN)
			rb_gc_register_address(places[i]);
		rb_ary_push(numbers, ULL2NUM(*places[i]));
	}
	return numbers;
}

void Init_holders(void)
{
	rb_define_module_function(rb_define_module("Holders"), "hold", holders_hold, 0);
}
