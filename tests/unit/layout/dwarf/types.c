/* SPDX-License-Identifier: MIT */
#include "types.h"

struct symbols {
	int no_such_member_in_ruby;
} first_of_its_name;

const char ruby_version[] = "3.3.8";

struct rb_vm_struct vm;
struct rb_thread_struct thread;
struct rb_fiber_struct fiber;
symbols_t symbols;
enum ruby_special_consts special = RUBY_Qnil;

int last_op_id(int id);
int last_op_id(int id)
{
	return id <= tLAST_OP_ID;
}
