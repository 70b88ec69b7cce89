/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "ruby/get.h"
#include "ruby/inspect/inspect_types.h"

enum { NAME_SIZE = 64, DUMMY_FLAG = 1 << 24, INDEX_MASK = DUMMY_FLAG - 1 };

/* enc_inspect of encoding.c. An encoding is loaded when it is first used. */
struct rcore_error *rcore_inspect_encoding(struct rcore_inspect *inspect, uint64_t value,
					   uint64_t data)
{
	struct rcore_ruby *ruby = inspect->ruby;
	uint64_t name, index, max_length;
	char text[NAME_SIZE];
	struct rcore_error *err = RCORE_GET(ruby, data, encoding, name, &name);
	if (!err)
		err = RCORE_GET(ruby, data, encoding, index, &index);
	if (!err)
		err = RCORE_GET(ruby, data, encoding, max_length, &max_length);
	if (err)
		return err;
	enum rcore_fault fault = rcore_read_string(ruby->memory, name, text, sizeof(text));
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "name of an Encoding", name, 1);
	bool is_binary = (index & INDEX_MASK) == RCORE_ENCODING_BINARY;
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	if (is_binary && ruby->layout->traits.encoding_named_binary)
		rcore_inspect_printf(inspect, ":BINARY (%s)", text);
	else
		rcore_inspect_printf(inspect, ":%s", text);
	rcore_inspect_puts(inspect, index & DUMMY_FLAG ? " (dummy)" : "");
	rcore_inspect_puts(inspect, max_length ? ">" : " (autoload)>");
	return NULL;
}
