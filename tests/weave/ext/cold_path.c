/* SPDX-License-Identifier: MIT */
/* gcc: -O2 -s */
#include <ruby.h>

/* Methods that call back into Ruby from what GCC moves out of them, in a file without symbols. */

static volatile int calls;

/* What begins with a call of this is rarely run, as GCC sees it. */
static __attribute__((cold, noinline)) void rare(void)
{
	calls++;
}

/* Nothing is on the stack yet when it goes there. */
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

/* One method ends as another, which nothing else jumps to: that is none of its parts. */
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
