/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_GROUP_H
#define RCORE_PROFILE_GROUP_H

#include "profile/totals.h"

/*
 * Groups of samples. A frame at the outer end of each stack names its group, so
 * every output shows groups without any code for them.
 */

/*
 * Stacks that were moved to a group: maps {group, node} to a node. All zeroes
 * is empty.
 */
struct rcore_group_cache {
	struct rcore_record_set pairs;
	uint32_t *nodes; /* one for each pair */
	size_t capacity;
	/* Groups that are processes: their functions. */
	struct rcore_group_processes {
		struct rcore_group_process {
			uint32_t function, process;
		} * items;
		size_t count, capacity;
	} processes;
	uint32_t *frames; /* room for one stack */
	size_t frame_capacity;
	bool no_memory;
};

/* The size of the name of a group. */
enum { RCORE_GROUP_NAME = 512 };

void rcore_group_cache_deinit(struct rcore_group_cache *cache);

/*
 * Writes the name of the group of samples without the label. No other group has
 * this name: the names of the others begin with "LABEL=".
 */
void rcore_group_unlabelled(const char *label, char ret[RCORE_GROUP_NAME]);

/* Returns the node of key->node in the group that the key belongs to. */
uint32_t rcore_group_node(struct rcore_profile *profile, struct rcore_group_cache *cache,
			  enum rcore_by by, const char *label,
			  const struct rcore_total_key *key);

/*
 * Adds the titles of processes to the names of their groups. This changes their
 * functions, so no group can be added after that.
 */
void rcore_group_name_processes(struct rcore_profile *profile,
				const struct rcore_group_cache *cache);

/*
 * Whether a set of labels meets all conditions: "key=value", or "key" for any
 * value.
 */
bool rcore_labels_match(const struct rcore_profile *profile, uint32_t labels,
			const char *const *conditions, size_t count);

#endif
