/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_DEPLOYMENT_H
#define RCORE_MODEL_DEPLOYMENT_H

#include <stdint.h>

/*
 * Where and when the target was as it is, and which program it was. A core has
 * no clock and no host name in it, so each comes with its source.
 */
struct rcore_deployment {
	uint64_t time; /* seconds since 1970, UTC; 0: unknown */
	/*
	 * "clock": rcore looked at it then, or the kernel passed it to rcore
	 * collect; "systemd": systemd-coredump noted it with the core; "file":
	 * the file was last written then.
	 */
	const char *time_source;
	const char *host; /* NULL: unknown */
	/*
	 * "environment": of the process; "systemd"; "machine": rcore looked at
	 * it on this machine.
	 */
	const char *host_source;
	/* Of the environment of the process; NULL: not set. */
	const char *service, *release;
};

#endif
