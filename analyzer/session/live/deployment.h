/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_DEPLOYMENT_H
#define RCORE_SESSION_DEPLOYMENT_H

#include "session/open.h"

/*
 * Finds when and where the target died or was looked at, and which program it
 * was.
 *
 * OpenTelemetry's variables take precedence, because they mean service.name,
 * service.version and host.name and nothing else (OpenTelemetry specification,
 * "Environment Variable Specification" and "Resource SDK").
 */

/* Sets what is known without the environment; for a pack, all that it says. */
void rcore_deployment_describe(const struct rcore_target *target,
			       struct rcore_snapshot *snapshot);

/* Lists the variables that rcore_deployment_take() knows, as "NAME=". */
enum { RCORE_DEPLOYMENT_VARIABLES = 6 };
void rcore_deployment_names(const char *ret[RCORE_DEPLOYMENT_VARIABLES]);

/* What the variables say, by rank; the lowest takes precedence. */
enum { RCORE_DEPLOYMENT_RANKS = 4 };
struct rcore_deployment_found {
	const char *service[RCORE_DEPLOYMENT_RANKS];
	const char *release[RCORE_DEPLOYMENT_RANKS];
	const char *host[RCORE_DEPLOYMENT_RANKS];
};

/*
 * Removes from a text whose end is missing what may not be whole: the last
 * attribute. Returns false if nothing is left.
 */
bool rcore_deployment_drop_cut(const char *name, char *text);

/* Takes the text of one variable. Copies what it keeps into `arena`. */
void rcore_deployment_take(const char *name, const char *text, struct rcore_arena *arena,
			   struct rcore_deployment_found *ret);

/* Sets the service, the release and, if one was found, the host. */
void rcore_deployment_settle(const struct rcore_deployment_found *found,
			     struct rcore_deployment *ret);

#endif
