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
	int (*setup)(void);
	unsigned long (*evaluate)(const char *, int *);
	*(void **)&setup = dlsym(ruby, "ruby_setup");
	*(void **)&evaluate = dlsym(ruby, "rb_eval_string_protect");
	if (setup && evaluate && !setup())
		evaluate(argv[2], &status);
	return status;
}
