/* SPDX-License-Identifier: MIT */
#include "report/heap_malloc.h"
#include "report/json/json_heap_route.h"
#include "report/redaction.h"
#include "report/text/style.h"

static void put_sum(struct rcore_json *json, const char *key, const struct rcore_chunk_sum *sum)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_int(json, object, "bytes", (int64_t)sum->bytes);
	rcore_json_add_int(json, object, "chunks", (int64_t)sum->count);
	rcore_json_put(json, key, object);
}

static void put_owners(struct rcore_json *json, const struct rcore_c_memory *owners)
{
	static const char *const kinds[RCORE_C_OWNER_KINDS] = {
		[RCORE_C_OWNER_CLASS] = "class",
		[RCORE_C_OWNER_DATA] = "static data",
		[RCORE_C_OWNER_PAGES] = "GC pages",
		[RCORE_C_OWNER_STACKS] = "machine stacks",
		[RCORE_C_OWNER_MAPPINGS] = "other memory",
		[RCORE_C_OWNER_NONE] = "none",
	};
	rcore_json_put_number(json, "owned_bytes", owners->owned_bytes);
	rcore_json_open(json, "owners", '[');
	for (size_t i = 0; i < owners->row_count; i++) {
		const struct rcore_c_owner_row *row = &owners->rows[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "kind", kinds[row->kind]);
		rcore_json_add_text(json, object, "name", *row->name ? row->name : NULL);
		rcore_json_add_count(json, object, "objects", (int64_t)row->objects);
		rcore_json_add_int(json, object, "chunks", (int64_t)row->chunks);
		rcore_json_add_int(json, object, "bytes", (int64_t)row->bytes);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
	rcore_json_open(json, "objects", '[');
	for (size_t i = 0; i < owners->object_count; i++) {
		const struct rcore_c_owner_object *item = &owners->objects[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_object(json, object, &item->object);
		rcore_json_add_int(json, object, "c_chunks", (int64_t)item->chunks);
		rcore_json_add_int(json, object, "c_bytes", (int64_t)item->bytes);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
	rcore_json_put_gaps(json, &owners->gaps);
}

struct rcore_error *rcore_report_malloc_json(const struct rcore_malloc_report *report,
					     FILE *out)
{
	struct rcore_json json = {.out = out};
	const struct rcore_malloc *heap = report->heap;
	struct json_object *facts = rcore_json_object(&json);
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-heap-malloc/1");
	rcore_json_add_text(&json, facts, "allocator", heap->allocator);
	if (report->owners)
		rcore_json_redaction(&json, &report->owners->redaction);
	rcore_json_add_text(&json, facts, "problem", heap->problem[0] ? heap->problem : NULL);
	rcore_json_add_text(&json, facts, "owners_problem", report->problem);
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
	if (report->owners)
		put_owners(&json, report->owners);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
