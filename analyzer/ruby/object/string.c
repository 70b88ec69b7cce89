/* SPDX-License-Identifier: MIT */
#include "ruby/object/string.h"

#include <inttypes.h>
#include <string.h>

#include "base/filler.h"
#include "ruby/get.h"

enum {
	/* The largest slot has 640 bytes. */
	EMBED_LIMIT = 1024,
	/* RSTRING_EMBED_LEN_SHIFT, up to 3.1. */
	EMBED_LENGTH_SHIFT = RCORE_FL_USHIFT + 2,
	EMBED_LENGTH_MASK = 0x1f,
};

static struct rcore_error *embedded(struct rcore_ruby *ruby, uint64_t value, uint64_t flags,
				    uint64_t *bytes, uint64_t *length)
{
	const struct rcore_layout *layout = ruby->layout;
	struct rcore_error *err = NULL;

	if (!rcore_has(&layout->string.embed_ary))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "layout %s has no field string.embed_ary",
					  layout->name);
	if (rcore_has(&layout->string.embed_len))
		err = RCORE_GET(ruby, value, string, embed_len, length);
	else if (layout->string.embed_ary.offset != layout->string.len.offset)
		err = RCORE_GET(ruby, value, string, len, length);
	/*
	 * The bytes begin at the place of a heap string's length, so the length
	 * is in the flags.
	 */
	else
		*length = flags >> EMBED_LENGTH_SHIFT & EMBED_LENGTH_MASK;
	if (err)
		return err;
	if (*length > EMBED_LIMIT)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "String 0x%" PRIx64 " has %" PRIu64
					  " bytes in its slot",
					  value, *length);
	*bytes = value + (uint64_t)layout->string.embed_ary.offset;
	return NULL;
}

struct rcore_error *rcore_string_bytes(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret,
				       uint64_t *ret_length)
{
	uint64_t flags, bytes, length;
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (err)
		return err;
	if ((flags & RCORE_T_MASK) != RCORE_T_STRING)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a String",
					  value);
	if (flags & (uint64_t)ruby->layout->constant.string_noembed) {
		err = RCORE_GET(ruby, value, string, ptr, &bytes);
		if (!err)
			err = RCORE_GET(ruby, value, string, len, &length);
		if (!err && (int64_t)length < 0)
			err = rcore_error_create(RCORE_ERROR_CORRUPT,
						 "String 0x%" PRIx64 " has a negative length",
						 value);
	} else {
		err = embedded(ruby, value, flags, &bytes, &length);
	}
	if (err)
		return err;
	*ret = bytes;
	*ret_length = length;
	return NULL;
}

void rcore_text_taken(struct rcore_ruby *ruby, uint64_t address, char *bytes, size_t length)
{
	if (ruby->recorder)
		rcore_recorder_mark(ruby->recorder, RCORE_RECORDED_TEXT, address, length);
	if (!ruby->hides_text || !length)
		return;
	rcore_fill(bytes, length);
	ruby->hidden_count++;
}

static struct rcore_error *read_string(struct rcore_ruby *ruby, uint64_t value, bool is_name,
				       const char **ret, size_t *ret_length)
{
	uint64_t bytes, length;
	struct rcore_error *err = rcore_string_bytes(ruby, value, &bytes, &length);
	if (err)
		return err;
	if (length > RCORE_STRING_LIMIT)
		length = RCORE_STRING_LIMIT;
	char *text = rcore_arena_alloc(ruby->arena, length + 1);
	if (!text)
		return rcore_error_no_memory();
	enum rcore_fault fault = rcore_read_large(ruby->memory, bytes, text, length);
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "bytes of a String", bytes, length);
	if (!is_name)
		rcore_text_taken(ruby, bytes, text, length);
	else if (ruby->recorder)
		rcore_recorder_mark(ruby->recorder, RCORE_RECORDED_NAME, bytes, length);
	*ret = text;
	if (ret_length)
		*ret_length = length;
	return NULL;
}

struct rcore_error *rcore_string(struct rcore_ruby *ruby, uint64_t value, const char **ret,
				 size_t *ret_length)
{
	return read_string(ruby, value, true, ret, ret_length);
}

struct rcore_error *rcore_text(struct rcore_ruby *ruby, uint64_t value, const char **ret,
			       size_t *ret_length)
{
	return read_string(ruby, value, false, ret, ret_length);
}

struct rcore_error *rcore_string_is(struct rcore_ruby *ruby, uint64_t value,
				    const char *expected, bool *ret)
{
	char text[RCORE_STRING_IS_LIMIT];
	uint64_t bytes, length;
	size_t wanted = strlen(expected);
	struct rcore_error *err = rcore_string_bytes(ruby, value, &bytes, &length);
	if (err)
		return err;
	if (length != wanted || wanted > sizeof(text)) {
		*ret = false;
		return NULL;
	}
	enum rcore_fault fault = rcore_read(ruby->memory, bytes, text, wanted);
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "bytes of a String", bytes, wanted);
	*ret = !memcmp(text, expected, wanted);
	if (ruby->recorder && *ret)
		rcore_recorder_mark(ruby->recorder, RCORE_RECORDED_WORD, bytes, wanted);
	return NULL;
}
