/* SPDX-License-Identifier: MIT */
/*
 * Structs with the names of Ruby's, with everything that makes DWARF hard to
 * read.
 */
#ifndef RCORE_TEST_DWARF_TYPES_H
#define RCORE_TEST_DWARF_TYPES_H

struct rb_fiber_struct;
struct rb_jit_cont; /* defined in other.c only */

struct rb_execution_context_struct {
	void *vm_stack;
	unsigned long vm_stack_size;
	struct rb_fiber_struct *fiber_ptr;
	struct {
		void *stack_start;
		const void *volatile stack_end;
	} machine;
};
typedef struct rb_execution_context_struct rb_execution_context_t;

struct rb_thread_struct {
	struct {
		void *next, *prev;
	} lt_node;
	unsigned long self;
	rb_execution_context_t *ec;
	int priority;
	unsigned int status : 2;
	unsigned int has_dedicated_nt : 1;
	unsigned int to_kill : 1;
	unsigned int across : 11;
	enum { thread_invoke_type_none, thread_invoke_type_proc } invoke_type;
};

struct rb_vm_struct {
	struct {
		struct {
			void *next, *prev;
		} set;
		unsigned int cnt;
		struct rb_thread_struct *main_thread;
	} ractor;
	union {
		struct {
			struct {
				void *objspace;
			} gc;
		};
		char padding[64];
	};
};

typedef struct {
	int type;
	unsigned long self;
	rb_execution_context_t saved_ec;
	void *jmpbuf[5];
	struct rb_jit_cont *jit_cont;
} rb_context_t;

struct rb_fiber_struct {
	rb_context_t cont;
	unsigned char status : 2;
	unsigned char yielding : 1;
};

/* Like 2.7: no tag, only a typedef. */
typedef struct {
	unsigned int last_id;
	void *str, *ids;
} symbols_t;

enum ruby_special_consts { RUBY_Qfalse, RUBY_Qnil = 0x04, RUBY_Qundef = 0x24 };

/* Neither fits in a signed byte: DW_FORM_data1 and data2. */
enum { tLAST_OP_ID = 170, RSTRING_NOEMBED = 0xe000 };

#endif
