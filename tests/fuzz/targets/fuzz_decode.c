/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/helper.h"
#include "report/report.h"
#include "session/layout/trial.h"
#include "session/session.h"
#include "target.h"
#include "target/core/core.h"

/*
 * The whole analysis, over the memory of a pack (of Debian's Rubies: PACKS) of which the words that the
 * analysis reads are changed. The first byte says which pack and what to ask for, then come records of
 * RECORD bytes: which of these words, how, and a number.
 *
 * The packs lack most pages of the heap, so the search for a layout tries all of them, and shifts fields. This takes
 * nearly all of the time. With KNOWS, the analysis knows the layout, as that of a running process does after its first
 * look.
 */
#ifndef PACKS
#define PACKS "tests/fuzz/corpus/packs/"
#endif

static const char *const paths[] = {PACKS "2.7.core.zst", PACKS "3.1.core.zst",
				    PACKS "3.3.core.zst", PACKS "3.4.core.zst"};
enum { PACK_COUNT = RCORE_COUNT(paths), RECORD = 12, RECORD_LIMIT = 32 };

/* Of the first byte. */
enum { KNOWS = 0x10, REDACTS_SECRETS = 0x20, REDACTS_STRINGS = 0x40 };

enum change { SET, FLIP, ADD, COPY, POINT, LOSE, CHANGE_COUNT };

struct patch {
	uint64_t address, value;
	bool is_lost;
};

struct words {
	uint64_t *items;
	size_t count, capacity;
};

struct pack {
	struct rcore_core *core;
	struct rcore_location location; /* by the analysis without changes */
	struct words words;             /* that an analysis reads, by address */
};

struct patched {
	struct rcore_memory memory;
	struct rcore_memory *below;
	struct words *recorded; /* NULL: nothing is recorded */
	struct patch patches[RECORD_LIMIT];
	size_t count;
};

static struct pack packs[PACK_COUNT];

/*
 * base/helper.c, without its process: to start one and to wait for its end takes longer than the rest. It would
 * find nothing, because the files of the pack's modules are not here.
 */
struct rcore_helper {
	void *context;
};

struct rcore_helper *rcore_helper_new(void *context, bool (*lacked_memory)(void))
{
	static struct rcore_helper helper;
	helper.context = context;
	return &helper;
}

void rcore_helper_free(struct rcore_helper *helper)
{
}

bool rcore_helper_call(struct rcore_helper *helper, rcore_helper_function *function,
		       const void *request, size_t size, void *reply, size_t *ret_size)
{
	return false;
}

const char *rcore_helper_problem(const struct rcore_helper *helper)
{
	return NULL;
}

void rcore_helper_retry(struct rcore_helper *helper)
{
}

bool rcore_helper_lacks_memory(const struct rcore_helper *helper)
{
	return false;
}

static enum rcore_fault read_patched(struct rcore_memory *base, uint64_t address, void *buffer,
				     size_t size)
{
	struct patched *memory = (struct patched *)base;
	enum rcore_fault fault = rcore_read(memory->below, address, buffer, size);
	if (fault)
		return fault;
	for (uint64_t at = address & ~UINT64_C(7); memory->recorded && at < address + size;
	     at += 8) {
		uint64_t *word = rcore_push(memory->recorded);
		if (!word)
			abort();
		*word = at;
	}
	for (size_t i = 0; i < memory->count; i++) {
		const struct patch *patch = &memory->patches[i];
		for (size_t byte = 0; byte < sizeof(patch->value); byte++) {
			uint64_t place = patch->address + byte - address;
			if (place >= size)
				continue;
			if (patch->is_lost)
				return RCORE_FAULT_NOT_SAVED;
			((uint8_t *)buffer)[place] = (uint8_t)(patch->value >> 8 * byte);
		}
	}
	return RCORE_FAULT_NONE;
}

static void report(const struct rcore_snapshot *snapshot)
{
	const struct rcore_report_options all = {.all = true, .verbose = true};
	FILE *out = fopen("/dev/null", "we");
	if (!out)
		abort();
	rcore_error_free(rcore_report_text(snapshot, &all, out));
	rcore_error_free(rcore_report_json(snapshot, NULL, out));
	rcore_error_free(rcore_report_explain(snapshot, NULL, out));
	fclose(out);
}

/*
 * Returns whether fibers were found. `known` is where the VM is and its layout, or NULL; the place that was used goes
 * to *ret, unless that is NULL.
 */
static bool analyze(const struct pack *pack, struct rcore_memory *memory, uint8_t asked,
		    const struct rcore_location *known, struct rcore_location *ret)
{
	struct rcore_trial trial = {.method = RCORE_VM_BY_SEARCH};
	struct rcore_choice choice = {.trial = &trial};
	const struct rcore_options options = {
		.sysroot =
			"/nonexistent", /* the pack has all; this machine's files are not to matter */
		.redact = asked & REDACTS_STRINGS   ? RCORE_REDACT_STRINGS
			  : asked & REDACTS_SECRETS ? RCORE_REDACT_SECRETS
						    : RCORE_REDACT_NONE,
		.choice = known ? &choice : NULL,
		.values = {.self = true, .arguments = true, .locals = true},
	};
	struct rcore_session *session;
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure = NULL;
	bool is_found = false;
	struct rcore_error *err =
		rcore_session_open(rcore_core_process(pack->core), memory, &options, &session);
	if (err) {
		rcore_error_free(err);
		return false;
	}
	if (known) {
		trial.location = *known;
		session->is_proved = true;
	}
	err = rcore_load_partial(session, &snapshot, &failure);
	if (ret)
		*ret = session->located.location;
	if (!err) {
		is_found = !failure && snapshot->fiber_count;
		report(snapshot);
		rcore_snapshot_free(snapshot);
	}
	rcore_error_free(err);
	rcore_error_free(failure);
	rcore_close(session);
	return is_found;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a < *b ? -1 : *a > *b;
}

static struct pack *open_pack(size_t index)
{
	struct pack *pack = &packs[index];
	if (pack->core)
		return pack;
	struct rcore_error *err = rcore_core_open(paths[index], &pack->core);
	if (err) {
		fprintf(stderr, "%s (started elsewhere than at the top?)\n", err->message);
		exit(2);
	}
	struct patched memory = {.memory.read = read_patched,
				 .below = rcore_core_memory(pack->core),
				 .recorded = &pack->words};
	if (!analyze(pack, &memory.memory, 0, NULL, &pack->location)) {
		fprintf(stderr, "%s: nothing is found without changes\n", paths[index]);
		exit(2);
	}
	size_t kept = 0;
	qsort(pack->words.items, pack->words.count, sizeof(*pack->words.items), compare);
	for (size_t i = 0; i < pack->words.count; i++)
		if (!kept || pack->words.items[kept - 1] != pack->words.items[i])
			pack->words.items[kept++] = pack->words.items[i];
	pack->words.count = kept;
	return pack;
}

static uint64_t number_at(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;
	memcpy(&number, bytes, size);
	return number;
}

static void take_record(struct patched *memory, const struct pack *pack, const uint8_t *record)
{
	struct patch *patch = &memory->patches[memory->count];
	uint64_t old, other, number = number_at(record + 4, 8);
	patch->address = pack->words.items[number_at(record, 3) % pack->words.count];
	uint64_t elsewhere = pack->words.items[number % pack->words.count];
	if (rcore_read_u64(memory->below, patch->address, &old))
		return;
	if (rcore_read_u64(memory->below, elsewhere, &other))
		other = 0;
	const uint64_t changed[CHANGE_COUNT] = {
		[SET] = number,
		[FLIP] = old ^ UINT64_C(1) << number % 64,
		[ADD] = old + (uint64_t)(int16_t)number,
		[COPY] = other,
		[POINT] = elsewhere + (number >> 56),
	};
	enum change change = (enum change)(record[3] % CHANGE_COUNT);
	patch->value = changed[change];
	patch->is_lost = change == LOSE;
	memory->count++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (!size)
		return 0;
	struct pack *pack = open_pack(bytes[0] % PACK_COUNT);
	struct patched memory = {.memory.read = read_patched,
				 .below = rcore_core_memory(pack->core)};
	for (size_t at = 1; at + RECORD <= size && memory.count < RECORD_LIMIT; at += RECORD)
		take_record(&memory, pack, bytes + at);
	analyze(pack, &memory.memory, bytes[0], bytes[0] & KNOWS ? &pack->location : NULL,
		NULL);
	return 0;
}

/* libFuzzer's own changes of a record, and between them whole records: new, gone, or of another word near it. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room, unsigned seed);

#ifdef FUZZ_MUTATOR
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t room, unsigned seed)
{
	size_t count = size ? (size - 1) / RECORD : 0;
	unsigned choice = seed % 8, which = count ? seed / 8 % (unsigned)count : 0;
	uint8_t *record = bytes + 1 + which * RECORD;
	if (!size)
		bytes[0] = (uint8_t)seed;
	size = 1 + count * RECORD;
	if (choice < 3 && count < RECORD_LIMIT && size + RECORD <= room) {
		record = bytes + size;
		for (int i = 0; i < RECORD; i++, seed = seed * 1103515245 + 12345)
			record[i] = (uint8_t)(seed >> 16);
		return size + RECORD;
	}
	if (choice == 3 && count > 1) {
		memmove(record, record + RECORD, size - 1 - (which + 1) * RECORD);
		return size - RECORD;
	}
	if (choice == 4 && count)
		record[0] = (uint8_t)(record[0] + 1 - seed / 64 % 3);
	else if (choice == 5)
		bytes[0] = (uint8_t)(seed >> 8);
	else if (count)
		LLVMFuzzerMutate(record, RECORD, RECORD);
	return size;
}
#endif
