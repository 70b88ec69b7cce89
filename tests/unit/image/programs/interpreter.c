/* SPDX-License-Identifier: MIT */
/* An interpreter of two instructions, built from the parts that CRuby's has (image/unwind/activation.h), for
 * a test that loads it. INLINED: core() is run() itself. LOOP: part of run() is a function that calls core(),
 * too, as vm_exec_loop. FEW: no other function calls run(). */
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#define OWN __attribute__((noinline))

enum { ADD, LEAVE, COUNT };

static volatile int sink;

/* With no code it returns where its instructions are. */
static OWN const void *const *core(const uintptr_t *pc)
{
	static const void *const table[COUNT] = {&&add, &&leave};
	if (!pc)
		return table;
	goto *(void *)*pc++;
add:
	sink++;
	goto *(void *)*pc++;
leave:
	sink--;
	return NULL;
}

OWN const void *const *addresses(void)
{
	return core(NULL);
}

#ifdef INLINED
#define run core
#else
#ifdef LOOP
static OWN const void *const *loop(const uintptr_t *pc)
{
	const void *const *result = NULL;
	while (sink < 0)
		result = core(pc);
	return result;
}
#endif

static OWN const void *const *run(const uintptr_t *pc)
{
	jmp_buf tag;
	if (setjmp(tag))
		return NULL;
	const void *const *result = core(pc);
#ifdef LOOP
	if (sink < 0)
		result = loop(pc);
#endif
	sink++;
	return result;
}
#endif

#define ENTER(name)                       \
	OWN int name(const uintptr_t *pc) \
	{                                 \
		run(pc);                  \
		return ++sink;            \
	}
ENTER(eval)
#ifndef FEW
/* The last thing that a function does is a jump. */
OWN const void *const *eval_main(const uintptr_t *pc)
{
	return run(pc);
}
ENTER(call_proc)
ENTER(call_method)
ENTER(yield)
ENTER(load)
ENTER(send)
#endif

/* What the test compares with. */
uintptr_t instructions[COUNT], activation;

void fill(void)
{
	const void *const *table = addresses();
	for (int i = 0; i < COUNT; i++)
		instructions[i] = (uintptr_t)table[i];
	activation = (uintptr_t)run;
	eval(instructions);
}
