/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_JSON_HEAP_ROUTE_H
#define RCORE_REPORT_JSON_HEAP_ROUTE_H

#include "model/heap/heap_object.h"
#include "report/json/json_writer.h"

/* Parts that several reports of heaps have. */
void rcore_json_add_object(struct rcore_json *json, struct json_object *object,
			   const struct rcore_heap_object *item);

/* Adds "path" if there is one. */
void rcore_json_add_route(struct rcore_json *json, struct json_object *object,
			  const struct rcore_heap_route *route);

/* Writes "gaps". */
void rcore_json_put_gaps(struct rcore_json *json, const struct rcore_heap_gaps *gaps);

#endif
