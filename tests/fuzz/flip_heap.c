/* SPDX-License-Identifier: MIT */
#include "flip_heap.h"

#include <stdio.h>
#include <stdlib.h>

#include "flip_guard.h"
#include "report/heap.h"
#include "session/heap/c_memory.h"
#include "session/heap/heap.h"
#include "session/heap/heap_doctor.h"
#include "session/heap/heap_export.h"
#include "session/heap/heap_graph.h"
#include "session/heap/heap_strings.h"
#include "session/heap/heap_verify.h"
#include "session/heap/malloc.h"

enum { LISTED = 10, NODES = 200 };

static const char *check_dump(struct rcore_session *session)
{
	struct rcore_heap_dumped dumped;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	rcore_error_free(rcore_heap_dump(session, out, &dumped));
	fclose(out);
	const char *fault = flip_check_text(text);
	free(text);
	return fault;
}

static const char *check_snapshot(struct rcore_session *session)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	bool is_partial;
	rcore_error_free(rcore_heap_export_snapshot(session, out, &is_partial));
	fclose(out);
	const char *fault = flip_check_text(text);
	free(text);
	return fault;
}

static const char *check_page(const struct rcore_heap_census *census,
			      const struct rcore_heap_retained *retained)
{
	const struct rcore_census_report report = {.census = census, .retained = retained};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		abort();
	if (census)
		rcore_error_free(rcore_report_census_html(&report, "core", out));
	fclose(out);
	const char *fault = flip_check_text(text);
	free(text);
	return fault;
}

/* Who refers to some object, and the C memory of all. */
static void read_more(struct rcore_session *session, const struct rcore_heap_retained *retained)
{
	struct rcore_heap_refs *refs = NULL;
	struct rcore_c_memory *memory = NULL;
	struct rcore_malloc chunks;
	if (retained && retained->object_count) {
		const struct rcore_refs_options options = {
			.address = retained->objects[0].object.address, .limit = LISTED};
		rcore_error_free(rcore_heap_refs(session, &options, &refs));
	}
	struct rcore_error *err = rcore_session_malloc(&session->target, &chunks);
	if (!err) {
		rcore_error_free(rcore_c_memory(session, &chunks, LISTED, &memory));
		rcore_malloc_deinit(&chunks);
	}
	rcore_error_free(err);
	rcore_heap_refs_free(refs);
	rcore_c_memory_free(memory);
}

const char *flip_heap(struct rcore_core *core, struct flip_memory *memory,
		      const struct rcore_options *options)
{
	struct rcore_session *session;
	struct rcore_error *err = rcore_session_open(rcore_core_process(core), &memory->memory,
						     options, &session);
	if (err) {
		rcore_error_free(err);
		return NULL;
	}
	struct rcore_heap_census *census = NULL;
	struct rcore_heap_retained *retained = NULL;
	struct rcore_heap_verified *verified = NULL;
	struct rcore_heap_doctor *doctor = NULL;
	struct rcore_heap_strings *strings = NULL;
	rcore_error_free(rcore_heap_census(session, &census));
	rcore_error_free(rcore_heap_retained_tree(session, LISTED, NODES, &retained));
	rcore_error_free(rcore_heap_verify(session, LISTED, &verified));
	rcore_error_free(rcore_heap_doctor(session, false, &doctor));
	rcore_error_free(rcore_heap_strings(session, LISTED, &strings));
	read_more(session, retained);
	const char *fault = check_page(census, retained);
	rcore_heap_census_free(census);
	rcore_heap_retained_free(retained);
	rcore_heap_verified_free(verified);
	rcore_heap_doctor_free(doctor);
	rcore_heap_strings_free(strings);
	if (!fault)
		fault = check_dump(session);
	if (!fault)
		fault = check_snapshot(session);
	rcore_close(session);
	return fault;
}
