/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/object/st_table.h"

enum {
	BIN_POWER_LIMIT = 41,
	WITHOUT_BINS = 1 << 4, /* MAX_POWER2_FOR_TABLES_WITHOUT_BINS */
	/* A table has more bins than entries, so there are few probes. */
	PROBE_LIMIT = 1 << 12,
	PERTURB_SHIFT = 11,
	HASH_BITS = 64,
	BIN_EMPTY = 0,
	BIN_DELETED = 1,
	BIN_BASE = 2, /* ENTRY_BASE: the value of a bin for the first entry */
};

static uint64_t number_hash(uint64_t key)
{
	uint64_t hash = (key >> 11 | key << 3) ^ key >> 3;
	return hash == UINT64_MAX ? ~UINT64_MAX : hash; /* RESERVED_HASH_VAL */
}

static struct rcore_error *find_without_bins(struct rcore_ruby *ruby, uint64_t table,
					     uint64_t key, uint64_t *record, bool *found)
{
	struct rcore_st_iterator iterator;
	uint64_t each;
	struct rcore_error *err = rcore_st_begin(&iterator, ruby, table, WITHOUT_BINS);
	do {
		if (!err)
			err = rcore_st_next(&iterator, found, &each, record);
	} while (!err && *found && each != key);
	return err;
}

static struct rcore_error *entry_at(struct rcore_ruby *ruby, uint64_t entry, uint64_t key,
				    uint64_t *record, bool *found)
{
	uint64_t each = 0;
	struct rcore_error *err = RCORE_GET(ruby, entry, st_entry, key, &each);
	*found = !err && each == key;
	return err || !*found ? err : RCORE_GET(ruby, entry, st_entry, record, record);
}

/*
 * In features[] of st.c, the power of the entries determines the power and the
 * size of the bins. Searches try many words that point to no table, and this
 * rejects nearly all of them.
 */
static bool is_feature(uint64_t entry_power, uint64_t bin_power, uint64_t size_ind)
{
	uint64_t wanted = entry_power < 8 ? 0 : entry_power < 16 ? 1 : entry_power < 32 ? 2 : 3;
	return bin_power <= BIN_POWER_LIMIT && bin_power == entry_power + 1 &&
	       size_ind == wanted;
}

/*
 * Returns after how many probes each bin has been tried, but at most
 * PROBE_LIMIT. Once `perturb` is 0, the index comes from a linear congruential
 * generator, whose period is the number of bins.
 */
static uint64_t probe_limit(uint64_t bin_power)
{
	uint64_t all = HASH_BITS / PERTURB_SHIFT + 1 + (UINT64_C(1) << bin_power);
	return all < PROBE_LIMIT ? all : PROBE_LIMIT;
}

struct rcore_error *rcore_st_find_number(struct rcore_ruby *ruby, uint64_t table, uint64_t key,
					 uint64_t *record, bool *found)
{
	uint64_t bins, power, entry_power, size, bound, entries;
	struct rcore_error *err = NULL;
	*found = false;
	if ((err = RCORE_GET(ruby, table, st_table, bins, &bins)))
		return err;
	if (!bins)
		return find_without_bins(ruby, table, key, record, found);
	if ((err = RCORE_GET(ruby, table, st_table, bin_power, &power)) ||
	    (err = RCORE_GET(ruby, table, st_table, entry_power, &entry_power)) ||
	    (err = RCORE_GET(ruby, table, st_table, size_ind, &size)) ||
	    (err = RCORE_GET(ruby, table, st_table, entries_bound, &bound)) ||
	    (err = RCORE_GET(ruby, table, st_table, entries, &entries)))
		return err;
	if (!is_feature(entry_power, power, size) || bound > UINT64_C(1) << entry_power)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "no st_table at 0x%" PRIx64,
					  table);
	uint64_t mask = (UINT64_C(1) << power) - 1;
	uint64_t perturb = number_hash(key), index = perturb & mask;
	uint64_t limit = probe_limit(power);
	for (uint64_t probes = 0; probes < limit; probes++) {
		uint64_t bin = 0, address = bins + (index << size);
		enum rcore_fault fault = rcore_read(ruby->memory, address, &bin, 1u << size);
		if (fault)
			return rcore_fault_error(fault, "bins of a st_table", address,
						 1u << size);
		if (bin == BIN_EMPTY)
			return NULL;
		if (bin != BIN_DELETED && bin - BIN_BASE < bound) {
			err = entry_at(ruby,
				       entries + (bin - BIN_BASE) * ruby->layout->st_entry.size,
				       key, record, found);
			if (err || *found)
				return err;
		}
		perturb >>= PERTURB_SHIFT;
		index = ((index << 2) + index + perturb + 1) & mask;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT,
				  "st_table 0x%" PRIx64 " has no empty bin in %" PRIu64, table,
				  limit);
}
