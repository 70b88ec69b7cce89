/* SPDX-License-Identifier: MIT */
#include "report/json/json_writer.h"
#include "report/profile/measures.h"
#include "report/profile/processes.h"
#include "report/profile/profile_report.h"
#include "report/text/style.h"

/*
 * Writes all totals for programs, as docs/profile.md describes. Functions,
 * nodes, processes and threads are in arrays; references are indices.
 */

static void add_text(struct rcore_json *json, struct json_object *object, const char *key,
		     const struct rcore_profile *profile, uint32_t string)
{
	if (string)
		rcore_json_add_text(json, object, key, rcore_profile_text(profile, string));
}

static void add_amounts(struct rcore_json *json, struct json_object *object,
			enum rcore_side side, const struct rcore_amounts *amounts)
{
	static const char *const names[RCORE_SIDES][3] = {
		[RCORE_SIDE_NEW] = {"samples", "wall", "cpu"},
		[RCORE_SIDE_OLD] = {"old_samples", "old_wall", "old_cpu"},
	};
	rcore_json_add_int(json, object, names[side][0], (int64_t)amounts->count);
	rcore_json_add_int(json, object, names[side][1], (int64_t)amounts->wall);
	rcore_json_add_int(json, object, names[side][2], (int64_t)amounts->cpu);
}

static void add_sides(struct rcore_json *json, struct json_object *object,
		      const struct rcore_profile_report *report,
		      const struct rcore_amounts *sides)
{
	add_amounts(json, object, RCORE_SIDE_NEW, &sides[RCORE_SIDE_NEW]);
	if (report->is_diff)
		add_amounts(json, object, RCORE_SIDE_OLD, &sides[RCORE_SIDE_OLD]);
}

static void put_facts(struct rcore_json *json, const char *key,
		      const struct rcore_recording_facts *facts)
{
	struct json_object *object = rcore_json_object(json);
	for (size_t i = 0; i < facts->count; i++)
		rcore_json_add_text(json, object, facts->items[i].key, facts->items[i].value);
	rcore_json_put(json, key, object);
}

static void put_head(struct rcore_json *json, const struct rcore_profile_report *report)
{
	const struct rcore_totals *totals = report->totals;
	struct json_object *sums = rcore_json_object(json);
	rcore_json_put_text(json, "format", "rcore-profile-1");
	/* `wall` of system calls is how many bytes they moved. */
	rcore_json_put_text(json, "unit",
			    rcore_measure_words[report->measure].is_time ? "nanoseconds"
									 : "bytes");
	put_facts(json, "facts", report->facts[RCORE_SIDE_NEW]);
	if (report->is_diff)
		put_facts(json, "old_facts", report->facts[RCORE_SIDE_OLD]);
	rcore_json_open(json, "notes", '[');
	for (size_t i = 0; i < report->note_count; i++)
		rcore_json_put_text(json, NULL, report->notes[i]);
	rcore_json_close(json, ']');
	rcore_json_add_int(json, sums, "duration", (int64_t)totals->durations[RCORE_SIDE_NEW]);
	if (report->is_diff)
		rcore_json_add_int(json, sums, "old_duration",
				   (int64_t)totals->durations[RCORE_SIDE_OLD]);
	add_sides(json, sums, report, totals->sums);
	rcore_json_put(json, "sums", sums);
}

static void put_functions(struct rcore_json *json, const struct rcore_profile *profile)
{
	rcore_json_open(json, "functions", '[');
	for (uint32_t i = 0; i < profile->functions.count; i++) {
		const struct rcore_profile_function *function =
			rcore_profile_function_at(profile, i);
		struct json_object *object = rcore_json_object(json);
		rcore_json_add(
			json, object, "kind",
			rcore_json_string(json, rcore_function_kind_name(function->kind)));
		add_text(json, object, "label", profile, function->label);
		add_text(json, object, "path", profile, function->path);
		rcore_json_add_count(json, object, "line", function->first_line);
		rcore_json_add_hex(json, object, "address", function->address);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void put_nodes(struct rcore_json *json, const struct rcore_profile *profile)
{
	rcore_json_open(json, "nodes", '[');
	for (uint32_t i = 0; i < profile->nodes.count; i++) {
		const struct rcore_profile_node *node = rcore_profile_node_at(profile, i);
		const struct rcore_profile_frame *frame =
			rcore_profile_frame_at(profile, node->frame);
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_int(json, object, "parent", node->parent);
		rcore_json_add_int(json, object, "function", frame->function);
		rcore_json_add_count(json, object, "line", frame->line);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void add_process(struct rcore_json *json, struct json_object *object,
			const struct rcore_profile_report *report, uint32_t process)
{
	struct rcore_amounts amounts[RCORE_SIDES];
	static const char *const names[RCORE_SIDES][2] = {
		[RCORE_SIDE_NEW] = {"gvl", "ended"},
		[RCORE_SIDE_OLD] = {"old_gvl", "old_ended"},
	};
	for (int side = 0; side < RCORE_SIDES; side++)
		amounts[side] = rcore_totals_process(report->totals, process, side).amounts;
	add_sides(json, object, report, amounts);
	for (int side = 0; side < (report->is_diff ? RCORE_SIDES : 1); side++) {
		struct rcore_process_total total =
			rcore_totals_process(report->totals, process, side);
		rcore_json_add_count(json, object, names[side][0], (int64_t)total.gvl);
		rcore_json_add_count(json, object, names[side][1], (int64_t)total.ended);
	}
}

static void put_processes(struct rcore_json *json, const struct rcore_profile_report *report)
{
	const struct rcore_profile *profile = report->totals->profile;
	rcore_json_open(json, "processes", '[');
	for (uint32_t i = 0; i < profile->processes.count; i++) {
		const struct rcore_profile_process *process =
			rcore_profile_process_at(profile, i);
		struct json_object *object = rcore_json_object(json);
		char role[RCORE_PROCESS_ROLE_SIZE];
		rcore_json_add_count(json, object, "pid", process->pid);
		rcore_json_add_count(json, object, "use", process->use > 1 ? process->use : 0);
		add_text(json, object, "title", profile, rcore_profile_title(profile, i));
		if (rcore_process_role_of(profile, i, role)[0])
			rcore_json_add(json, object, "role", rcore_json_string(json, role));
		add_process(json, object, report, i);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void put_threads(struct rcore_json *json, const struct rcore_profile *profile)
{
	rcore_json_open(json, "threads", '[');
	for (uint32_t i = 0; i < profile->threads.count; i++) {
		const struct rcore_profile_thread *thread = rcore_profile_thread_at(profile, i);
		struct json_object *object = rcore_json_object(json);
		add_text(json, object, "id", profile, thread->id);
		add_text(json, object, "name", profile, thread->name);
		rcore_json_add_count(json, object, "pid", thread->pid);
		rcore_json_add_count(json, object, "process", thread->process);
		add_text(json, object, "title", profile,
			 rcore_profile_title(profile, thread->process));
		rcore_json_add_count(json, object, "tid", thread->tid);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void add_state(struct rcore_json *json, struct json_object *object,
		      const struct rcore_profile *profile, uint32_t number)
{
	const struct rcore_profile_state *state = rcore_profile_state_at(profile, number);
	rcore_json_add(json, object, "state",
		       rcore_json_string(json, rcore_sample_state_name(state->kind)));
	add_text(json, object, "wait", profile, state->wait);
	add_text(json, object, "detail", profile, state->detail);
}

static void add_labels(struct rcore_json *json, struct json_object *object,
		       const struct rcore_profile *profile, uint32_t set)
{
	size_t count;
	const struct rcore_profile_label *labels =
		rcore_profile_label_set(profile, set, &count);
	struct json_object *pairs = count ? rcore_json_object(json) : NULL;
	for (size_t i = 0; i < count; i++)
		rcore_json_add(
			json, pairs, rcore_profile_text(profile, labels[i].key),
			rcore_json_string(json, rcore_profile_text(profile, labels[i].value)));
	if (pairs)
		rcore_json_add(json, object, "labels", pairs);
}

static void put_totals(struct rcore_json *json, const struct rcore_profile_report *report)
{
	const struct rcore_totals *totals = report->totals;
	const struct rcore_profile *profile = totals->profile;
	rcore_json_open(json, "totals", '[');
	for (size_t i = 0; i < totals->keys.count; i++) {
		const struct rcore_total_key *key = rcore_totals_key(totals, i);
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_int(json, object, "node", key->node);
		rcore_json_add_count(json, object, "thread", key->thread);
		add_text(json, object, "fiber", profile,
			 rcore_profile_fiber_at(profile, key->fiber)->id);
		add_state(json, object, profile, key->state);
		add_labels(json, object, profile, key->labels);
		const struct rcore_amounts sides[] = {
			rcore_totals_amounts(totals, i, RCORE_SIDE_NEW),
			rcore_totals_amounts(totals, i, RCORE_SIDE_OLD),
		};
		add_sides(json, object, report, sides);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

struct rcore_error *rcore_profile_json(const struct rcore_profile_report *report, FILE *out)
{
	struct rcore_json json = {.out = out};
	rcore_json_open(&json, NULL, '{');
	put_head(&json, report);
	put_functions(&json, report->totals->profile);
	put_nodes(&json, report->totals->profile);
	put_processes(&json, report);
	put_threads(&json, report->totals->profile);
	put_totals(&json, report);
	rcore_json_close(&json, '}');
	putc('\n', out);
	return json.no_memory ? rcore_error_no_memory() : rcore_pen_error(out);
}
