/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "sampler/code_private.h"

enum {
	FIELDS = 5,
	/* T_IMEMO and its type; the bits of the garbage collector change. */
	TYPE_MASK = 0xffff,
};

/* A struct; its address is 0 if the code has none. */
struct part {
	uint64_t address;
	const struct rcore_field *fields[FIELDS + 1]; /* the last one is NULL */
};

static void parts_of(const struct rcore_layout *layout, const struct rcore_code *code,
		     struct part ret[RCORE_CODE_PARTS])
{
	const struct part parts[RCORE_CODE_PARTS] = {
		{code->body ? code->key.iseq : 0, {&layout->iseq.flags, &layout->iseq.body}},
		{code->key.iseq ? code->body : 0,
		 {&layout->iseq_body.iseq_encoded, &layout->iseq_body.pathobj,
		  &layout->iseq_body.label}},
		{code->key.method,
		 {&layout->cme.flags, &layout->cme.defined_class, &layout->cme.def,
		  &layout->cme.called_id, &layout->cme.owner}},
	};
	memcpy(ret, parts, sizeof(parts));
}

void rcore_code_identify(const struct rcore_layout *layout, struct rcore_memory *memory,
			 const struct rcore_code *code, struct rcore_code_identity *ret)
{
	struct part parts[RCORE_CODE_PARTS];
	size_t used = 0;
	memset(ret, 0, sizeof(*ret));
	parts_of(layout, code, parts);
	for (size_t i = 0; i < RCORE_CODE_PARTS; i++)
		for (size_t k = 0; parts[i].fields[k]; k++) {
			const struct rcore_field *field = parts[i].fields[k];
			uint64_t *word = &ret->words[used++];
			if (parts[i].address)
				rcore_read_field(memory, parts[i].address, field, word);
			if (field == &layout->iseq.flags || field == &layout->cme.flags)
				*word &= TYPE_MASK;
		}
}

/* Returns whether the part's fields fit into RCORE_CODE_PART_SIZE. */
static bool range_of(const struct part *part, uint8_t *bytes, struct rcore_live_range *ret)
{
	uint64_t from = UINT64_MAX, to = 0;
	for (size_t i = 0; part->fields[i]; i++) {
		const struct rcore_field *field = part->fields[i];
		if (!rcore_has_place(field))
			continue;
		uint64_t start = (uint64_t)field->offset;
		from = start < from ? start : from;
		to = start + field->size > to ? start + field->size : to;
	}
	*ret = (struct rcore_live_range){
		.start = part->address + from, .size = to - from, .bytes = bytes};
	return part->address && from < to && to - from <= RCORE_CODE_PART_SIZE;
}

size_t rcore_code_ranges(const struct rcore_layout *layout, const struct rcore_code *code,
			 struct rcore_code_part *bytes, struct rcore_live_range *ret)
{
	struct part parts[RCORE_CODE_PARTS];
	size_t used = 0;
	parts_of(layout, code, parts);
	for (size_t i = 0; i < RCORE_CODE_PARTS; i++)
		if (range_of(&parts[i], bytes[used].bytes, &ret[used]))
			used++;
	return used;
}
