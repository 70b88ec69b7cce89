/* SPDX-License-Identifier: MIT */
/*
 * Hashes, Sets, and their tables. Each has as many entries as its counter says.
 */
#include "proof/check.h"
#include "ruby/object/hash.h"

enum {
	/* fewer do not show where they are, and how far apart */
	ENTRIES_TO_TELL = 4,
	ST_TABLE_FLAG = 1 << (RCORE_FL_USHIFT + 3), /* RHASH_ST_TABLE_FLAG */
};

/*
 * Every pair consists of VALUEs, and their number is the counter's. Unused
 * memory is zero; hardly any key is false.
 */
static enum rcore_verdict pairs_count(const struct rcore_samples *s, uint64_t hash,
				      bool is_wanted_st, bool is_any)
{
	struct rcore_hash_iterator pairs;
	uint64_t key, value, count = 0;
	bool found = true;
	rcore_auto_error err = rcore_hash_begin(&pairs, s->ruby, hash);
	if (rcore_sample_failed(s, err))
		return err->code == RCORE_ERROR_LIMIT ? RCORE_SILENT : RCORE_FAILS;
	if ((!is_any && pairs.is_st != is_wanted_st) || !pairs.count ||
	    pairs.count > ENTRY_LIMIT || (pairs.is_st && pairs.count < ENTRIES_TO_TELL))
		return RCORE_SILENT;
	while (!(err = rcore_hash_next(&pairs, &found, &key, &value)) && found) {
		if (!key || !is_value(s, key) || !is_value(s, value))
			return RCORE_FAILS;
		count++;
	}
	return verdict_of(!rcore_sample_failed(s, err) && count == pairs.count);
}

CHECK(hash_pairs)
{
	return pairs_count(s, base, false, true);
}

CHECK(hash_small)
{
	return pairs_count(s, base, false, false);
}

CHECK(hash_large)
{
	return pairs_count(s, base, true, false);
}

/*
 * Tables of up to 16 entries have no bins. Others have twice as many bins as
 * places, each as wide as an index needs (struct st_features of st.c).
 */
CHECK(hash_bins)
{
	enum { WITHOUT_BINS = 4 };
	const struct rcore_layout *layout = layout_of(s);
	uint64_t flags, table, power, bin_power, width, bins;
	if (!get(s, base, &layout->basic.flags, &flags) || !(flags & ST_TABLE_FLAG))
		return RCORE_SILENT;
	table = base + layout->hash.size;
	if ((rcore_has(&layout->hash.table) && !get(s, base, &layout->hash.table, &table)) ||
	    !get(s, table, &layout->st_table.entry_power, &power) ||
	    !get(s, table, &layout->st_table.bin_power, &bin_power) ||
	    !get(s, table, &layout->st_table.size_ind, &width) ||
	    !get(s, table, &layout->st_table.bins, &bins))
		return RCORE_FAILS;
	unsigned expected = power < 8 ? 0 : power < 16 ? 1 : power < 32 ? 2 : 3;
	return verdict_of(bin_power == power + 1 && width == expected &&
			  (power <= WITHOUT_BINS ? !bins : readable(s, bins)));
}

/* A Set of 4.0. */
CHECK(set_table)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t start, bound, entries, expected, count = 0;
	if (!get(s, base, &layout->set_table.num_entries, &expected) ||
	    !get(s, base, &layout->set_table.entries_start, &start) ||
	    !get(s, base, &layout->set_table.entries_bound, &bound) ||
	    !get(s, base, &layout->set_table.entries, &entries) || start > bound)
		return RCORE_FAILS;
	if (bound - start > ENTRY_LIMIT || start == bound)
		return RCORE_SILENT;
	for (; start < bound; start++) {
		uint64_t hash, key, entry = entries + start * layout->set_entry.size;
		if (!get(s, entry, &layout->set_entry.hash, &hash) ||
		    !get(s, entry, &layout->set_entry.key, &key))
			return RCORE_FAILS;
		if (hash == UINT64_MAX)
			continue;
		if (!key || !is_value(s, key))
			return RCORE_FAILS;
		count++;
	}
	return verdict_of(count == expected);
}
