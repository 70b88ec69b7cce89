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

/* Has `count` copies of an object's address on its machine stack, and waits. */
static VALUE holders_wait(VALUE self, VALUE object, VALUE count)
{
	volatile VALUE copies[1000];
	int some = NUM2INT(count);
	(void)self;
	memset((void *)copies, 0, sizeof(copies));
	for (int i = 0; i < some; i++)
		copies[i] = object;
	rb_thread_sleep_forever();
	return copies[0];
}

void Init_holders(void)
{
	VALUE holders = rb_define_module("Holders");
	rb_define_module_function(holders, "hold", holders_hold, 0);
	rb_define_module_function(holders, "wait", holders_wait, 2);
}
