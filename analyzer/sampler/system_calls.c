/* SPDX-License-Identifier: MIT */
#include "sampler/system_calls.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/count.h"

static const struct {
	const char *name;
	long number;
} calls[] = {
#define CALL(name) {#name, __NR_##name},
#include "sampler/system_calls.inc"
#undef CALL
};

/* Calls that return a number of bytes. A machine may lack some of them. */
static const char *const movers[] = {
	"copy_file_range",
	"getdents",
	"getdents64",
	"getrandom",
	"pread64",
	"preadv",
	"preadv2",
	"process_vm_readv",
	"process_vm_writev",
	"pwrite64",
	"pwritev",
	"pwritev2",
	"read",
	"readlink",
	"readlinkat",
	"readv",
	"recvfrom",
	"recvmsg",
	"sendfile",
	"sendmsg",
	"sendto",
	"splice",
	"tee",
	"vmsplice",
	"write",
	"writev",
};

/* From these, the new thread or process returns as well, with 0. */
static const char *const starters[] = {"clone", "clone3", "fork", "vfork"};

int rcore_system_call_number(const char *name)
{
	for (size_t i = 0; i < RCORE_COUNT(calls); i++)
		if (strcmp(calls[i].name, name) == 0)
			return (int)calls[i].number;
	return -1;
}

const char *rcore_system_call_name(long number)
{
	for (size_t i = 0; i < RCORE_COUNT(calls); i++)
		if (calls[i].number == number)
			return calls[i].name;
	return NULL;
}

static bool is_among(long number, const char *const *names, size_t count)
{
	const char *name = rcore_system_call_name(number);
	for (size_t i = 0; name && i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool rcore_system_call_moves_bytes(long number)
{
	return is_among(number, movers, RCORE_COUNT(movers));
}

bool rcore_system_call_returns_twice(long number)
{
	return is_among(number, starters, RCORE_COUNT(starters));
}
