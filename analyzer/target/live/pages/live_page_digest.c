/* SPDX-License-Identifier: MIT */
#include "target/live/pages/live_page_digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "target/live/live.h"
#include "target/live/pages/live_pages_private.h"

uint64_t rcore_live_page_digest(const uint8_t *bytes)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2"))
		return rcore_live_page_digest_avx2(bytes, RCORE_LIVE_PAGE);
#endif
	return XXH3_64bits(bytes, RCORE_LIVE_PAGE);
}
