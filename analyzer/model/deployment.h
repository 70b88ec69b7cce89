/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_DEPLOYMENT_H
#define RCORE_MODEL_DEPLOYMENT_H

#include <stdint.h>

/*
 * When and where the target died or was looked at, and which program it was. A
 * core contains neither the time nor the host, so each comes with its source.
 */
struct rcore_deployment {
	uint64_t time; /* seconds since 1970, UTC; 0: unknown */
	/*
	 * "clock": rcore looked at the process then, or the kernel passed the
	 * core to rcore collect; "systemd": systemd-coredump noted it with the
	 * core; "file": the file was last written then.
	 */
	const char *time_source;
	const char *host; /* NULL: unknown */
	/*
	 * "option": --host of rcore collect; "environment": of the process;
	 * "systemd": as above; "machine": rcore looked at the process, or
	 * collected its core, on this machine.
	 */
	const char *host_source;
	/* From an option or the environment of the process; NULL: unknown. */
	const char *service, *release;
};

#endif
