/* SPDX-License-Identifier: MIT */
#include "report/heap.h"
#include "report/html/page.h"
#include "report/json/json_writer.h"
#include "report/redaction.h"

/*
 * A heap as a page for browsers: a summary, a map of what is retained, the
 * objects, classes and roots that retain most, with paths, and the census. All
 * of it is bounded, whatever the heap holds; the page says what is left out.
 */

/* generated from the scripts, and its "sha256-..." */
extern const char rcore_html_heap_script[], rcore_html_heap_script_hash[];

enum {
	CLASSES = 1000,
	POOLS = 64,
	TEXT_MAX = 120,
	PAGE_TEXT_MAX = 200 << 10,
	TEXT_OBJECTS = 5
};

struct writing {
	const struct rcore_census_report *report;
	const char *source;
};

static void put_text(struct rcore_json *json, const char *key, const char *text)
{
	if (text)
		rcore_json_put(json, key, rcore_json_cut(json, text, TEXT_MAX));
}

static void put_flag(struct rcore_json *json, const char *key, bool value)
{
	if (value)
		rcore_json_put(json, key, json_object_new_boolean(true));
}

static void put_address(struct rcore_json *json, uint64_t address)
{
	char text[32];
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	rcore_json_put_text(json, "address", text);
}

static void put_census(struct rcore_json *json, const struct rcore_heap_census *census)
{
	rcore_json_put_number(json, "objects", census->objects);
	rcore_json_put_number(json, "bytes", census->bytes);
	rcore_json_put_number(json, "unknown_sizes", census->unknown_sizes);
	rcore_json_put_number(json, "unswept", census->unswept);
	rcore_json_put_number(json, "absent_pages", census->absent_pages);
	rcore_json_put_number(json, "class_count", census->class_count);
	rcore_json_open(json, "classes", '[');
	for (size_t i = 0; i < census->class_count && i < CLASSES; i++) {
		rcore_json_open(json, NULL, '{');
		put_text(json, "name", census->classes[i].name);
		rcore_json_put_number(json, "count", census->classes[i].count);
		rcore_json_put_number(json, "bytes", census->classes[i].bytes);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
	rcore_json_open(json, "pools", '[');
	for (size_t i = 0; i < census->pool_count && i < POOLS; i++) {
		rcore_json_open(json, NULL, '{');
		rcore_json_put_number(json, "slot_size", census->pools[i].slot_size);
		rcore_json_put_number(json, "pages", census->pools[i].pages);
		rcore_json_put_number(json, "slots", census->pools[i].slots);
		rcore_json_put_number(json, "free", census->pools[i].free);
		rcore_json_put_number(json, "sparse_pages", census->pools[i].sparse_pages);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
}

static void put_c_memory(struct rcore_json *json, const struct rcore_malloc *heap)
{
	if (!heap || !heap->is_known)
		return;
	rcore_json_open(json, "c_memory", '{');
	rcore_json_put_number(json, "bytes", heap->sums[RCORE_CHUNK_USED].bytes);
	rcore_json_put_number(json, "free_bytes", rcore_malloc_free_bytes(heap));
	rcore_json_close(json, '}');
}

static void put_object(struct rcore_json *json, const struct rcore_heap_object *object)
{
	put_address(json, object->address);
	put_text(json, "class", object->klass);
	put_text(json, "name", object->name);
	put_text(json, "thread_name", object->thread_name);
	rcore_json_put_number(json, "bytes", object->bytes);
	if (object->retained)
		rcore_json_put_number(json, "retained", object->retained);
	put_flag(json, "opaque", object->is_opaque);
}

static void put_route(struct rcore_json *json, const struct rcore_heap_route *route)
{
	if (!route->root)
		return;
	put_text(json, "root", route->root);
	put_flag(json, "conservative", route->is_conservative);
	if (route->omitted) {
		rcore_json_put_number(json, "omitted", route->omitted);
		rcore_json_put_number(json, "omitted_at", route->omitted_at);
	}
	rcore_json_open(json, "links", '[');
	for (size_t i = 0; i < route->count; i++) {
		rcore_json_open(json, NULL, '{');
		put_text(json, "how", route->links[i].how);
		put_flag(json, "conservative", route->links[i].is_conservative);
		put_object(json, &route->links[i].object);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
}

static void put_objects(struct rcore_json *json, const char *key,
			const struct rcore_retained_object *items, size_t count)
{
	rcore_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++) {
		rcore_json_open(json, NULL, '{');
		put_object(json, &items[i].object);
		put_route(json, &items[i].route);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
}

static void put_rows(struct rcore_json *json, const char *key,
		     const struct rcore_retained_row *rows, size_t count)
{
	rcore_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++) {
		rcore_json_open(json, NULL, '{');
		put_text(json, "name", rows[i].name);
		rcore_json_put_number(json, "count", rows[i].count);
		rcore_json_put_number(json, "bytes", rows[i].bytes);
		rcore_json_put_number(json, "retained", rows[i].retained);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
}

static void put_nodes(struct rcore_json *json, const struct rcore_heap_retained *retained)
{
	rcore_json_put_number(json, "nodes_left_out", retained->nodes_left_out);
	rcore_json_open(json, "nodes", '[');
	for (size_t i = 0; i < retained->node_count; i++) {
		const struct rcore_retained_node *node = &retained->nodes[i];
		rcore_json_open(json, NULL, '{');
		rcore_json_put_number(json, "above", node->above);
		put_text(json, "title", node->title);
		put_flag(json, "is_root", node->is_root);
		rcore_json_put_number(json, "count", node->count);
		rcore_json_put_number(json, "bytes", node->bytes);
		rcore_json_put_number(json, "retained", node->retained);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
}

static void put_retained(struct rcore_json *json, const struct rcore_heap_retained *retained)
{
	rcore_json_open(json, "reachable", '{');
	rcore_json_put_number(json, "count", retained->reachable.count);
	rcore_json_put_number(json, "bytes", retained->reachable.bytes);
	rcore_json_close(json, '}');
	put_objects(json, "largest", retained->objects, retained->object_count);
	put_objects(json, "parts", retained->holders, retained->holder_count);
	rcore_json_put_number(json, "all_classes", retained->all_classes);
	put_rows(json, "retaining_classes", retained->classes, retained->class_count);
	rcore_json_put_number(json, "all_roots", retained->all_roots);
	put_rows(json, "roots", retained->roots, retained->root_count);
	put_nodes(json, retained);
	rcore_json_put_number(json, "opaque", retained->gaps.opaque);
	rcore_json_put_number(json, "partial", retained->gaps.partial);
	put_text(json, "gap", retained->gaps.problem);
}

static struct rcore_error *write_data(const void *context, FILE *out)
{
	const struct writing *writing = context;
	const struct rcore_census_report *report = writing->report;
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	put_text(&json, "source", writing->source);
	rcore_json_redaction(&json, report->retained ? &report->retained->redaction
						     : &report->census->redaction);
	put_text(&json, "retained_problem", report->problem);
	put_census(&json, report->census);
	put_c_memory(&json, report->c_memory);
	if (report->retained)
		put_retained(&json, report->retained);
	rcore_json_close(&json, '}');
	return json.no_memory ? rcore_error_no_memory() : NULL;
}

static struct rcore_error *write_text(const void *context, FILE *out)
{
	const struct writing *writing = context;
	const struct rcore_report_options plain = {0};
	struct rcore_census_report report = *writing->report;
	struct rcore_heap_retained few;
	if (report.retained && report.retained->object_count > TEXT_OBJECTS) {
		few = *report.retained;
		few.object_count = TEXT_OBJECTS;
		report.retained = &few;
	}
	return rcore_report_census_text(&report, &plain, out);
}

struct rcore_error *rcore_report_census_html(const struct rcore_census_report *report,
					     const char *source, FILE *out)
{
	const struct writing writing = {report, source};
	const struct rcore_html_page page = {
		.title = source ? source : "heap",
		.script = rcore_html_heap_script,
		.script_hash = rcore_html_heap_script_hash,
		.write_text = write_text,
		.write_data = write_data,
		.context = &writing,
		.text_max = PAGE_TEXT_MAX,
	};
	return rcore_html_page_write(&page, out);
}
