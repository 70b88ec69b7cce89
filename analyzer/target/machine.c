/* SPDX-License-Identifier: MIT */
#include "target/machine.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "base/count.h"

static const struct {
	unsigned number;
	const char *name;
} machines[] = {{EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}};

const char *rcore_machine_name(unsigned machine)
{
	for (size_t i = 0; i < RCORE_COUNT(machines); i++)
		if (machines[i].number == machine)
			return machines[i].name;
	return NULL;
}

unsigned rcore_machine_number(const char *name)
{
	for (size_t i = 0; i < RCORE_COUNT(machines); i++)
		if (!strcmp(machines[i].name, name))
			return machines[i].number;
	return 0;
}
