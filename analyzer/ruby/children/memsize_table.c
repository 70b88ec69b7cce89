/* SPDX-License-Identifier: MIT */
/* The sizes of hash tables, and of tables by IDs. */
#include "ruby/children/memsize_private.h"

/* st_memsize() of st.c. */
uint64_t rcore_sizing_st(struct rcore_sizing *sizing, uint64_t table)
{
	uint64_t power = READ(table, st_table, entry_power), bytes = 0;
	if (!table)
		return 0;
	if (power > POWER_LIMIT) {
		sizing->failed = true;
		return 0;
	}
	if (READ(table, st_table, bins)) {
		uint64_t bin_power = READ(table, st_table, bin_power);
		uint64_t index = READ(table, st_table, size_ind);
		if (bin_power > POWER_LIMIT || index > 3)
			sizing->failed = true;
		else
			bytes = (UINT64_C(1) << bin_power) << index;
		bytes = (bytes + WORD - 1) / WORD * WORD;
	}
	return sizing->layout->st_table.size + bytes +
	       ((uint64_t)sizing->layout->st_entry.size << power);
}

uint64_t rcore_sizing_id_table(struct rcore_sizing *sizing, uint64_t table)
{
	if (!table)
		return 0;
	return sizing->layout->id_table.size +
	       rcore_sizing_bounded(sizing, READ(table, id_table, capacity),
				    sizing->layout->id_item.size);
}
