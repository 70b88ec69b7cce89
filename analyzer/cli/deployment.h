/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_DEPLOYMENT_H
#define RCORE_CLI_DEPLOYMENT_H

#include "command/command.h"
#include "model/deployment.h"
#include "triage/cluster.h"

/*
 * What the user specified about the program; NULL: use what the target's
 * environment contains.
 */
struct rcore_cli_deployment {
	const char *service, *release, *host;
};

/* `member` is the offset of a struct rcore_cli_deployment. */
#define RCORE_OPTIONS_OF_DEPLOYMENT(member)                                                 \
	{"service",                                                                         \
	 0,                                                                                 \
	 RCORE_OPTION_TEXT,                                                                 \
	 (member) + offsetof(struct rcore_cli_deployment, service),                         \
	 "NAME",                                                                            \
	 "The service that died. By default OTEL_SERVICE_NAME, service.name of "            \
	 "OTEL_RESOURCE_ATTRIBUTES, or DD_SERVICE of the process",                          \
	 .completion = RCORE_COMPLETE_NOTHING},                                             \
		{"release",                                                                 \
		 0,                                                                         \
		 RCORE_OPTION_TEXT,                                                         \
		 (member) + offsetof(struct rcore_cli_deployment, release),                 \
		 "VERSION",                                                                 \
		 "Its release. By default service.version of OTEL_RESOURCE_ATTRIBUTES, "    \
		 "DD_VERSION, or SENTRY_RELEASE of the process",                            \
		 .completion = RCORE_COMPLETE_NOTHING},                                     \
	{                                                                                   \
		"host", 0, RCORE_OPTION_TEXT,                                               \
			(member) + offsetof(struct rcore_cli_deployment, host), "NAME",     \
			"Where it died. By default host.name of OTEL_RESOURCE_ATTRIBUTES, " \
			"HOSTNAME of the process, or the machine's name, if known",         \
			.completion = RCORE_COMPLETE_NOTHING                                \
	}

/*
 * Options take precedence over the target's environment, and are not redacted.
 */
static inline void rcore_cli_deployment_apply(const struct rcore_cli_deployment *given,
					      struct rcore_result *result)
{
	if (given->service)
		result->service = given->service;
	if (given->release)
		result->release = given->release;
	if (given->host) {
		result->host = given->host;
		result->host_source = "option";
	}
}

static inline void rcore_cli_deployment_describe(const struct rcore_cli_deployment *given,
						 struct rcore_deployment *deployment)
{
	if (given->service)
		deployment->service = given->service;
	if (given->release)
		deployment->release = given->release;
	if (given->host) {
		deployment->host = given->host;
		deployment->host_source = "option";
	}
}

#endif
