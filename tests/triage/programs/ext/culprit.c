/* SPDX-License-Identifier: MIT */
#include <ruby.h>
#include <ruby/thread.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Headers of Ruby may turn assert() off. */
#undef NDEBUG
#include <assert.h>

/* Ways to die, each of which knows what is wrong: Culprit.METHOD(address). */

enum { PAGE = 4096 };

static VALUE write_to(VALUE self, VALUE address)
{
	*(volatile int *)NUM2SIZET(address) = 1;
	return Qnil;
}

static VALUE read_from(VALUE self, VALUE address)
{
	return INT2FIX(*(volatile int *)NUM2SIZET(address) & 1);
}

static VALUE jump_to(VALUE self, VALUE address)
{
	((void (*)(void))NUM2SIZET(address))();
	return Qnil;
}

/* Optimized, it jumps to rb_yield() and has no native frame. */
static VALUE pass(VALUE self)
{
	return rb_yield(Qnil);
}

/* SSE, as memcpy() and the like have it. */
static VALUE copy_to(VALUE self, VALUE address)
{
	typedef int words __attribute__((vector_size(16), aligned(1)));
	static volatile words zero;

	*(volatile words *)NUM2SIZET(address) = zero;
	return Qnil;
}

static VALUE copy_from(VALUE self, VALUE address)
{
	typedef int words __attribute__((vector_size(16), aligned(1)));
	static volatile words kept;

	kept = *(volatile words *)NUM2SIZET(address);
	return Qnil;
}

static VALUE divide(VALUE self, VALUE by)
{
	volatile int one = 1, divisor = NUM2INT(by);

	return INT2FIX(one / divisor);
}

static VALUE illegal(VALUE self)
{
	__builtin_trap();
	return Qnil;
}

/*
 * A page with these rights: 0 none, 1 read, 5 read and execute; -1: mapped and
 * unmapped again.
 */
static VALUE page(VALUE self, VALUE rights)
{
	char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	pages[PAGE] = 1;
	if (NUM2INT(rights) < 0)
		munmap(pages + PAGE, PAGE);
	else
		mprotect(pages + PAGE, PAGE, NUM2INT(rights));
	return SIZET2NUM((size_t)pages + PAGE);
}

/* Takes all rights from the page that contains the object. */
static VALUE lock_object(VALUE self, VALUE address)
{
	mprotect((void *)(NUM2SIZET(address) & -(size_t)PAGE), PAGE, PROT_NONE);
	return Qnil;
}

static VALUE address_of(VALUE self, VALUE object)
{
	return SIZET2NUM((size_t)object);
}

/* RUBY_T_NONE, RUBY_T_MOVED ... as the slot at that address has it. */
static VALUE type_at(VALUE self, VALUE address)
{
	return INT2FIX(*(VALUE *)NUM2SIZET(address) & RUBY_T_MASK);
}

/* The address of an object to which nothing refers any more. */
static VALUE forgotten(VALUE self, VALUE list)
{
	return SIZET2NUM((size_t)rb_ary_pop(list));
}

/* A fault while a register has the object. */
static VALUE hold(VALUE self, VALUE address)
{
	size_t held = NUM2SIZET(address);

	__asm__ volatile("" : "+r"(held));
	*(volatile int *)0x18 = 1;
	__asm__ volatile("" : : "r"(held));
	return Qnil;
}

static VALUE free_twice(VALUE self)
{
	/* These words are read as the size and flags of a chunk. */
	void *volatile block = calloc(1, 100);

	free((char *)block + sizeof(void *));
	return Qnil;
}

static VALUE fail_assertion(VALUE self)
{
	volatile int two = 2;

	assert(two + two == 5);
	return Qnil;
}

static VALUE bug(VALUE self, VALUE text)
{
	rb_bug("culprit says %s", StringValueCStr(text));
	return Qnil;
}

/* The format is not a constant. */
static VALUE bug_formatted(VALUE self, VALUE text)
{
	char format[64];

	snprintf(format, sizeof(format), "culprit %d says %%s", 7);
	rb_bug(format, StringValueCStr(text));
	return Qnil;
}

/* Only the first argument of an earlier call is a format. */
static VALUE bug_unknown(VALUE self, VALUE text)
{
	setenv("CULPRIT", "unknown", 1);
	rb_bug(StringValueCStr(text));
	return Qnil;
}

static VALUE fatal(VALUE self)
{
	abort();
	return Qnil;
}

static void touch_null(void *data)
{
	*(volatile int *)0x30 = 1;
}

static const rb_data_type_t crashes_marking = {.wrap_struct_name = "crashes when marked",
					       .function = {.dmark = touch_null}};

static VALUE crash_in_gc(VALUE self)
{
	VALUE object = TypedData_Wrap_Struct(rb_cObject, &crashes_marking, &object);

	rb_gc_start();
	RB_GC_GUARD(object);
	return Qnil;
}

static size_t watched[20000];
static size_t watched_count;

/* For crash_moving. */
static VALUE watch(VALUE self, VALUE address)
{
	if (watched_count < sizeof(watched) / sizeof(*watched))
		watched[watched_count++] = NUM2SIZET(address);
	return Qnil;
}

/* While references are updated, the slots that objects left still exist. */
static void read_moved(void *data)
{
	for (size_t i = 0; i < watched_count; i++) {
		if ((*(volatile VALUE *)watched[i] & RUBY_T_MASK) != RUBY_T_MOVED)
			continue;
		FILE *truth = fopen("truth.json", "w");
		fprintf(truth,
			"{\"signal\":\"SIGSEGV\",\"address\":%zu,\"access\":\"read\",\"place\":"
			"\"T_MOVED\",\"gc\":true}",
			watched[i]);
		fclose(truth);
		mprotect((void *)(watched[i] & -(size_t)PAGE), PAGE, PROT_NONE);
		watched[0] = *(volatile size_t *)watched[i];
	}
}

static const rb_data_type_t crashes_moving = {.wrap_struct_name = "crashes when moved",
					      .function = {.dcompact = read_moved}};

static VALUE crash_moving(VALUE self)
{
	VALUE object = TypedData_Wrap_Struct(rb_cObject, &crashes_moving, &object);

	rb_funcall(rb_path2class("GC"), rb_intern("compact"), 0);
	RB_GC_GUARD(object);
	return Qnil;
}

static void *touch_alone(void *address)
{
	*(volatile int *)address = 1;
	return NULL;
}

static VALUE crash_without_gvl(VALUE self)
{
	rb_thread_call_without_gvl(touch_alone, (void *)0x30, NULL, NULL);
	return Qnil;
}

/* In a thread that Ruby does not know. */
static VALUE crash_outside(VALUE self, VALUE address)
{
	pthread_t thread;

	pthread_create(&thread, NULL, touch_alone, (void *)NUM2SIZET(address));
	pthread_join(thread, NULL);
	return Qnil;
}

__attribute__((noinline)) static int descend(volatile char *above, int depth)
{
	volatile char here[PAGE / 2];

	here[0] = *above;
	return descend(here, depth + 1) + here[0];
}

static VALUE overflow(VALUE self)
{
	char top = 0;

	return INT2FIX(descend(&top, 0));
}

static void *overflow_alone(void *unused)
{
	char top = 0;

	return (void *)(long)descend(&top, 0);
}

/* The same in a thread that Ruby does not know. It has no signal stack. */
static VALUE overflow_outside(VALUE self)
{
	pthread_t thread;

	pthread_create(&thread, NULL, overflow_alone, NULL);
	pthread_join(thread, NULL);
	return Qnil;
}

/*
 * Removes Ruby's own handler: the kernel ends the process at the fault itself.
 */
static VALUE default_signals(VALUE self)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], SIG_DFL);
	return Qnil;
}

void Init_culprit(void)
{
	VALUE culprit = rb_define_module("Culprit");

	rb_define_singleton_method(culprit, "write_to", write_to, 1);
	rb_define_singleton_method(culprit, "read_from", read_from, 1);
	rb_define_singleton_method(culprit, "jump_to", jump_to, 1);
	rb_define_singleton_method(culprit, "pass", pass, 0);
	rb_define_singleton_method(culprit, "copy_to", copy_to, 1);
	rb_define_singleton_method(culprit, "copy_from", copy_from, 1);
	rb_define_singleton_method(culprit, "divide", divide, 1);
	rb_define_singleton_method(culprit, "illegal", illegal, 0);
	rb_define_singleton_method(culprit, "page", page, 1);
	rb_define_singleton_method(culprit, "lock_object", lock_object, 1);
	rb_define_singleton_method(culprit, "address_of", address_of, 1);
	rb_define_singleton_method(culprit, "type_at", type_at, 1);
	rb_define_singleton_method(culprit, "forgotten", forgotten, 1);
	rb_define_singleton_method(culprit, "hold", hold, 1);
	rb_define_singleton_method(culprit, "free_twice", free_twice, 0);
	rb_define_singleton_method(culprit, "fail_assertion", fail_assertion, 0);
	rb_define_singleton_method(culprit, "bug", bug, 1);
	rb_define_singleton_method(culprit, "bug_formatted", bug_formatted, 1);
	rb_define_singleton_method(culprit, "bug_unknown", bug_unknown, 1);
	rb_define_singleton_method(culprit, "fatal", fatal, 0);
	rb_define_singleton_method(culprit, "crash_in_gc", crash_in_gc, 0);
	rb_define_singleton_method(culprit, "crash_without_gvl", crash_without_gvl, 0);
	rb_define_singleton_method(culprit, "crash_outside", crash_outside, 1);
	rb_define_singleton_method(culprit, "watch", watch, 1);
	rb_define_singleton_method(culprit, "crash_moving", crash_moving, 0);
	rb_define_singleton_method(culprit, "overflow", overflow, 0);
	rb_define_singleton_method(culprit, "overflow_outside", overflow_outside, 0);
	rb_define_singleton_method(culprit, "default_signals", default_signals, 0);
}
