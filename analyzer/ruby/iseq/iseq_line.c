/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/hot.h"
#include "ruby/get.h"
#include "ruby/iseq/iseq_private.h"

/*
 * insns_info.body has one entry for each instruction whose line or events
 * differ from those of the one before. succ_index_table gives, for a position,
 * the number of entries that begin at or before it, in constant time (iseq.c,
 * struct succ_index_table).
 *
 *   imm_part[6]   positions 0 to 53: the number, 7 bits each, 9 to a word
 *   succ_part[]   from 54 on, 512 positions a block:
 *     rank                 the number before the block
 *     small_block_ranks    for words 1 to 7 of `bits`: the number before the
 *                          word, 9 bits each
 *     bits[8]              a bit for each position at which an entry begins
 */
enum {
	IMM_POSITIONS = 54, /* IMMEDIATE_TABLE_SIZE */
	IMM_PER_WORD = 9,
	IMM_BITS = 7,
	IMM_WORDS = IMM_POSITIONS / IMM_PER_WORD,
	BLOCK_POSITIONS = 512,
	SMALL_RANK_BITS = 9,
};

struct succ_block {
	uint32_t rank;
	uint64_t small_block_ranks;
	uint64_t bits[BLOCK_POSITIONS / 64];
};
_Static_assert(sizeof(struct succ_block) == 80, "as CRuby's compiler lays it out on 64 bits");

/* Its size in bytes, as succ_index_table_create allocates it. */
static size_t table_size(uint32_t positions)
{
	if (positions < IMM_POSITIONS)
		return (positions + IMM_PER_WORD - 1) / IMM_PER_WORD * sizeof(uint64_t);
	size_t blocks = (positions - IMM_POSITIONS + BLOCK_POSITIONS - 1) / BLOCK_POSITIONS;
	return IMM_WORDS * sizeof(uint64_t) + blocks * sizeof(struct succ_block);
}

/*
 * Returns the number of entries up to `position`; 0 if the table ends before
 * it. (Entries are numbered from 1.)
 */
static uint32_t lookup(const unsigned char *table, size_t size, uint32_t position)
{
	if (position < IMM_POSITIONS) {
		uint64_t word;
		size_t offset = position / IMM_PER_WORD * sizeof(word);
		if (offset + sizeof(word) > size)
			return 0;
		memcpy(&word, table + offset, sizeof(word));
		return word >> position % IMM_PER_WORD * IMM_BITS & ((1 << IMM_BITS) - 1);
	}
	struct succ_block block;
	uint32_t bit = (position - IMM_POSITIONS) % BLOCK_POSITIONS;
	size_t offset = IMM_WORDS * sizeof(uint64_t) +
			(position - IMM_POSITIONS) / BLOCK_POSITIONS * sizeof(block);
	if (offset + sizeof(block) > size)
		return 0;
	memcpy(&block, table + offset, sizeof(block));
	uint32_t word = bit / 64;
	uint32_t rank = block.rank;
	if (word)
		rank += block.small_block_ranks >> (word - 1) * SMALL_RANK_BITS &
			((1 << SMALL_RANK_BITS) - 1);
	return rank + (uint32_t)__builtin_popcountll(block.bits[word] << (63 - bit % 64));
}

static struct rcore_error *read_lines(struct rcore_ruby *ruby, struct rcore_iseq *iseq,
				      uint64_t entries, uint32_t count)
{
	const struct rcore_layout *layout = ruby->layout;
	unsigned char buffer[4096];
	uint32_t size = layout->insn_info.size;
	if (!size || size > sizeof(buffer))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED, "layout %s has no insn_info",
					  layout->name);
	int32_t *lines = rcore_arena_alloc(&ruby->scratch, count * sizeof(*lines));
	if (!lines)
		return rcore_error_no_memory();
	uint32_t done = 0;
	while (done < count) {
		uint32_t some = (uint32_t)sizeof(buffer) / size;
		some = some < count - done ? some : count - done;
		uint64_t address = entries + (uint64_t)done * size;
		enum rcore_fault fault =
			rcore_read(ruby->memory, address, buffer, (size_t)some * size);
		if (fault != RCORE_FAULT_NONE)
			return rcore_fault_error(fault, "line table", address,
						 (size_t)some * size);
		for (uint32_t i = 0; i < some; i++, done++) {
			uint64_t line = 0;
			if (!rcore_field_of(buffer + i * size, size, &layout->insn_info.line_no,
					    &line))
				return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
							  "layout %s has no insn_info.line_no",
							  layout->name);
			lines[done] = (int32_t)line;
		}
	}
	iseq->lines = lines;
	iseq->line_count = count;
	return NULL;
}

static struct rcore_error *load(struct rcore_ruby *ruby, struct rcore_iseq *iseq)
{
	uint64_t body = iseq->info.body, entries, count, table;
	struct rcore_error *err = NULL;
	if ((err = RCORE_GET(ruby, body, iseq_body, insns_info_body, &entries)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, insns_info_size, &count)) ||
	    (err = RCORE_GET(ruby, body, iseq_body, succ_index_table, &table)))
		return err;
	if (count > iseq->info.size)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "%" PRIu64 " entries for %" PRIu32 " words of code",
					  count, iseq->info.size);
	if (count > 1) {
		size_t size = table_size(iseq->info.size);
		unsigned char *copy = rcore_arena_alloc(&ruby->scratch, size);
		if (!copy)
			return rcore_error_no_memory();
		enum rcore_fault fault = rcore_read_large(ruby->memory, table, copy, size);
		if (fault != RCORE_FAULT_NONE)
			return rcore_fault_error(fault, "succ_index_table", table, size);
		iseq->succ_index_table = copy;
		iseq->succ_index_size = size;
	}
	return read_lines(ruby, iseq, entries, (uint32_t)count);
}

RCORE_HOT struct rcore_error *rcore_iseq_line(struct rcore_ruby *ruby,
					      const struct rcore_iseq_info *info, uint64_t pc,
					      int *ret)
{
	struct rcore_iseq *iseq = rcore_cache_get(&ruby->iseqs, info->address, 0);
	uint64_t bytes = pc - info->encoded;
	if (!iseq || pc < info->encoded || bytes % 8 || bytes / 8 > info->size)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "pc 0x%" PRIx64 " is outside iseq 0x%" PRIx64, pc,
					  info->address);
	if (!iseq->lines) {
		struct rcore_error *err = load(ruby, iseq);
		if (err)
			return rcore_error_wrap(err, "lines of iseq 0x%" PRIx64, info->address);
	}
	uint32_t position = (uint32_t)(bytes / 8);
	if (position)
		position--;
	uint32_t index = iseq->line_count > 1 ? lookup(iseq->succ_index_table,
						       iseq->succ_index_size, position)
					      : iseq->line_count;
	if (!iseq->line_count) {
		*ret = 0;
		return NULL;
	}
	if (!index || index > iseq->line_count)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "the line table of iseq 0x%" PRIx64
					  " has no entry for position %" PRIu32,
					  info->address, position);
	*ret = iseq->lines[index - 1];
	return NULL;
}
