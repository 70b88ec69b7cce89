/* SPDX-License-Identifier: MIT */
#include "weave_log.h"

#include <pthread.h>
#include <ruby.h>
#include <ruby/thread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Calls Ruby from C and C from Ruby in each way of CRuby's API, and logs each
 * call.
 *
 * If the tops of two stacks differ by less than NEAR bytes, it is the same
 * stack, which is used again. A stack may have START bytes above the frame of
 * start().
 */

enum { LOGS = 256, DEPTH = 16384, NAME = 96, START = 16384, NEAR = 65536 };

struct entry {
	uintptr_t address;
	int is_ruby;
	char name[NAME];
};

static struct log {
	uintptr_t top; /* everything on its stack is below */
	VALUE fiber;
	int count;
	struct entry *entries;
} logs[LOGS];
static int log_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int waiting;

static int find_log(uintptr_t address)
{
	int found = -1;
	for (int i = 0; i < log_count; i++)
		if (logs[i].top >= address && (found < 0 || logs[i].top < logs[found].top))
			found = i;
	if (found < 0)
		abort();
	return found;
}

static struct weave_mark enter(const char *name, int is_ruby, void *frame)
{
	uintptr_t address = (uintptr_t)frame;
	pthread_mutex_lock(&lock);
	int at = find_log(address);
	struct log *log = &logs[at];
	/*
	 * Drops what an exception unwound: native entries deeper than this one,
	 * and all after them. A Ruby entry has the address of note(), which is
	 * deeper than the Ruby code itself, so it proves nothing.
	 */
	for (int i = log->count;
	     i-- > 0 && (log->entries[i].is_ruby || log->entries[i].address < address);)
		if (!log->entries[i].is_ruby)
			log->count = i;
	struct weave_mark mark = {at, log->count};
	if (log->count < DEPTH) {
		struct entry *entry = &log->entries[log->count++];
		entry->address = address;
		entry->is_ruby = is_ruby;
		snprintf(entry->name, NAME, "%s", name);
	}
	pthread_mutex_unlock(&lock);
	return mark;
}

struct weave_mark enter_log(const char *name, void *frame)
{
	return enter(name, 0, frame);
}

void leave_log(struct weave_mark *mark)
{
	pthread_mutex_lock(&lock);
	logs[mark->log].count = mark->count;
	pthread_mutex_unlock(&lock);
}

/*
 * Registers the stack of a thread or fiber. Must be called before anything is
 * logged for it.
 */
static VALUE start(VALUE self)
{
	VALUE fiber = rb_fiber_current();
	uintptr_t top = (uintptr_t)__builtin_frame_address(0) + START;
	int at = 0;
	pthread_mutex_lock(&lock);
	while (at < log_count && (logs[at].top > top + NEAR || logs[at].top + NEAR < top))
		at++;
	if (at == LOGS)
		abort();
	if (at == log_count)
		logs[log_count++].entries = calloc(DEPTH, sizeof(struct entry));
	logs[at].top = top;
	logs[at].fiber = fiber;
	logs[at].count = 0;
	pthread_mutex_unlock(&lock);
	rb_gc_register_mark_object(fiber);
	return Qnil;
}

/* Logs the Ruby method or block that calls this. */
static VALUE note(VALUE self)
{
	VALUE locations = rb_funcall(rb_mKernel, rb_intern("caller_locations"), 2, INT2FIX(1),
				     INT2FIX(1));
	VALUE label = rb_funcall(rb_ary_entry(locations, 0), rb_intern("label"), 0);
	enter(StringValueCStr(label), 1, __builtin_frame_address(0));
	return Qnil;
}

static void write_name(FILE *file, const char *name)
{
	for (; *name; name++)
		fprintf(file, *name == '"' || *name == '\\' ? "\\%c" : "%c", *name);
}

/* May run during a collection, so it must not call Ruby's API. */
static void dump(void)
{
	FILE *file = fopen("truth.new", "w");
	pthread_mutex_lock(&lock);
	fprintf(file, "{\"pid\": %d, \"stacks\": [", getpid());
	for (int i = 0; i < log_count; i++) {
		fprintf(file, "%s\n{\"fiber\": \"%#lx\", \"entries\": [", i ? "," : "",
			logs[i].fiber);
		for (int j = logs[i].count; j-- > 0;) {
			const struct entry *entry = &logs[i].entries[j];
			fprintf(file, "[\"%s\", \"", entry->is_ruby ? "ruby" : "native");
			write_name(file, entry->name);
			fprintf(file, "\"]%s", j ? ", " : "");
		}
		fputs("]}", file);
	}
	fputs("]}\n", file);
	pthread_mutex_unlock(&lock);
	fclose(file);
	rename("truth.new", "truth.json");
}

static inline __attribute__((always_inline)) void end(void)
{
	dump();
	if (strcmp(getenv("TRUTH"), "stop") == 0)
		raise(SIGSTOP);
	abort();
}

VALUE die(VALUE self)
{
	ENTER();
	end();
	return Qnil;
}

VALUE segv(VALUE self)
{
	ENTER();
	dump();
	*(volatile int *)0x28 = 1;
	return Qnil;
}

VALUE park(VALUE self)
{
	ENTER();
	return rb_fiber_yield(0, NULL);
}

/* The fiber first runs here, then is parked here. */
VALUE stop_and_park(VALUE self)
{
	ENTER();
	dump();
	raise(SIGSTOP);
	return rb_fiber_yield(0, NULL);
}

void *sleep_in_c(void *argument)
{
	ENTER();
	__sync_fetch_and_add(&waiting, 1);
	for (;;)
		sleep(1000);
	return NULL;
}

VALUE sleep_without_gvl(VALUE self)
{
	ENTER();
	rb_thread_call_without_gvl(sleep_in_c, NULL, RUBY_UBF_IO, NULL);
	return Qnil;
}

static VALUE sleepers(VALUE self)
{
	return INT2FIX(waiting);
}

VALUE c_funcall(VALUE self, VALUE object, VALUE name)
{
	ENTER();
	return rb_funcall(object, rb_sym2id(name), 0);
}

VALUE c_yield(VALUE self)
{
	ENTER();
	return rb_yield(Qnil);
}

VALUE yield_body(VALUE argument)
{
	ENTER();
	return rb_yield(argument);
}

VALUE nothing_body(VALUE argument)
{
	ENTER();
	return argument;
}

VALUE c_protect(VALUE self)
{
	ENTER();
	int state;
	return rb_protect(yield_body, Qnil, &state);
}

VALUE c_ensure(VALUE self)
{
	ENTER();
	return rb_ensure(yield_body, Qnil, nothing_body, Qnil);
}

VALUE c_ensured(VALUE self)
{
	ENTER();
	return rb_ensure(nothing_body, Qnil, yield_body, Qnil);
}

static VALUE raise_body(VALUE argument)
{
	rb_raise(rb_eRuntimeError, "trouble");
	return Qnil;
}

VALUE rescue_body(VALUE argument, VALUE error)
{
	ENTER();
	return rb_yield(argument);
}

VALUE c_rescue2(VALUE self)
{
	ENTER();
	return rb_rescue2(raise_body, Qnil, rescue_body, Qnil, rb_eRuntimeError, (VALUE)0);
}

VALUE block_in_c(RB_BLOCK_CALL_FUNC_ARGLIST(argument, data))
{
	ENTER();
	return rb_funcall(data, rb_intern("call"), 0);
}

VALUE c_block_call(VALUE self, VALUE object, VALUE name, VALUE proc)
{
	ENTER();
	return rb_block_call(object, rb_sym2id(name), 0, NULL, block_in_c, proc);
}

/* Calls the block from a C function that is not the method itself. */
VALUE iterate_deeper(VALUE argument)
{
	ENTER();
	return rb_yield(argument);
}

VALUE iterate(VALUE self)
{
	ENTER();
	return iterate_deeper(Qnil);
}

VALUE c_proc_new(VALUE self, VALUE proc)
{
	ENTER();
	return rb_funcall(rb_proc_new(block_in_c, proc), rb_intern("call"), 0);
}

void *with_gvl(void *argument)
{
	ENTER();
	rb_yield(Qnil);
	return NULL;
}

void *without_gvl(void *argument)
{
	ENTER();
	return rb_thread_call_with_gvl(with_gvl, argument);
}

VALUE c_nogvl(VALUE self)
{
	ENTER();
	rb_thread_call_without_gvl(without_gvl, NULL, NULL, NULL);
	return Qnil;
}

/* Has the name that a C++ compiler would choose. */
int compare_by_ruby(const void *a, const void *b) __asm__("_ZN5Weave7compareEPKvS1_");

int compare_by_ruby(const void *a, const void *b)
{
	ENTER();
	rb_yield(Qnil);
	return *(const int *)a - *(const int *)b;
}

VALUE c_qsort(VALUE self)
{
	ENTER();
	int numbers[2] = {2, 1};
	qsort(numbers, 2, sizeof(*numbers), compare_by_ruby);
	return Qnil;
}

VALUE method_in_c(int argc, VALUE *argv, VALUE self)
{
	ENTER();
	return rb_yield(Qnil);
}

VALUE missing_in_c(int argc, VALUE *argv, VALUE self)
{
	ENTER();
	return rb_yield(Qnil);
}

VALUE c_define_method(VALUE self, VALUE proc)
{
	ENTER();
	VALUE name = ID2SYM(rb_intern("defined")), object = rb_class_new(rb_cObject);
	rb_block_call(object, rb_intern("define_method"), 1, &name, block_in_c, proc);
	return rb_funcall(rb_class_new_instance(0, NULL, object), rb_intern("defined"), 0);
}

int foreach_body(VALUE key, VALUE value, VALUE argument)
{
	ENTER();
	rb_yield(argument);
	return 0;
}

VALUE c_hash_foreach(VALUE self, VALUE hash)
{
	ENTER();
	rb_hash_foreach(hash, foreach_body, Qnil);
	return Qnil;
}

VALUE c_synchronize(VALUE self)
{
	ENTER();
	return rb_mutex_synchronize(rb_mutex_new(), yield_body, Qnil);
}

VALUE catch_body(RB_BLOCK_CALL_FUNC_ARGLIST(tag, data))
{
	ENTER();
	return rb_funcall(data, rb_intern("call"), 0);
}

VALUE c_catch(VALUE self, VALUE proc)
{
	ENTER();
	return rb_catch("tag", catch_body, proc);
}

VALUE c_instance_exec(VALUE self, VALUE object)
{
	ENTER();
	return rb_obj_instance_exec(0, NULL, object);
}

VALUE fiber_in_c(RB_BLOCK_CALL_FUNC_ARGLIST(argument, proc))
{
	start(Qnil);
	ENTER();
	return rb_funcall(proc, rb_intern("call"), 0);
}

static VALUE c_fiber(VALUE self, VALUE proc)
{
	VALUE fiber = rb_fiber_new(fiber_in_c, proc);
	rb_fiber_resume(fiber, 0, NULL);
	return fiber;
}

VALUE thread_in_c(void *proc)
{
	start(Qnil);
	ENTER();
	return rb_funcall((VALUE)proc, rb_intern("call"), 0);
}

static VALUE c_thread(VALUE self, VALUE proc)
{
	rb_gc_register_mark_object(proc);
	return rb_thread_create(thread_in_c, (void *)proc);
}

void overflow_deeper(volatile char *page)
{
	volatile char here[256];
	here[0] = page ? page[0] : 0;
	overflow_deeper(here);
	here[1] = here[0];
}

void overflow_other(volatile char *page, int depth);

void overflow_mutual(volatile char *page, int depth)
{
	volatile char here[256];
	here[0] = page ? page[0] : 0;
	overflow_other(here, depth + 1);
	here[1] = here[0];
}

void overflow_other(volatile char *page, int depth)
{
	volatile char here[1024];
	here[0] = page[depth & 1];
	overflow_mutual(here, depth + 1);
	here[1] = here[0];
}

/* Has the smallest frames, so that the most fit on a stack. */
int overflow_smallest(int depth)
{
	int deepest = overflow_smallest(depth + 1);
	__asm__ volatile(""); /* keeps the compiler from making a loop of it */
	return deepest + 1;
}

VALUE overflow(VALUE self, VALUE how)
{
	ENTER();
	dump();
	/* Ruby's handler would raise a SystemStackError instead. */
	signal(SIGSEGV, SIG_DFL);
	if (rb_sym2id(how) == rb_intern("smallest"))
		return INT2FIX(overflow_smallest(0));
	if (rb_sym2id(how) == rb_intern("mutual"))
		overflow_mutual(NULL, 0);
	else
		overflow_deeper(NULL);
	return Qnil;
}

VALUE large(VALUE self)
{
	volatile char here[8192];
	ENTER();
	here[0] = 0;
	VALUE value = rb_yield(Qnil);
	return here[0] ? Qnil : value;
}

/* Makes this stack grow to its limit, and returns its lowest address. */
static VALUE stack_end(VALUE self)
{
	uintptr_t page = (uintptr_t)&self & -(uintptr_t)4096;
	int ends[2];
	char byte;
	if (pipe(ends))
		rb_sys_fail("pipe");
	/* Where nothing is mapped, write() fails; a read would fault. */
	while (write(ends[1], (const void *)(page - 1), 1) == 1 && read(ends[0], &byte, 1) == 1)
		page -= 4096;
	close(ends[0]);
	close(ends[1]);
	return SIZET2NUM(page);
}

/* Returns how many bytes of this stack are left above the address `end`. */
static VALUE room(VALUE self, VALUE end)
{
	return SIZET2NUM((uintptr_t)__builtin_frame_address(0) - NUM2SIZET(end));
}

static int free_ends;

void free_data(void *data)
{
	if (!free_ends)
		return;
	ENTER();
	end();
}

static const rb_data_type_t data_type = {
	"weave", {NULL, free_data}, NULL, NULL, RUBY_TYPED_FREE_IMMEDIATELY};

static VALUE garbage(VALUE self)
{
	free_ends = 1;
	for (int i = 0; i < 1000; i++)
		rb_data_typed_object_wrap(rb_cObject, &free_ends, &data_type);
	return Qnil;
}

static const struct {
	const char *name;
	VALUE (*function)();
	int arguments;
} functions[] = {
	{"start", start, 0},
	{"note", note, 0},
	{"die", die, 0},
	{"segv", segv, 0},
	{"park", park, 0},
	{"stop_and_park", stop_and_park, 0},
	{"sleep", sleep_without_gvl, 0},
	{"sleepers", sleepers, 0},
	{"funcall", c_funcall, 2},
	{"yield", c_yield, 0},
	{"protect", c_protect, 0},
	{"ensure", c_ensure, 0},
	{"ensured", c_ensured, 0},
	{"rescue2", c_rescue2, 0},
	{"block_call", c_block_call, 3},
	{"iterate", iterate, 0},
	{"proc_new", c_proc_new, 1},
	{"nogvl", c_nogvl, 0},
	{"qsort", c_qsort, 0},
	{"define_method_in_c", c_define_method, 1},
	{"hash_foreach", c_hash_foreach, 1},
	{"synchronize", c_synchronize, 0},
	{"catch_in_c", c_catch, 1},
	{"exec", c_instance_exec, 1},
	{"fiber", c_fiber, 1},
	{"thread", c_thread, 1},
	{"overflow", overflow, 1},
	{"large", large, 0},
	{"stack_end", stack_end, 0},
	{"room", room, 1},
	{"garbage", garbage, 0},
};

void Init_weave_ext(void)
{
	VALUE weave = rb_define_module("Weave");
	VALUE thing = rb_define_class_under(weave, "Thing", rb_cObject);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		rb_define_singleton_method(weave, functions[i].name, functions[i].function,
					   functions[i].arguments);
	rb_define_method(thing, "in_c", method_in_c, -1);
	rb_define_method(thing, "method_missing", missing_in_c, -1);
	rb_define_const(weave, "ENTER", ULL2NUM((uintptr_t)enter_log));
	rb_define_const(weave, "LEAVE", ULL2NUM((uintptr_t)leave_log));
}
