/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "profile/totals.h"
#include "report/profile/measures.h"
#include "report/profile/page/page.h"

/*
 * The states of threads: the time in each, and over time. The time of a
 * recording is divided into bins. A sample is drawn from its time on, for what
 * it represents; the samples of parked fibers are only summed up, because they
 * wait at the same time as their thread works.
 */

struct row {
	uint32_t thread;
	uint64_t states[RCORE_SAMPLE_STATES];
	uint64_t samples;
	/* By bin and state; NULL unless its states are drawn. */
	uint64_t (*bins)[RCORE_SAMPLE_STATES];
};

struct rows {
	const struct rcore_totals *totals;
	enum rcore_measure measure;
	struct row *items; /* by thread, then the busiest first */
	uint32_t *place;   /* by thread, once they are in order */
	size_t count, used;
	uint64_t end; /* of the last sample */
};

static uint32_t state_of(const struct rcore_totals *totals, const struct rcore_total_key *key)
{
	uint32_t kind = rcore_profile_state_at(totals->profile, key->state)->kind;
	return kind < RCORE_SAMPLE_STATES ? kind : RCORE_SAMPLE_UNKNOWN;
}

static uint64_t busy(const struct row *row)
{
	return row->states[RCORE_SAMPLE_RUNNING] + row->states[RCORE_SAMPLE_GC];
}

static uint64_t whole(const struct row *row)
{
	uint64_t sum = 0;
	for (int state = 0; state < RCORE_SAMPLE_STATES; state++)
		sum += row->states[state];
	return sum;
}

/*
 * Those with samples, of these those that worked most, and then those with most
 * time in all.
 */
static int compare(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	uint64_t m = busy(a), n = busy(b);
	if (!a->samples != !b->samples)
		return !a->samples - !b->samples;
	if (m == n) {
		m = whole(a);
		n = whole(b);
	}
	if (m != n)
		return (m < n) - (m > n);
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void add_up(struct rows *rows)
{
	const struct rcore_totals *totals = rows->totals;
	for (size_t i = 0; i < totals->keys.count; i++) {
		const struct rcore_total_key *key = rcore_totals_key(totals, i);
		struct rcore_amounts amounts = rcore_totals_amounts(totals, i, RCORE_SIDE_NEW);
		struct row *row = &rows->items[key->thread];
		row->states[state_of(totals, key)] += rcore_measured(amounts, rows->measure);
		row->samples += amounts.count;
	}
	for (uint32_t i = 0; i < rows->count; i++)
		rows->items[i].thread = i;
	qsort(rows->items, rows->count, sizeof(*rows->items), compare);
	for (uint32_t i = 0; i < rows->count; i++) {
		rows->place[rows->items[i].thread] = i;
		if (rows->items[i].samples)
			rows->used = i + 1;
	}
}

/* Divides an amount between the bins from `begin` to `end`. */
static void divide(uint64_t (*bins)[RCORE_SAMPLE_STATES], uint32_t state, double begin,
		   double end, uint64_t amount)
{
	double length = end - begin;
	for (size_t bin = (size_t)begin; bin < RCORE_PAGE_BINS && (double)bin < end; bin++) {
		double from = begin > (double)bin ? begin : (double)bin;
		double to = end < (double)bin + 1 ? end : (double)bin + 1;
		bins[bin][state] += (uint64_t)((double)amount * (to - from) / length);
	}
}

static void draw(struct rows *rows)
{
	const struct rcore_timeline *timeline = &rows->totals->timelines[RCORE_SIDE_NEW];
	for (size_t i = 0; i < timeline->count; i++) {
		const struct rcore_timed *timed = &timeline->items[i];
		if (timed->time + timed->wall > rows->end)
			rows->end = timed->time + timed->wall;
	}
	for (size_t i = 0; i < timeline->count && rows->end; i++) {
		const struct rcore_timed *timed = &timeline->items[i];
		const struct rcore_total_key *key = rcore_totals_key(rows->totals, timed->key);
		uint32_t state = state_of(rows->totals, key);
		struct row *row = &rows->items[rows->place[key->thread]];
		double scale = (double)RCORE_PAGE_BINS / (double)rows->end;
		if (!row->bins || state == RCORE_SAMPLE_PARKED || !timed->wall)
			continue;
		divide(row->bins, state, (double)timed->time * scale,
		       (double)(timed->time + timed->wall) * scale,
		       rows->measure == RCORE_MEASURE_CPU ? timed->cpu : timed->wall);
	}
}

/* Of each state, [bin, amount, bin, amount, ...] of those that have any. */
static void put_bins(struct rcore_page_writer *writer, const struct row *row)
{
	FILE *out = writer->json.out;
	rcore_json_start(&writer->json, "bins");
	for (int state = 0; state < RCORE_SAMPLE_STATES; state++) {
		const char *comma = "";
		fputs(state ? ",[" : "[[", out);
		for (int bin = 0; bin < RCORE_PAGE_BINS; bin++) {
			if (!row->bins[bin][state])
				continue;
			fprintf(out, "%s%d,%" PRIu64, comma, bin, row->bins[bin][state]);
			comma = ",";
		}
		putc(']', out);
	}
	putc(']', out);
}

static void put_states(struct rcore_page_writer *writer, const uint64_t *states)
{
	rcore_json_start(&writer->json, "states");
	for (int state = 0; state < RCORE_SAMPLE_STATES; state++)
		fprintf(writer->json.out, "%s%" PRIu64, state ? "," : "[", states[state]);
	putc(']', writer->json.out);
}

static void put_text(struct rcore_page_writer *writer, const char *key, uint32_t string)
{
	const char *text = rcore_profile_text(writer->report->totals->profile, string);
	if (text[0])
		rcore_json_put(&writer->json, key, rcore_page_text(writer, text));
}

static void put_row(struct rcore_page_writer *writer, const struct row *row)
{
	const struct rcore_profile_thread *thread =
		rcore_profile_thread_at(writer->report->totals->profile, row->thread);
	struct rcore_json *json = &writer->json;
	rcore_json_open(json, NULL, '{');
	put_text(writer, "id", thread->id);
	put_text(writer, "name", thread->name);
	rcore_json_put(json, "pid", json_object_new_int64(thread->pid));
	put_text(writer, "title",
		 rcore_profile_title(writer->report->totals->profile, thread->process));
	rcore_json_put(json, "tid", json_object_new_int64(thread->tid));
	rcore_json_put_number(json, "samples", row->samples);
	put_states(writer, row->states);
	if (row->bins)
		put_bins(writer, row);
	rcore_json_close(json, '}');
}

static void put_rows(struct rcore_page_writer *writer, const struct rows *rows)
{
	struct rcore_json *json = &writer->json;
	uint64_t states[RCORE_SAMPLE_STATES] = {0};
	for (size_t i = 0; i < rows->used; i++)
		for (int state = 0; state < RCORE_SAMPLE_STATES; state++)
			states[state] += rows->items[i].states[state];
	rcore_json_open(json, "state_names", '[');
	for (uint32_t state = 0; state < RCORE_SAMPLE_STATES; state++)
		rcore_json_put_text(json, NULL, rcore_sample_state_name(state));
	rcore_json_close(json, ']');
	put_states(writer, states);
	rcore_json_put(json, "bin_count", json_object_new_int64(RCORE_PAGE_BINS));
	rcore_json_put_number(json, "end", rows->end);
	rcore_json_put_number(json, "thread_count", rows->used);
	rcore_json_open(json, "threads", '[');
	for (size_t i = 0; i < rows->used && i < RCORE_PAGE_THREADS; i++)
		put_row(writer, &rows->items[i]);
	rcore_json_close(json, ']');
}

static bool rows_init(struct rows *rows, const struct rcore_profile_report *report)
{
	*rows = (struct rows){
		.totals = report->totals,
		.measure = report->measure,
		.count = report->totals->profile->threads.count,
	};
	rows->items = rcore_calloc(rows->count, sizeof(*rows->items));
	rows->place = rcore_calloc(rows->count, sizeof(*rows->place));
	return rows->items && rows->place;
}

struct rcore_error *rcore_page_put_threads(struct rcore_page_writer *writer)
{
	struct rows rows;
	bool has_memory = rows_init(&rows, writer->report);
	bool is_time = rcore_measure_words[writer->report->measure].is_time;
	if (has_memory)
		add_up(&rows);
	for (size_t i = 0; is_time && has_memory && i < rows.used && i < RCORE_PAGE_THREADS;
	     i++) {
		rows.items[i].bins = rcore_calloc(RCORE_PAGE_BINS, sizeof(*rows.items[i].bins));
		has_memory = rows.items[i].bins;
	}
	if (has_memory) {
		if (is_time)
			draw(&rows);
		put_rows(writer, &rows);
	}
	for (size_t i = 0; rows.items && i < rows.count; i++)
		free(rows.items[i].bins);
	free(rows.items);
	free(rows.place);
	return has_memory ? NULL : rcore_error_no_memory();
}
