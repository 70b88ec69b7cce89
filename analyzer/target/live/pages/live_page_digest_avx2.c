/* SPDX-License-Identifier: MIT */
/*
 * Every x86-64 processor has SSE2, which is what xxhash.h uses unless the
 * compiler may use more. A stopped process waits while its pages are compared,
 * so this file alone may use AVX2.
 */
#ifdef __x86_64__
#pragma GCC target("avx2")

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "target/live/pages/live_page_digest.h"

uint64_t rcore_live_page_digest_avx2(const uint8_t *bytes, size_t size)
{
	return XXH3_64bits(bytes, size);
}
#endif
