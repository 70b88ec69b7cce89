/* SPDX-License-Identifier: MIT */
#include "report/heap_object.h"
#include "report/json/json_heap_route.h"
#include "report/redaction.h"
#include "report/text/style.h"

void rcore_json_add_object(struct rcore_json *json, struct json_object *object,
			   const struct rcore_heap_object *item)
{
	rcore_json_add_hex(json, object, "address", item->address);
	rcore_json_add_text(json, object, "class", item->klass);
	rcore_json_add_text(json, object, "name", item->name);
	rcore_json_add_text(json, object, "thread_name", item->thread_name);
	rcore_json_add_int(json, object, "bytes", (int64_t)item->bytes);
	rcore_json_add_count(json, object, "retained", (int64_t)item->retained);
	rcore_json_add_flag(json, object, "opaque", item->is_opaque);
}

static struct json_object *link_object(struct rcore_json *json,
				       const struct rcore_heap_link *link)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "how", link->how);
	rcore_json_add_flag(json, object, "conservative", link->is_conservative);
	rcore_json_add_object(json, object, &link->object);
	return object;
}

static struct json_object *route_object(struct rcore_json *json,
					const struct rcore_heap_route *route)
{
	struct json_object *object = rcore_json_object(json);
	struct json_object *links = json_object_new_array();
	rcore_json_add_text(json, object, "root", route->root);
	rcore_json_add_flag(json, object, "conservative", route->is_conservative);
	for (size_t i = 0; i < route->count; i++)
		rcore_json_push(json, links, link_object(json, &route->links[i]));
	rcore_json_add_count(json, object, "omitted", (int64_t)route->omitted);
	if (route->omitted)
		rcore_json_add_int(json, object, "omitted_at", (int64_t)route->omitted_at);
	rcore_json_add(json, object, "links", links);
	return object;
}

void rcore_json_add_route(struct rcore_json *json, struct json_object *object,
			  const struct rcore_heap_route *route)
{
	if (route->root)
		rcore_json_add(json, object, "path", route_object(json, route));
}

void rcore_json_put_gaps(struct rcore_json *json, const struct rcore_heap_gaps *gaps)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_count(json, object, "opaque", (int64_t)gaps->opaque);
	rcore_json_add_count(json, object, "partial", (int64_t)gaps->partial);
	rcore_json_add_count(json, object, "absent_pages", (int64_t)gaps->absent_pages);
	rcore_json_add_text(json, object, "problem", gaps->problem);
	rcore_json_put(json, "gaps", object);
}

static void begin(struct rcore_json *json, const char *schema,
		  const struct rcore_redaction *redaction)
{
	rcore_json_open(json, NULL, '{');
	rcore_json_put_text(json, "schema", schema);
	rcore_json_redaction(json, redaction);
}

static struct rcore_error *end(struct rcore_json *json)
{
	rcore_json_close(json, '}');
	putc('\n', json->out);
	return json->no_memory ? rcore_error_no_memory() : rcore_pen_error(json->out);
}

struct rcore_error *rcore_report_refs_json(const struct rcore_heap_refs *refs, FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *object = rcore_json_object(&json);
	begin(&json, "rcore-heap-refs/1", &refs->redaction);
	rcore_json_add_object(&json, object, &refs->object);
	rcore_json_put(&json, "object", object);
	if (refs->route.root)
		rcore_json_put(&json, "path", route_object(&json, &refs->route));
	rcore_json_put_number(&json, "reference_count", refs->total);
	rcore_json_open(&json, "roots", '[');
	for (size_t i = 0; i < refs->root_count; i++) {
		struct json_object *root = rcore_json_object(&json);
		rcore_json_add_text(&json, root, "root", refs->roots[i].root);
		rcore_json_add_int(&json, root, "count", (int64_t)refs->roots[i].count);
		rcore_json_put(&json, NULL, root);
	}
	rcore_json_close(&json, ']');
	if (refs->variable_count) {
		rcore_json_open(&json, "variables", '[');
		for (size_t i = 0; i < refs->variable_count; i++)
			rcore_json_put_text(&json, NULL, refs->variables[i]);
		rcore_json_close(&json, ']');
	}
	rcore_json_open(&json, "referrers", '[');
	for (size_t i = 0; i < refs->referrer_count; i++)
		rcore_json_put(&json, NULL, link_object(&json, &refs->referrers[i]));
	rcore_json_close(&json, ']');
	rcore_json_put_gaps(&json, &refs->gaps);
	return end(&json);
}

static void put_rows(struct rcore_json *json, const char *key, const char *name,
		     const struct rcore_retained_row *rows, size_t count)
{
	rcore_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++) {
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, name, rows[i].name);
		rcore_json_add_int(json, object, "count", (int64_t)rows[i].count);
		rcore_json_add_count(json, object, "bytes", (int64_t)rows[i].bytes);
		rcore_json_add_int(json, object, "retained", (int64_t)rows[i].retained);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void put_objects(struct rcore_json *json, const char *key,
			const struct rcore_retained_object *items, size_t count)
{
	rcore_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++) {
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_object(json, object, &items[i].object);
		rcore_json_add_route(json, object, &items[i].route);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

struct rcore_error *rcore_report_retained_json(const struct rcore_heap_retained *retained,
					       FILE *out)
{
	struct rcore_json json = {.out = out};
	struct json_object *totals = rcore_json_object(&json);
	begin(&json, "rcore-heap-retained/1", &retained->redaction);
	rcore_json_add_int(&json, totals, "object_count", (int64_t)retained->all.count);
	rcore_json_add_int(&json, totals, "bytes", (int64_t)retained->all.bytes);
	rcore_json_add_int(&json, totals, "reachable_objects",
			   (int64_t)retained->reachable.count);
	rcore_json_add_int(&json, totals, "reachable_bytes",
			   (int64_t)retained->reachable.bytes);
	rcore_json_put_members(&json, totals);
	put_rows(&json, "roots", "root", retained->roots, retained->root_count);
	put_rows(&json, "classes", "class", retained->classes, retained->class_count);
	put_objects(&json, "objects", retained->objects, retained->object_count);
	put_objects(&json, "holders", retained->holders, retained->holder_count);
	rcore_json_put_gaps(&json, &retained->gaps);
	return end(&json);
}
