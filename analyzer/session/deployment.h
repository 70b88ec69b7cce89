/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_DEPLOYMENT_H
#define RCORE_SESSION_DEPLOYMENT_H

#include "session/open.h"

/*
 * Finds where and when a target was as it is, and which program it was.
 *
 * OpenTelemetry's variables come first: they mean service.name, service.version
 * and host.name and nothing else (OpenTelemetry specification, "Environment
 * Variable Specification" and "Resource SDK").
 */

/* Sets the time, and the host if something besides the process knows it. */
void rcore_deployment_describe(const struct rcore_target *target,
			       struct rcore_snapshot *snapshot);

/* The names of the variables that rcore_deployment_take() knows, with "=". */
enum { RCORE_DEPLOYMENT_VARIABLES = 6 };
void rcore_deployment_names(const char *ret[RCORE_DEPLOYMENT_VARIABLES]);

/* What the variables said, the most trusted first. */
enum { RCORE_DEPLOYMENT_RANKS = 4 };
struct rcore_deployment_found {
	const char *service[RCORE_DEPLOYMENT_RANKS];
	const char *release[RCORE_DEPLOYMENT_RANKS];
	const char *host[RCORE_DEPLOYMENT_RANKS];
};

/* Takes the text of one variable. Copies what it keeps into `arena`. */
void rcore_deployment_take(const char *name, const char *text, struct rcore_arena *arena,
			   struct rcore_deployment_found *ret);

/* Sets what was found, and keeps the rest. */
void rcore_deployment_settle(const struct rcore_deployment_found *found,
			     struct rcore_deployment *ret);

#endif
