/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_LABEL_KEYS_H
#define RCORE_PROFILE_LABEL_KEYS_H

#include "profile/profile.h"

/*
 * The first keys of the labels in a recording, for a message about a key that
 * it does not have.
 */
enum { RCORE_LABEL_KEYS = 16 };

struct rcore_label_keys {
	uint32_t strings[RCORE_LABEL_KEYS]; /* of the profile of the totals */
	size_t count;
	bool has_more;
};

void rcore_label_keys_add(struct rcore_label_keys *keys, uint32_t string);

/*
 * Writes "samples have the labels path, tenant" or "no sample has a label".
 * Ends with " ..." if there are more than RCORE_LABEL_KEYS.
 */
void rcore_label_keys_text(const struct rcore_label_keys *keys,
			   const struct rcore_profile *profile, char *buffer, size_t size);

#endif
