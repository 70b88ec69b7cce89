/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

/*
 * Loads a libruby while it runs, so that threads have its variables only once
 * they use them:
 *
 *	dlopened LIBRUBY CODE
 */
int main(int argc, char **argv)
{
	int status = 1;
	void *ruby = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	if (!ruby) {
		fputs("dlopened LIBRUBY CODE\n", stderr);
		return status;
	}
	void (*begin)(volatile unsigned long *);
	int (*setup)(void);
	unsigned long (*evaluate)(const char *, int *);
	*(void **)&begin = dlsym(ruby, "ruby_init_stack");
	*(void **)&setup = dlsym(ruby, "ruby_setup");
	*(void **)&evaluate = dlsym(ruby, "rb_eval_string_protect");
	if (!begin || !setup || !evaluate)
		return status;
	/* Up to 3.4, nothing else tells the collector where this stack begins. */
	begin((volatile unsigned long *)__builtin_frame_address(0));
	if (setup())
		return status;
	evaluate(argv[2], &status);
	if (status)
		evaluate("warn $!.full_message", &status);
	return 1;
}
