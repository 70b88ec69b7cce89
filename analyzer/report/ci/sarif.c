/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/text.h"
#include "base/version.h"
#include "report/ci/finding.h"
#include "report/formats.h"
#include "report/json/json_writer.h"
#include "report/ci/markup.h"
#include "report/text/style.h"

/*
 * SARIF 2.1.0 (OASIS): one run, with a rule and a result for the crash, or for
 * threads that are blocked.
 */

static struct json_object *message(struct rcore_json *json, const char *text)
{
	struct json_object *object = rcore_json_object(json);
	char *escaped = NULL;
	size_t size = 0;
	FILE *stream = rcore_open_text(&escaped, &size);
	if (stream) {
		rcore_markup_sarif(stream, text);
		fclose(stream);
	}
	if (!escaped)
		json->no_memory = true;
	rcore_json_add_text(json, object, "text", escaped);
	free(escaped);
	return object;
}

static struct json_object *location_of(struct rcore_json *json,
				       const struct rcore_finding_place *place)
{
	struct json_object *location = rcore_json_object(json);
	struct json_object *physical = rcore_json_object(json);
	struct json_object *artifact = rcore_json_object(json);
	struct json_object *region = rcore_json_object(json);
	char *uri = NULL;
	size_t size = 0;
	FILE *stream = rcore_open_text(&uri, &size);
	if (stream) {
		rcore_markup_uri(stream, place->path);
		fclose(stream);
	}
	if (!uri)
		json->no_memory = true;
	rcore_json_add_text(json, artifact, "uri", uri);
	rcore_json_add_text(json, artifact, "uriBaseId", "%SRCROOT%");
	rcore_json_add_int(json, region, "startLine", place->line);
	rcore_json_add(json, physical, "artifactLocation", artifact);
	rcore_json_add(json, physical, "region", region);
	rcore_json_add(json, location, "physicalLocation", physical);
	if (place->label)
		rcore_json_add(json, location, "message", message(json, place->label));
	free(uri);
	return location;
}

static struct json_object *array(struct rcore_json *json)
{
	struct json_object *object = json_object_new_array();
	if (!object)
		json->no_memory = true;
	return object;
}

static void append(struct rcore_json *json, struct json_object *list, struct json_object *value)
{
	if (!list || json_object_array_add(list, value)) {
		json->no_memory = true;
		json_object_put(value);
	}
}

static struct json_object *stack_of(struct rcore_json *json,
				    const struct rcore_finding *finding)
{
	struct json_object *stack = rcore_json_object(json), *frames = array(json);
	for (size_t i = 0; i < finding->place_count; i++) {
		struct json_object *frame = rcore_json_object(json);
		rcore_json_add(json, frame, "location", location_of(json, &finding->places[i]));
		append(json, frames, frame);
	}
	char text[128];
	snprintf(text, sizeof(text), "The application's frames on the stack of %s",
		 finding->event);
	rcore_json_add(json, stack, "message", message(json, text));
	rcore_json_add(json, stack, "frames", frames);
	return stack;
}

static void put_result(struct rcore_json *json, const struct rcore_finding *finding,
		       const struct rcore_snapshot *snapshot)
{
	struct json_object *result = rcore_json_object(json);
	struct json_object *locations = array(json);
	struct json_object *fingerprints = rcore_json_object(json);
	rcore_json_add_text(json, result, "ruleId", finding->kind);
	rcore_json_add_text(json, result, "level", finding->level);
	rcore_json_add(json, result, "message", message(json, finding->message));
	if (finding->place_count)
		append(json, locations, location_of(json, &finding->places[0]));
	rcore_json_add(json, result, "locations", locations);
	if (finding->place_count) {
		struct json_object *stacks = array(json);
		append(json, stacks, stack_of(json, finding));
		rcore_json_add(json, result, "stacks", stacks);
	}
	if (finding->is_crash) {
		const struct rcore_signature *signature = &snapshot->signature;
		rcore_json_add_text(json, fingerprints, "rcoreStrict/v1", signature->strict);
		rcore_json_add_text(json, fingerprints, "rcoreLoose/v1", signature->loose);
	} else {
		rcore_json_add_text(json, fingerprints, "rcoreHang/v1", finding->fingerprint);
	}
	rcore_json_add(json, result, "partialFingerprints", fingerprints);
	rcore_json_put(json, NULL, result);
}

static void put_tool(struct rcore_json *json, const struct rcore_finding *finding)
{
	struct json_object *tool = rcore_json_object(json);
	struct json_object *driver = rcore_json_object(json);
	struct json_object *rules = array(json);
	rcore_json_add_text(json, driver, "name", "rcore");
	rcore_json_add_text(json, driver, "version", RCORE_VERSION);
	if (finding->present) {
		struct json_object *rule = rcore_json_object(json);
		rcore_json_add_text(json, rule, "id", finding->kind);
		rcore_json_add(json, rule, "shortDescription", message(json, finding->about));
		append(json, rules, rule);
	}
	rcore_json_add(json, driver, "rules", rules);
	rcore_json_add(json, tool, "driver", driver);
	rcore_json_put(json, "tool", tool);
}

struct rcore_error *rcore_report_sarif(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out)
{
	struct rcore_arena arena = {0};
	struct rcore_finding finding;
	struct rcore_json json = {.out = out};
	struct rcore_error *err = rcore_finding_make(
		snapshot, options ? options->source_root : NULL, &arena, &finding);
	if (!err) {
		rcore_json_open(&json, NULL, '{');
		rcore_json_put(&json, "$schema",
			       rcore_json_string(
				       &json, "https://docs.oasis-open.org/sarif/sarif/v2.1.0/"
					      "errata01/os/schemas/sarif-schema-2.1.0.json"));
		rcore_json_put_text(&json, "version", "2.1.0");
		rcore_json_open(&json, "runs", '[');
		rcore_json_open(&json, NULL, '{');
		put_tool(&json, &finding);
		rcore_json_open(&json, "results", '[');
		if (finding.present)
			put_result(&json, &finding, snapshot);
		rcore_json_close(&json, ']');
		rcore_json_close(&json, '}');
		rcore_json_close(&json, ']');
		rcore_json_close(&json, '}');
		putc('\n', out);
		err = json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
	}
	rcore_arena_deinit(&arena);
	return err;
}
