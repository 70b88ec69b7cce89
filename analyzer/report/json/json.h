/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_JSON_H
#define RCORE_REPORT_JSON_H

/*
 * report/json/ writes the JSON that docs/json.md describes, one file per part
 * of it. It includes report/ and model/. Start here.
 */

#include "report/json/json_writer.h"
#include "report/pick.h"

/*
 * The parts of rcore_report_json() (docs/json.md says what each field means).
 */
void rcore_json_target(struct rcore_json *json, const struct rcore_snapshot *snapshot);
/* "source" and "pid": which process it was. */
void rcore_json_origin(struct rcore_json *json, const struct rcore_snapshot *snapshot);
/* "problems" of the whole process. */
void rcore_json_problems(struct rcore_json *json, const struct rcore_snapshot *snapshot);
void rcore_json_threads(struct rcore_json *json, const struct rcore_snapshot *snapshot,
			const struct rcore_pick *pick);
void rcore_json_fibers(struct rcore_json *json, const struct rcore_snapshot *snapshot,
		       const struct rcore_pick *pick);

/* "cause": nothing if no signal killed the process. */
void rcore_json_cause(struct rcore_json *json, const struct rcore_snapshot *snapshot);
/* "blame" and "signature", and "frames", from which the signature was made. */
void rcore_json_triage(struct rcore_json *json, const struct rcore_snapshot *snapshot);
void rcore_json_signature(struct rcore_json *json, const struct rcore_snapshot *snapshot);

/* "wait": what a fiber waits for; nothing for NULL. "locks" and "deadlocks". */
void rcore_json_wait(struct rcore_json *json, const struct rcore_snapshot *snapshot,
		     const struct rcore_wait *wait);
void rcore_json_locks(struct rcore_json *json, const struct rcore_snapshot *snapshot);

/*
 * "summary": which threads are blocked by what, and what the pools of threads
 * do.
 */
void rcore_json_summary(struct rcore_json *json, const struct rcore_snapshot *snapshot);

/* "native": the frames of a machine stack; nothing if there are none. */
void rcore_json_native(struct rcore_json *json, const struct rcore_native_frame *frames,
		       size_t count);
/* "tasks": those of the gem async; nothing if there are none. */
void rcore_json_tasks(struct rcore_json *json, const struct rcore_snapshot *snapshot);
/* "facts": the state of the VM as a whole. */
void rcore_json_facts(struct rcore_json *json, const struct rcore_snapshot *snapshot);
/* "exceptions": those that a fiber is handling; nothing if there are none. */
void rcore_json_exceptions(struct rcore_json *json, const struct rcore_fiber *fiber);
/* "stack": the order of a fiber's frames and native frames. */
void rcore_json_steps(struct rcore_json *json, const struct rcore_fiber *fiber);

/* Returns a fiber's context as an object of json-c. */
struct json_object *rcore_json_context(struct rcore_json *json,
				       const struct rcore_context *context);

/* Adds what a fiber works on as the array "works_on", unless it is empty. */
void rcore_json_add_works(struct rcore_json *json, struct json_object *object,
			  const struct rcore_works *works);

#endif
