/* SPDX-License-Identifier: MIT */
#include "report/profile/application.h"

#include <stdlib.h>

#include "triage/origin.h"

static bool *find_own(const struct rcore_profile *profile)
{
	bool *own = calloc(profile->functions.count, sizeof(*own));
	for (uint32_t i = 1; own && i < profile->functions.count; i++) {
		const struct rcore_profile_function *function =
			rcore_profile_function_at(profile, i);
		const char *path = rcore_profile_text(profile, function->path);
		own[i] = function->kind == RCORE_FUNCTION_RUBY && path[0] &&
			 rcore_origin_of_path(path) == RCORE_ORIGIN_APP;
	}
	return own;
}

static uint32_t function_of(const struct rcore_profile *profile, uint32_t node)
{
	uint32_t frame = rcore_profile_node_at(profile, node)->frame;
	return rcore_profile_frame_at(profile, frame)->function;
}

/* Whether the caller of a node's frame only starts the program. */
static bool is_started(const struct rcore_profile *profile, uint32_t node)
{
	uint32_t caller = function_of(profile, rcore_profile_node_at(profile, node)->parent);
	const struct rcore_profile_function *outer = rcore_profile_function_at(profile, caller);
	const struct rcore_profile_function *inner =
		rcore_profile_function_at(profile, function_of(profile, node));
	return rcore_is_binstub_named(rcore_profile_text(profile, outer->label),
				      rcore_profile_text(profile, outer->path),
				      rcore_profile_text(profile, inner->label));
}

/* A node's number is higher than its caller's. */
uint32_t *rcore_application_owners(const struct rcore_profile *profile)
{
	uint32_t *owners = calloc(profile->nodes.count, sizeof(*owners));
	bool *own = find_own(profile);
	for (uint32_t i = 1; owners && own && i < profile->nodes.count; i++) {
		uint32_t function = function_of(profile, i);
		if (own[function])
			owners[i] = function;
		else if (!is_started(profile, i))
			owners[i] = owners[rcore_profile_node_at(profile, i)->parent];
	}
	if (!own) {
		free(owners);
		owners = NULL;
	}
	free(own);
	return owners;
}
