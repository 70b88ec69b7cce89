/* SPDX-License-Identifier: MIT */
#include "ruby/children/contents.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "ruby/object/array.h"
#include "ruby/object/class.h"
#include "ruby/object/string.h"

/* In bytes. A larger object is hardly ever a duplicate, and takes long. */
#define CONTENT_LIMIT (UINT64_C(1) << 30)

enum { CHUNK = 4096 };

/* ENCODING_MASK of include/ruby/internal/encoding/encoding.h. */
enum { ENCODING_SHIFT = RCORE_FL_USHIFT + 10, ENCODING_MASK = 0x7f };

static void finish(XXH3_state_t *state, struct rcore_content *ret)
{
	XXH128_hash_t hash = XXH3_128bits_digest(state);
	ret->hash[0] = hash.high64;
	ret->hash[1] = hash.low64;
}

static bool take(uint64_t *budget, uint64_t bytes)
{
	if (bytes > CONTENT_LIMIT || bytes > *budget)
		return false;
	*budget -= bytes;
	return true;
}

/*
 * Hashes the class, too: objects of a class and of its subclass are no
 * duplicates, even if both are empty.
 */
static bool add_class(struct rcore_ruby *ruby, uint64_t object, XXH3_state_t *state)
{
	uint64_t klass;
	if (rcore_read_field(ruby->memory, object, &ruby->layout->basic.klass, &klass))
		return false;
	struct rcore_error *err = rcore_real_class(ruby, klass, &klass);
	rcore_error_free(err);
	if (!err)
		XXH3_128bits_update(state, &klass, sizeof(klass));
	return !err;
}

bool rcore_hash_string(struct rcore_ruby *ruby, uint64_t string, uint64_t *budget,
		       struct rcore_content *ret)
{
	unsigned char bytes[CHUNK];
	uint64_t flags, at, left;
	XXH3_state_t state;
	struct rcore_error *err = rcore_string_bytes(ruby, string, &at, &left);
	rcore_error_free(err);
	if (err || !take(budget, left) || rcore_read_u64(ruby->memory, string, &flags))
		return false;
	XXH3_INITSTATE(&state);
	XXH3_128bits_reset_withSeed(&state, flags >> ENCODING_SHIFT & ENCODING_MASK);
	if (!add_class(ruby, string, &state))
		return false;
	while (left) {
		uint64_t some = left < CHUNK ? left : CHUNK;
		if (rcore_read(ruby->memory, at, bytes, some))
			return false;
		XXH3_128bits_update(&state, bytes, some);
		at += some;
		left -= some;
	}
	finish(&state, ret);
	return true;
}

bool rcore_hash_array(struct rcore_ruby *ruby, uint64_t array, uint64_t *budget,
		      uint64_t (*same)(void *context, uint64_t value), void *context,
		      struct rcore_content *ret)
{
	/* No String has this seed: a String's is its encoding's index. */
	enum { SEED = 1 << 16 };
	uint64_t values[CHUNK / 8], at, left;
	XXH3_state_t state;
	struct rcore_error *err = rcore_array(ruby, array, &at, &left);
	rcore_error_free(err);
	if (err || left > CONTENT_LIMIT / sizeof(*values) ||
	    !take(budget, left * sizeof(*values)))
		return false;
	XXH3_INITSTATE(&state);
	XXH3_128bits_reset_withSeed(&state, SEED);
	if (!add_class(ruby, array, &state))
		return false;
	while (left) {
		uint64_t some = left < CHUNK / 8 ? left : CHUNK / 8;
		if (rcore_read(ruby->memory, at, values, some * sizeof(*values)))
			return false;
		for (uint64_t i = 0; i < some; i++)
			values[i] = same(context, values[i]);
		XXH3_128bits_update(&state, values, some * sizeof(*values));
		at += some * sizeof(*values);
		left -= some;
	}
	finish(&state, ret);
	return true;
}
