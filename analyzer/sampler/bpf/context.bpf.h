/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_CONTEXT_BPF_H
#define RCORE_SAMPLER_BPF_CONTEXT_BPF_H

/* Copies the context of a fiber: the table of the gem ruby-profiler. */

#include "sampler/bpf/shared.bpf.h"

/*
 * Copies a String and the start of its text, but nothing after its end. Mirrors
 * RSTRING_PTR() and RSTRING_LEN() of CRuby's rstring.h.
 */
static __always_inline void read_string(const struct rcore_ruby_params *params, __u64 value,
					struct rcore_bpf_record *record)
{
	__u64 flags, length, address;
	__u32 index = record->string_count, length_at = (__u32)params->string_length;
	if (!value || value & 7 || index >= RCORE_BPF_STRINGS)
		return;
	struct rcore_bpf_string *string = &record->strings[index];
	if (bpf_probe_read_user(string->words, sizeof(string->words), (const void *)value))
		return;
	flags = string->words[0];
	if ((flags & RCORE_RUBY_T_MASK) != RCORE_RUBY_T_STRING)
		return;
	address = value + params->string_embedded;
	if (flags & params->string_noembed)
		address = string->words[(params->string_pointer >> 3) & 3];
	else if (params->string_embedded_length >= 0)
		length_at = (__u32)params->string_embedded_length;
	length = string->words[(length_at >> 3) & 3];
	if (!(flags & params->string_noembed) &&
	    params->string_embedded == params->string_length &&
	    params->string_embedded_length < 0)
		length = flags >> 14 & 0x1f; /* RSTRING_EMBED_LEN_SHIFT */
	/*
	 * Cuts a long String in the copy of its RString, too. Otherwise rcore
	 * would read the rest of the text later, when it may be freed.
	 */
	if (length > RCORE_BPF_TEXT) {
		length = RCORE_BPF_TEXT;
		string->words[(length_at >> 3) & 3] = length;
	}
	RCORE_RUBY_OPAQUE(length);
	if (length > RCORE_BPF_TEXT ||
	    bpf_probe_read_user(string->text, length, (const void *)address))
		return;
	string->value = value;
	string->address = address;
	string->length = length;
	string->unused = 0;
	record->string_count = index + 1;
}

/* Copies the table to which the gem's thread-local variable points. */
static __always_inline void read_context(const struct rcore_ruby_params *params,
					 struct scratch *scratch)
{
	struct rcore_bpf_record *record = &scratch->record;
	__u64 bytes, address = rcore_ruby_address(params, &params->state, scratch->pointer);
	record->string_count = record->has_slots = 0;
	record->size = record->capacity = 0;
	record->table = address ? rcore_ruby_word(address) : 0;
	if (!record->table)
		return;
	/* Most tables have few slots; one read is faster than two. */
	if (bpf_probe_read_user(&record->size, (2 + 2 * FEW_SLOTS) * sizeof(__u64),
				(const void *)record->table))
		record->capacity = RCORE_BPF_SLOTS;
	if (record->capacity > FEW_SLOTS) {
		if (bpf_probe_read_user(&record->size, 2 * sizeof(__u64),
					(const void *)record->table)) {
			record->size = record->capacity = 0;
			return;
		}
		if (record->capacity > RCORE_BPF_SLOTS)
			return;
		bytes = record->capacity * 2 * sizeof(__u64);
		RCORE_RUBY_OPAQUE(bytes);
		if (bytes > sizeof(record->slots) ||
		    bpf_probe_read_user(record->slots, bytes,
					(const void *)(record->table + 2 * sizeof(__u64))))
			return;
	}
	record->has_slots = 1;
	for (__u32 i = 0; i < RCORE_BPF_SLOTS && i < record->capacity; i++)
		if (record->slots[2 * i])
			read_string(params, record->slots[2 * i + 1], record);
}

#endif
