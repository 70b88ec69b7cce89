/* SPDX-License-Identifier: MIT */
/* An extension that breaks rules of CRuby's C API; broken.rb calls it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ruby.h>

/* Stores into an Array without RB_OBJ_WRITE(). */
static VALUE careless_store(VALUE self, VALUE array, VALUE index, VALUE value)
{
	(void)self;
	((VALUE *)RARRAY_CONST_PTR(array))[NUM2LONG(index)] = value;
	return value;
}

/* Writes over the flags of an object. */
static VALUE careless_overwrite(VALUE self, VALUE object, VALUE flags)
{
	(void)self;
	*(VALUE *)object = NUM2ULL(flags);
	return Qnil;
}

/* Of minor collections, in case some turn into major ones. */
#define MOST_TRIES 20
/* What functions that have returned may have left of the machine stack. */
#define STALE_STACK 65536

/* The complement, so that no word of the machine stack is the reference. */
__attribute__((noinline)) static VALUE store_new(VALUE array, long index)
{
	VALUE object = rb_obj_alloc(rb_cObject);
	((VALUE *)RARRAY_CONST_PTR(array))[index] = object;
	return ~object;
}

__attribute__((noinline)) static void clear_stack(void)
{
	volatile char words[STALE_STACK];
	for (size_t i = 0; i < sizeof(words); i++)
		words[i] = 0;
}

/*
 * Stores a new object into an old Array without RB_OBJ_WRITE(), and lets the
 * next minor collection free it. Writes what it did and ends the process: the
 * next object would get the slot.
 */
static VALUE careless_lose(VALUE self, VALUE array, VALUE index)
{
	VALUE gc = rb_const_get(rb_cObject, rb_intern("GC"));
	VALUE minor = rb_hash_new();
	(void)self;
	rb_hash_aset(minor, ID2SYM(rb_intern("full_mark")), Qfalse);
	for (int i = 0; i < MOST_TRIES; i++) {
		VALUE hidden = store_new(array, NUM2LONG(index));
		clear_stack();
		rb_funcallv_kw(gc, rb_intern("start"), 1, &minor, RB_PASS_KEYWORDS);
		if (*(volatile VALUE *)~hidden)
			continue;
		printf("{\"object\":\"0x%" PRIxPTR
		       "\",\"how\":\"[%ld]\",\"value\":\"0x%" PRIxPTR "\"}\n",
		       (uintptr_t)array, NUM2LONG(index), (uintptr_t)~hidden);
		fflush(stdout);
		abort();
	}
	rb_raise(rb_eRuntimeError, "no collection freed the object");
}

void Init_careless(void)
{
	VALUE module = rb_define_module("Careless");
	rb_define_module_function(module, "store", careless_store, 3);
	rb_define_module_function(module, "overwrite", careless_overwrite, 2);
	rb_define_module_function(module, "lose", careless_lose, 2);
}
