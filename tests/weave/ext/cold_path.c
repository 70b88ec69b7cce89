/* SPDX-License-Identifier: MIT */
/* gcc: -O2 -s */
#include <ruby.h>

/* Methods that call back into Ruby from what GCC moves out of them, in a file without symbols. */

static volatile int calls;

/* GCC assumes that code which calls this function rarely runs. */
static __attribute__((cold, noinline)) void rare(void)
{
	calls++;
}

/* The cold part begins before anything is pushed to the stack. */
static VALUE early(VALUE self, VALUE number)
{
	if (number == INT2FIX(1)) {
		rare();
		return rb_obj_as_string(rb_yield(number));
	}
	return number;
}

static VALUE late(VALUE self, VALUE number)
{
	char buffer[512];
	VALUE text = rb_obj_as_string(number);
	snprintf(buffer, sizeof(buffer), "%s", StringValueCStr(text));
	if (buffer[0] == '1') {
		rare();
		text = rb_obj_as_string(rb_yield(number));
	}
	rb_str_cat_cstr(text, buffer);
	return rb_str_new_cstr(buffer);
}

/*
 * One method ends as another, to which nothing else jumps. The other one is not
 * a part of it.
 */
static __attribute__((noinline)) VALUE second(VALUE self, VALUE number)
{
	VALUE value = rb_yield(number);
	return rb_obj_as_string(value);
}

static VALUE first(VALUE self, VALUE number)
{
	return second(self, number);
}

void Init_cold_path(void)
{
	VALUE cold = rb_define_module("Cold");
	rb_define_singleton_method(cold, "early", early, 1);
	rb_define_singleton_method(cold, "late", late, 1);
	rb_define_singleton_method(cold, "second", second, 1);
	rb_define_singleton_method(cold, "first", first, 1);
}
