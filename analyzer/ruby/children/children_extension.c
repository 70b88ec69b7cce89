/* SPDX-License-Identifier: MIT */
/*
 * Structs of extensions. What they refer to, only their dmark functions know.
 * So each word of the struct's own malloc chunk, one level deep, may be a
 * reference. Of some extensions of Ruby itself, it is known that their
 * references are further away.
 */
#include "malloc/malloc.h"
#include "ruby/children/children_private.h"

enum { CHUNK_LIMIT = 1 << 20 /* bytes that a scan reads */ };

void rcore_child_scan(struct rcore_children *children, uint64_t start, uint64_t size)
{
	children->state |= RCORE_HEAP_OPAQUE;
	if (size > CHUNK_LIMIT)
		size = CHUNK_LIMIT;
	rcore_child_mark_values(children, start, size / sizeof(uint64_t),
				RCORE_EDGE_CONSERVATIVE);
}

static uint64_t size_of(const struct rcore_children *children, uint64_t chunk)
{
	return rcore_chunk_size(children->ruby->chunks, children->ruby->memory, chunk);
}

void rcore_child_scan_chunk(struct rcore_children *children, uint64_t chunk)
{
	rcore_child_scan(children, chunk, size_of(children, chunk));
}

/*
 * ripper_parser_mark2() of ripper_init.c.tmpl: from 3.3 on, the struct is a
 * small one whose first member is the parser. Before, it is the parser.
 */
void rcore_children_of_ripper(struct rcore_children *children, uint64_t data)
{
	enum { MOST_SMALL = 64 };
	uint64_t parser;
	rcore_child_scan_chunk(children, data);
	if (size_of(children, data) <= MOST_SMALL &&
	    !rcore_read_u64(children->ruby->memory, data, &parser) && parser)
		rcore_child_scan_chunk(children, parser);
}

/*
 * ossl_ssl_mark() of ossl_ssl.c: the callback is among the data that a program
 * may add to an SSL (CRYPTO_EX_DATA). A member of OpenSSL's struct points to a
 * stack (struct stack_st of crypto/stack/stack.c) of them.
 */
void rcore_children_of_ssl(struct rcore_children *children, uint64_t data)
{
	enum { STRUCT_LIMIT = 1 << 14, STACK_LIMIT = 64 };
	struct rcore_memory *memory = children->ruby->memory;
	uint64_t size = size_of(children, data);
	rcore_child_scan_chunk(children, data);
	for (uint64_t at = 0; at + 8 <= size && at < STRUCT_LIMIT; at += 8) {
		struct {
			uint32_t count, padding;
			uint64_t items;
			uint32_t is_sorted, capacity;
		} stack;
		uint64_t address;
		if (!rcore_read_u64(memory, data + at, &address) && address &&
		    address % 16 == 0 && !rcore_read(memory, address, &stack, sizeof(stack)) &&
		    stack.count && stack.count <= stack.capacity &&
		    stack.capacity <= STACK_LIMIT && size_of(children, stack.items))
			rcore_child_scan(children, stack.items, stack.count * sizeof(uint64_t));
	}
}
