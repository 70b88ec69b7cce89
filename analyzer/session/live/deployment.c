/* SPDX-License-Identifier: MIT */
#include "session/live/deployment.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/count.h"

enum kind { SERVICE, RELEASE, HOST, ATTRIBUTES };

static const struct {
	const char *name;
	enum kind kind;
	size_t rank; /* the lowest takes precedence */
} variables[RCORE_DEPLOYMENT_VARIABLES] = {
	{"OTEL_SERVICE_NAME=", SERVICE, 0},
	{"OTEL_RESOURCE_ATTRIBUTES=", ATTRIBUTES, 1},
	{"DD_SERVICE=", SERVICE, 2},
	{"DD_VERSION=", RELEASE, 2},
	{"SENTRY_RELEASE=", RELEASE, 3},
	/* Docker and Kubernetes set it to the name of the container or pod. */
	{"HOSTNAME=", HOST, 2},
};

static const struct {
	const char *name;
	enum kind kind;
} attributes[] = {
	{"service.name", SERVICE},
	{"service.version", RELEASE},
	{"host.name", HOST},
};

void rcore_deployment_names(const char *ret[RCORE_DEPLOYMENT_VARIABLES])
{
	for (size_t i = 0; i < RCORE_COUNT(variables); i++)
		ret[i] = variables[i].name;
}

static const char **slot_of(struct rcore_deployment_found *found, enum kind kind, size_t rank)
{
	return kind == SERVICE   ? &found->service[rank]
	       : kind == RELEASE ? &found->release[rank]
				 : &found->host[rank];
}

/* If a variable is set twice, the first one counts, as in getenv(3). */
static void put(const char *text, enum kind kind, size_t rank, struct rcore_arena *arena,
		struct rcore_deployment_found *ret)
{
	const char **slot = slot_of(ret, kind, rank);
	if (*text && !*slot)
		*slot = rcore_arena_strdup(arena, text);
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | (c >= 'A' && c <= 'F' ? 0x20 : 0)) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Decodes "%2C", in place. "%00" stays as it is. */
static void decode(char *text)
{
	char *out = text;
	while (*text) {
		int high = *text == '%' ? digit(text[1]) : -1;
		int low = high < 0 ? -1 : digit(text[2]);
		if (low < 0 || !(high | low)) {
			*out++ = *text++;
			continue;
		}
		*out++ = (char)(high << 4 | low);
		text += 3;
	}
	*out = 0;
}

static char *trim(char *text)
{
	text += strspn(text, " \t");
	size_t length = strlen(text);
	while (length && strchr(" \t", text[length - 1]))
		text[--length] = 0;
	return text;
}

/* "service.name=shop,service.version=1.4": the format of W3C Baggage. */
static void take_attributes(const char *text, struct rcore_arena *arena,
			    struct rcore_deployment_found *ret)
{
	char *copy = rcore_arena_strdup(arena, text), *rest = NULL;
	for (char *pair = copy ? strtok_r(copy, ",", &rest) : NULL; pair;
	     pair = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(pair, '=');
		if (!value)
			continue;
		*value++ = 0;
		const char *name = trim(pair);
		for (size_t i = 0; i < RCORE_COUNT(attributes); i++) {
			if (strcmp(name, attributes[i].name) != 0)
				continue;
			value = trim(value);
			decode(value);
			put(value, attributes[i].kind, 1, arena, ret);
			break;
		}
	}
}

bool rcore_deployment_drop_cut(const char *name, char *text)
{
	char *last = strrchr(text, ',');
	for (size_t i = 0; i < RCORE_COUNT(variables); i++) {
		if (strcmp(name, variables[i].name) != 0 || variables[i].kind != ATTRIBUTES)
			continue;
		if (last)
			*last = 0;
		return last;
	}
	return false;
}

void rcore_deployment_take(const char *name, const char *text, struct rcore_arena *arena,
			   struct rcore_deployment_found *ret)
{
	for (size_t i = 0; i < RCORE_COUNT(variables); i++) {
		if (strcmp(name, variables[i].name) != 0)
			continue;
		if (variables[i].kind == ATTRIBUTES)
			take_attributes(text, arena, ret);
		else
			put(text, variables[i].kind, variables[i].rank, arena, ret);
		return;
	}
}

static const char *first_of(const char *const ranks[RCORE_DEPLOYMENT_RANKS])
{
	for (size_t i = 0; i < RCORE_DEPLOYMENT_RANKS; i++)
		if (ranks[i])
			return ranks[i];
	return NULL;
}

void rcore_deployment_settle(const struct rcore_deployment_found *found,
			     struct rcore_deployment *ret)
{
	const char *host = first_of(found->host);
	ret->service = first_of(found->service);
	ret->release = first_of(found->release);
	if (!host)
		return;
	ret->host = host;
	ret->host_source = "environment";
}

static void describe_live(struct rcore_snapshot *snapshot)
{
	struct rcore_deployment *deployment = &snapshot->deployment;
	struct utsname machine;
	deployment->time = (uint64_t)time(NULL);
	deployment->time_source = "clock";
	if (uname(&machine) || !machine.nodename[0])
		return;
	deployment->host = rcore_arena_copy(&snapshot->arena, machine.nodename);
	deployment->host_source = "machine";
}

static void describe_file(const struct rcore_core_origin *origin,
			  struct rcore_snapshot *snapshot)
{
	struct rcore_deployment *deployment = &snapshot->deployment;
	deployment->time = origin->time;
	deployment->time_source = origin->time ? origin->time_source : NULL;
	deployment->host = rcore_arena_copy(&snapshot->arena, origin->host);
	deployment->host_source = origin->host ? "systemd" : NULL;
}

/* What a pack says takes precedence over what its file says. */
static void describe_pack(const struct rcore_deployment *packed,
			  struct rcore_snapshot *snapshot)
{
	struct rcore_deployment *deployment = &snapshot->deployment;
	if (packed->time && packed->time_source) {
		deployment->time = packed->time;
		deployment->time_source = packed->time_source;
	}
	if (packed->host && packed->host_source) {
		deployment->host = rcore_arena_copy(&snapshot->arena, packed->host);
		deployment->host_source = packed->host_source;
	}
	deployment->service = rcore_arena_copy(&snapshot->arena, packed->service);
	deployment->release = rcore_arena_copy(&snapshot->arena, packed->release);
}

void rcore_deployment_describe(const struct rcore_target *target,
			       struct rcore_snapshot *snapshot)
{
	if (target->live)
		describe_live(snapshot);
	if (target->core)
		describe_file(rcore_core_origin(target->core), snapshot);
	if (target->pack)
		describe_pack(&target->pack->deployment, snapshot);
}
