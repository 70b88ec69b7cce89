/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "sampler/code_private.h"
#include "target/live/live.h"

enum {
	/* Verifications after which the decoders are created anew. */
	OBJECT_ROUNDS = 10,
	TOGETHER = 32, /* entries that are read in one system call */
};

/* Entries, and what their objects are now. */
struct batch {
	struct rcore_code *codes[TOGETHER];
	size_t count;
	struct rcore_live_range ranges[TOGETHER * RCORE_CODE_PARTS];
	struct rcore_code_part parts[TOGETHER * RCORE_CODE_PARTS];
};

/* Returns whether an entry was dropped. */
static bool check(struct rcore_codes *codes, struct rcore_live *live, struct batch *batch)
{
	size_t firsts[TOGETHER + 1], used = 0;
	bool has_changed = false;
	for (size_t i = 0; i < batch->count; i++) {
		firsts[i] = used;
		used += rcore_code_ranges(codes->layout, batch->codes[i], &batch->parts[used],
					  &batch->ranges[used]);
	}
	firsts[batch->count] = used;
	rcore_live_read(live, batch->ranges, used);
	for (size_t i = 0; i < batch->count; i++) {
		struct rcore_code_identity now;
		struct rcore_copies copies;
		rcore_copies_init(&copies, codes->memory);
		copies.others = &batch->ranges[firsts[i]];
		copies.other_count = firsts[i + 1] - firsts[i];
		rcore_code_identify(codes->layout, &copies.memory, batch->codes[i], &now);
		if (!memcmp(&now, &batch->codes[i]->identity, sizeof(now)))
			continue;
		has_changed = true;
		codes->changed++;
		rcore_codes_drop(codes, batch->codes[i]);
	}
	batch->count = 0;
	return has_changed;
}

void rcore_codes_verify(struct rcore_codes *codes, struct rcore_live *live)
{
	struct batch batch;
	bool has_changed = false;
	batch.count = 0;
	/* The words there may lead elsewhere now. */
	rcore_codes_forget_places(codes);
	for (struct rcore_code *code = codes->entries, *next; code; code = next) {
		next = code->hh.next;
		if (!code->is_used)
			continue;
		code->is_used = false;
		codes->verified++;
		batch.codes[batch.count++] = code;
		if (batch.count == TOGETHER)
			has_changed |= check(codes, live, &batch);
	}
	has_changed |= check(codes, live, &batch);
	rcore_statics_search_again(&codes->ruby.statics);
	/* Classes get names, and texts of objects use memory. */
	if (has_changed || ++codes->rounds % OBJECT_ROUNDS == 0)
		rcore_codes_forget_objects(codes);
}
