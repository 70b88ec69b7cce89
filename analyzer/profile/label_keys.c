/* SPDX-License-Identifier: MIT */
#include "profile/label_keys.h"

#include <stdio.h>

#include "base/text.h"

void rcore_label_keys_add(struct rcore_label_keys *keys, uint32_t string)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->strings[i] == string)
			return;
	if (keys->count < RCORE_LABEL_KEYS)
		keys->strings[keys->count++] = string;
	else
		keys->has_more = true;
}

void rcore_label_keys_text(const struct rcore_label_keys *keys,
			   const struct rcore_profile *profile, char *buffer, size_t size)
{
	enum { SHOWN = 36 }; /* bytes of a key, with the NUL */
	size_t used = (size_t)snprintf(buffer, size,
				       !keys->count       ? "no sample has a label"
				       : keys->count == 1 ? "samples have the label"
							  : "samples have the labels");
	for (size_t i = 0; i < keys->count && used < size; i++) {
		char key[SHOWN];
		rcore_format(key, sizeof(key), "%s",
			     rcore_profile_text(profile, keys->strings[i]));
		used += (size_t)snprintf(buffer + used, size - used, "%s %s", i ? "," : "",
					 key);
	}
	/* snprintf() may have cut a character. */
	if (used >= size)
		buffer[rcore_utf8_cut(buffer, size - 2)] = '\0';
	if (keys->has_more && used < size)
		snprintf(buffer + used, size - used, " ...");
}
