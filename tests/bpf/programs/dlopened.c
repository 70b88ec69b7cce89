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
	void *ruby = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	if (!ruby) {
		fputs("dlopened LIBRUBY CODE\n", stderr);
		return 1;
	}
	void (*init_stack)(volatile unsigned long *);
	int (*setup)(void);
	void *(*options)(int, char **);
	int (*run)(void *);
	*(void **)&init_stack = dlsym(ruby, "ruby_init_stack");
	*(void **)&setup = dlsym(ruby, "ruby_setup");
	*(void **)&options = dlsym(ruby, "ruby_options");
	*(void **)&run = dlsym(ruby, "ruby_run_node");
	if (!init_stack || !setup || !options || !run)
		return 1;
	/* From 3.4 on, ruby_setup() leaves this to its caller. */
	init_stack((volatile unsigned long *)__builtin_frame_address(0));
	if (setup())
		return 1;
	/* Methods that are written in Ruby, such as Integer#times, exist only then. */
	char *arguments[] = {"ruby", "-e", argv[2], NULL};
	return run(options(3, arguments));
}
