/* SPDX-License-Identifier: MIT */
/*
 * A program that is not ruby, but runs Ruby code. rcore must find its VM, too.
 */
#include <ruby.h>
#include <stdlib.h>

static VALUE give_up(VALUE self)
{
	abort();
}

int main(int argc, char **argv)
{
	int state;
	ruby_init();
	rb_define_global_function("give_up", give_up, 0);
	rb_eval_string_protect("class Embedded\n"
			       "  def work\n"
			       "    $stdout.puts caller(0)\n"
			       "    $stdout.flush\n"
			       "    give_up\n"
			       "  end\n"
			       "end\n"
			       "[1].each { Embedded.new.work }\n",
			       &state);
	return 1;
}
