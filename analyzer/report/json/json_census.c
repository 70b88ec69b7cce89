/* SPDX-License-Identifier: MIT */
#include "report/heap.h"
#include "report/json/json_heap_route.h"
#include "report/json/json_writer.h"
#include "report/redaction.h"
#include "report/text/style.h"

static void put_pool(struct rcore_json *json, const struct rcore_census_pool *pool)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_int(json, object, "slot_size", pool->slot_size);
	rcore_json_add_int(json, object, "pages", (int64_t)pool->pages);
	rcore_json_add_int(json, object, "slots", (int64_t)pool->slots);
	rcore_json_add_int(json, object, "free", (int64_t)pool->free);
	rcore_json_add_int(json, object, "sparse_pages", (int64_t)pool->sparse_pages);
	rcore_json_put(json, NULL, object);
}

static void put_class(struct rcore_json *json, const struct rcore_census_class *klass)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "class", klass->name);
	rcore_json_add_int(json, object, "count", (int64_t)klass->count);
	rcore_json_add_int(json, object, "bytes", (int64_t)klass->bytes);
	rcore_json_put(json, NULL, object);
}

static void put_c_memory(struct rcore_json *json, const struct rcore_malloc *heap)
{
	const struct rcore_chunk_sum *used = &heap->sums[RCORE_CHUNK_USED];
	struct json_object *object = rcore_json_object(json);
	if (heap->is_known) {
		rcore_json_add_int(json, object, "bytes", (int64_t)used->bytes);
		rcore_json_add_int(json, object, "chunks", (int64_t)used->count);
		rcore_json_add_int(json, object, "free_bytes",
				   (int64_t)rcore_malloc_free_bytes(heap));
	}
	rcore_json_put(json, "c_memory", object);
}

static void put_retained(struct rcore_json *json, const struct rcore_heap_retained *retained)
{
	rcore_json_open(json, "retained", '[');
	for (size_t i = 0; i < retained->object_count; i++) {
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_object(json, object, &retained->objects[i].object);
		rcore_json_add_text(json, object, "root", retained->objects[i].route.root);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

struct rcore_error *rcore_report_census_json(const struct rcore_census_report *report,
					     FILE *out)
{
	struct rcore_json json = {.out = out};
	const struct rcore_heap_census *census = report->census;
	const size_t limit = report->limit;
	size_t shown = limit && limit < census->class_count ? limit : census->class_count;
	struct json_object *totals = rcore_json_object(&json);
	rcore_json_open(&json, NULL, '{');
	rcore_json_put_text(&json, "schema", "rcore-heap/1");
	rcore_json_redaction(&json, report->retained ? &report->retained->redaction
						     : &census->redaction);
	rcore_json_add_int(&json, totals, "objects", (int64_t)census->objects);
	rcore_json_add_int(&json, totals, "bytes", (int64_t)census->bytes);
	rcore_json_add_int(&json, totals, "class_count", (int64_t)census->class_count);
	rcore_json_add_count(&json, totals, "unknown_sizes", (int64_t)census->unknown_sizes);
	rcore_json_add_count(&json, totals, "unswept", (int64_t)census->unswept);
	rcore_json_add_count(&json, totals, "absent_pages", (int64_t)census->absent_pages);
	rcore_json_add_text(&json, totals, "retained_problem", report->problem);
	rcore_json_put_members(&json, totals);
	rcore_json_open(&json, "classes", '[');
	for (size_t i = 0; i < shown; i++)
		put_class(&json, &census->classes[i]);
	rcore_json_close(&json, ']');
	rcore_json_open(&json, "pools", '[');
	for (size_t i = 0; i < census->pool_count; i++)
		put_pool(&json, &census->pools[i]);
	rcore_json_close(&json, ']');
	if (report->c_memory)
		put_c_memory(&json, report->c_memory);
	if (report->retained)
		put_retained(&json, report->retained);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
