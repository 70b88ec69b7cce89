/* SPDX-License-Identifier: MIT */
#include "report/heap_malloc.h"
#include "report/json/json_writer.h"
#include "report/text/style.h"

static void put_sum(struct rcore_json *json, const char *key, const struct rcore_chunk_sum *sum)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_int(json, object, "bytes", (int64_t)sum->bytes);
	rcore_json_add_int(json, object, "chunks", (int64_t)sum->count);
	rcore_json_put(json, key, object);
}

struct rcore_error *rcore_report_malloc_json(const struct rcore_malloc *heap, FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *facts = rcore_json_object(&json);
	rcore_json_open(&json, NULL, '{');
	rcore_json_put(&json, "schema", rcore_json_string(&json, "rcore-heap-malloc/1"));
	rcore_json_add_text(&json, facts, "allocator", heap->allocator);
	rcore_json_add_text(&json, facts, "problem", heap->problem[0] ? heap->problem : NULL);
	if (heap->is_known) {
		rcore_json_add_int(&json, facts, "arenas", (int64_t)heap->arena_count);
		rcore_json_add_int(&json, facts, "arena_bytes", (int64_t)heap->system_bytes);
	}
	rcore_json_put_members(&json, facts);
	if (heap->is_known) {
		put_sum(&json, "in_use", &heap->sums[RCORE_CHUNK_USED]);
		put_sum(&json, "mmapped", &heap->mmapped);
		put_sum(&json, "free", &heap->sums[RCORE_CHUNK_FREE]);
		put_sum(&json, "fast", &heap->sums[RCORE_CHUNK_FAST]);
		put_sum(&json, "cached", &heap->sums[RCORE_CHUNK_CACHED]);
		put_sum(&json, "top", &heap->sums[RCORE_CHUNK_TOP]);
	}
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
