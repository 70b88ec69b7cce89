/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_PROCESS_ROLE_H
#define RCORE_TRIAGE_PROCESS_ROLE_H

#include <stdbool.h>
#include <stddef.h>

/* What a process is in a server of several processes. */
enum rcore_role {
	RCORE_ROLE_SERVER, /* has no workers, or they are not known */
	RCORE_ROLE_MASTER,
	RCORE_ROLE_WORKER,
};

struct rcore_process_role {
	const char *server; /* "Puma"; a constant */
	enum rcore_role role;
	int number; /* of a worker; -1: it has none */
};

/*
 * Finds the role that a process states in its title, such as "puma: cluster
 * worker 2: 1234 [app]". Returns false if the title is of no server that rcore
 * knows. A Puma master has the same title as a Puma without workers: both are
 * SERVER.
 */
bool rcore_process_role(const char *title, struct rcore_process_role *ret);

/* Writes "Puma worker 2" into `ret`, and returns it. */
const char *rcore_process_role_text(const struct rcore_process_role *role, char *ret,
				    size_t size);

#endif
