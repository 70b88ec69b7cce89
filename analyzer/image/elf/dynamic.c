/* SPDX-License-Identifier: MIT */
#include "image/elf/dynamic.h"

#include <string.h>

enum {
	MAX_DYNAMIC = 1024, /* entries; a linker writes about 30 */
	/* Symbols in one bucket; a linker aims at one or two. */
	MAX_CHAIN = 1 << 16,
	MAX_NAME = 256,
};

/*
 * glibc relocates these in memory. In a file, in the vdso and with musl, they
 * have their link-time values.
 */
static uint64_t relocate(uint64_t value, uint64_t bias, uint64_t high)
{
	return value < high ? value + bias : value;
}

bool rcore_dynamic_init(struct rcore_memory *memory, uint64_t bias,
			const struct rcore_elf_headers *headers, struct rcore_dynamic *ret)
{
	const GElf_Phdr *segment = rcore_elf_headers_find(headers, PT_DYNAMIC);
	uint64_t low, high;
	if (!segment || !rcore_elf_headers_extent(headers, &low, &high))
		return false;
	struct rcore_dynamic dynamic = {.memory = memory, .bias = bias};
	for (size_t i = 0; i < MAX_DYNAMIC && i < segment->p_memsz / sizeof(Elf64_Dyn); i++) {
		Elf64_Dyn entry;
		if (rcore_read(memory, bias + segment->p_vaddr + i * sizeof(entry), &entry,
			       sizeof(entry)))
			return false;
		uint64_t address = relocate(entry.d_un.d_ptr, bias, high);
		if (entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SYMTAB)
			dynamic.symbols = address;
		else if (entry.d_tag == DT_STRTAB)
			dynamic.strings = address;
		else if (entry.d_tag == DT_STRSZ)
			dynamic.strings_size = entry.d_un.d_val;
		else if (entry.d_tag == DT_GNU_HASH)
			dynamic.gnu_hash = address;
		else if (entry.d_tag == DT_HASH)
			dynamic.sysv_hash = address;
		else if (entry.d_tag == DT_RELA)
			dynamic.relocations = address;
		else if (entry.d_tag == DT_RELASZ)
			dynamic.relocations_size = entry.d_un.d_val;
		else if (entry.d_tag == DT_JMPREL)
			dynamic.plt_relocations = address;
		else if (entry.d_tag == DT_PLTRELSZ)
			dynamic.plt_relocations_size = entry.d_un.d_val;
		else if (entry.d_tag == DT_DEBUG)
			dynamic.debug = entry.d_un.d_ptr;
	}
	*ret = dynamic;
	return true;
}

/* What to find, and the result. */
struct lookup {
	const char *name;
	size_t size;
	bool thread_local;
	GElf_Sym symbol;
	uint32_t index;
};

/* Whether the symbol with this index is a definition of it. */
static bool matches(const struct rcore_dynamic *dynamic, uint32_t index, struct lookup *lookup)
{
	Elf64_Sym symbol;
	char text[MAX_NAME];
	if (rcore_read(dynamic->memory, dynamic->symbols + (uint64_t)index * sizeof(symbol),
		       &symbol, sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF ||
	    (GELF_ST_TYPE(symbol.st_info) == STT_TLS) != lookup->thread_local ||
	    symbol.st_name >= dynamic->strings_size ||
	    lookup->size > dynamic->strings_size - symbol.st_name ||
	    rcore_read(dynamic->memory, dynamic->strings + symbol.st_name, text,
		       lookup->size) ||
	    memcmp(text, lookup->name, lookup->size))
		return false;
	lookup->symbol = symbol;
	lookup->index = index;
	return true;
}

/*
 * https://flapenguin.me/elf-dt-gnu-hash describes the table; glibc's
 * do_lookup_x() reads it.
 */
static bool find_gnu(const struct rcore_dynamic *dynamic, struct lookup *lookup)
{
	struct {
		uint32_t buckets, first_symbol, bloom_words, bloom_shift;
	} head;
	uint32_t hash = 5381, index, link;
	uint64_t bloom;
	for (const char *c = lookup->name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	struct rcore_memory *memory = dynamic->memory;
	uint64_t table = dynamic->gnu_hash + sizeof(head);
	if (rcore_read(memory, dynamic->gnu_hash, &head, sizeof(head)) || !head.buckets ||
	    !head.bloom_words ||
	    rcore_read_u64(memory, table + 8 * (uint64_t)(hash / 64 % head.bloom_words),
			   &bloom))
		return false;
	if (!(bloom >> (hash % 64) & bloom >> (hash >> (head.bloom_shift % 32)) % 64 & 1))
		return false;
	uint64_t buckets = table + 8 * (uint64_t)head.bloom_words;
	uint64_t links = buckets + 4 * (uint64_t)head.buckets;
	if (rcore_read_u32(memory, buckets + 4 * (uint64_t)(hash % head.buckets), &index) ||
	    index < head.first_symbol)
		return false;
	for (unsigned i = 0; i < MAX_CHAIN; i++, index++) {
		if (rcore_read_u32(memory, links + 4 * (uint64_t)(index - head.first_symbol),
				   &link))
			return false;
		if ((link | 1) == (hash | 1) && matches(dynamic, index, lookup))
			return true;
		if (link & 1)
			return false;
	}
	return false;
}

static bool find_sysv(const struct rcore_dynamic *dynamic, struct lookup *lookup)
{
	struct {
		uint32_t buckets, symbols;
	} head;
	struct rcore_memory *memory = dynamic->memory;
	uint64_t buckets = dynamic->sysv_hash + sizeof(head);
	uint32_t index;
	if (rcore_read(memory, dynamic->sysv_hash, &head, sizeof(head)) || !head.buckets ||
	    rcore_read_u32(memory,
			   buckets + 4 * (uint64_t)(elf_hash(lookup->name) % head.buckets),
			   &index))
		return false;
	uint64_t links = buckets + 4 * (uint64_t)head.buckets;
	for (unsigned i = 0; index && i < MAX_CHAIN; i++) {
		if (matches(dynamic, index, lookup))
			return true;
		if (rcore_read_u32(memory, links + 4 * (uint64_t)index, &index))
			return false;
	}
	return false;
}

static bool find(const struct rcore_dynamic *dynamic, struct lookup *lookup)
{
	lookup->size = strlen(lookup->name) + 1;
	if (lookup->size > MAX_NAME || !dynamic->symbols || !dynamic->strings)
		return false;
	if (dynamic->gnu_hash)
		return find_gnu(dynamic, lookup);
	return dynamic->sysv_hash && find_sysv(dynamic, lookup);
}

bool rcore_dynamic_symbol(const struct rcore_dynamic *dynamic, const char *name, GElf_Sym *ret)
{
	struct lookup lookup = {.name = name};
	if (!find(dynamic, &lookup))
		return false;
	*ret = lookup.symbol;
	return true;
}

bool rcore_dynamic_thread_local(const struct rcore_dynamic *dynamic, const char *name,
				GElf_Sym *ret, uint32_t *index)
{
	struct lookup lookup = {.name = name, .thread_local = true};
	if (!find(dynamic, &lookup))
		return false;
	*ret = lookup.symbol;
	if (index)
		*index = lookup.index;
	return true;
}
