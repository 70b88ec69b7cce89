/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "rcore.h"
#include "target.h"
#include "target/core/core.h"

/* A core file, compressed or not: its headers, its notes, and memory at the edges of its segments. */

static void read_edges(struct rcore_memory *memory, const struct rcore_segment *segment)
{
	const uint64_t places[] = {
		segment->start - 8, segment->start, segment->start + segment->saved - 8,
		segment->start + segment->saved, segment->start + segment->size - 8};
	uint64_t word;
	for (size_t i = 0; i < RCORE_COUNT(places); i++)
		rcore_read_u64(memory, places[i], &word);
}

static void examine(const char *path)
{
	const struct rcore_options options = {.size = sizeof(options), .no_native = true};
	struct rcore_session *session;
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure = NULL;
	struct rcore_error *err = rcore_open_core(path, &options, &session);
	if (err) {
		rcore_error_free(err);
		return;
	}
	err = rcore_load_partial(session, &snapshot, &failure);
	if (!err)
		rcore_snapshot_free(snapshot);
	rcore_error_free(err);
	rcore_error_free(failure);
	rcore_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_file file;
	struct rcore_core *core;
	struct rcore_segment segment;
	fuzz_file_open(&file, bytes, size);
	struct rcore_error *err = rcore_core_open(file.path, &core);
	if (!err) {
		for (size_t i = 0; rcore_core_segment(core, i, &segment); i++)
			read_edges(rcore_core_memory(core), &segment);
		rcore_core_close(core);
		examine(file.path);
	}
	rcore_error_free(err);
	fuzz_file_close(&file);
	return 0;
}
