/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cli/profile/record_private.h"

/* Whether a list such as "3.1.2, 3.3.10" has the item. */
static bool has_item(const char *list, const char *item)
{
	size_t length = strlen(item);
	for (const char *at = list; (at = strstr(at, item)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* Adds the release of each sampler: "3.1.2, 3.3.8". */
static void add_rubies(struct rcore_record *record, struct rcore_sampling *sampling)
{
	const struct rcore_sampler *sampler;
	for (size_t i = 0; (sampler = rcore_sampling_at(sampling, i)); i++) {
		size_t used = strlen(record->rubies), room = sizeof(record->rubies) - used;
		const char *ruby = rcore_sampler_ruby(sampler);
		if (!has_item(record->rubies, ruby) && strlen(ruby) + 3 < room)
			snprintf(record->rubies + used, room, "%s%s", used ? ", " : "", ruby);
	}
}

/* With --system: how many processes were sampled, and their Rubies. */
struct rcore_error *rcore_record_state_system(struct rcore_record *record,
					      struct rcore_sampling *sampling)
{
	char text[64];
	if (record->has_facts && record->processes == record->summary.processes)
		return NULL;
	record->has_facts = true;
	record->processes = record->summary.processes;
	add_rubies(record, sampling);
	snprintf(text, sizeof(text), "%zu", record->processes);
	struct rcore_error *err = rcore_recording_writer_fact(record->writer, "system", text);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "ruby", record->rubies);
	return err;
}

/*
 * Writes the title if it has changed. After the first process has ended,
 * `sampler` may be that of a child.
 */
static struct rcore_error *state_command(struct rcore_record *record,
					 const struct rcore_sampler *sampler)
{
	const char *title = rcore_sampler_title(sampler);
	if (!title || rcore_sampler_pid(sampler) != record->pid ||
	    !strcmp(title, record->command))
		return NULL;
	snprintf(record->command, sizeof(record->command), "%s", title);
	return rcore_recording_writer_fact(record->writer, "command", title);
}

struct rcore_error *rcore_record_state_process(struct rcore_record *record,
					       struct rcore_sampling *sampling)
{
	char text[64];
	struct rcore_sampler *first = rcore_sampling_at(sampling, 0);
	if (!first)
		return NULL;
	if (record->has_facts)
		return state_command(record, first);
	record->has_facts = true;
	record->pid = rcore_sampler_pid(first);
	snprintf(text, sizeof(text), "%d", record->pid);
	struct rcore_error *err = rcore_recording_writer_fact(record->writer, "pid", text);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "ruby",
						  rcore_sampler_ruby(first));
	return err ? err : state_command(record, first);
}

/*
 * Writes how the samples were taken, if that has changed: a process may have
 * started that cannot be sampled with BPF.
 */
struct rcore_error *rcore_record_state_engine(struct rcore_record *record)
{
	const struct rcore_sampling_summary *summary = &record->summary;
	const char *engine = "process_vm_readv, without stopping";
	if (!summary->processes)
		return NULL;
	if (record->asked->off_cpu)
		engine = "BPF, in the kernel, at each switch of threads";
	else if (record->how.function_count)
		engine = "BPF, in the kernel, at each call of a function";
	else if (record->asked->events.count)
		engine = "BPF, in the kernel, at the end of each system call";
	else if (summary->copied && summary->copied == summary->processes)
		engine = RCORE_ENGINE_RUNNING;
	else if (summary->copied)
		engine = record->asked->native
				 ? "BPF, in the kernel, running threads only; for some "
				   "processes ptrace, stopped at each sample"
				 : "BPF, in the kernel, running threads only; for some "
				   "processes process_vm_readv, without stopping";
	else if (record->asked->native)
		engine = "ptrace, stopped at each sample";
	if (engine == record->engine)
		return NULL;
	record->engine = engine;
	return rcore_recording_writer_fact(record->writer, "engine", engine);
}

/* "syscalls:read,write", or "uprobe:libc.so.6:malloc,uprobe:libc.so.6:free" */
static struct rcore_error *state_calls(struct rcore_record *record)
{
	const struct rcore_strings *events = &record->asked->events;
	bool is_functions = record->how.function_count;
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	for (size_t i = 0; i < events->count; i++)
		fprintf(out, "%s%s", i ? "," : "",
			events->items[i] +
				(i && !is_functions ? strlen(RCORE_EVENT_CALLS) : 0));
	struct rcore_error *err =
		fclose(out) ? rcore_error_no_memory()
			    : rcore_recording_writer_fact(record->writer, "event", text);
	free(text);
	return err;
}

struct rcore_error *rcore_record_state_start(struct rcore_record *record)
{
	char text[64];
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
	struct rcore_error *err = rcore_recording_writer_fact(record->writer, "started", text);
	if (!err && record->asked->off_cpu)
		return rcore_recording_writer_fact(record->writer, "event",
						   RCORE_EVENT_OFF_CPU);
	if (!err && record->asked->events.count)
		return state_calls(record);
	snprintf(text, sizeof(text), "%zu",
		 rcore_record_rate(record->asked, record->is_copied));
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "rate", text);
	return err;
}

struct rcore_error *rcore_record_state_end(struct rcore_record *record)
{
	char text[64];
	const struct rcore_sampling_summary *summary = &record->summary;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)summary->total.samples);
	struct rcore_error *err = rcore_recording_writer_fact(record->writer, "samples", text);
	snprintf(text, sizeof(text), "%.6f", summary->seconds);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "duration", text);
	if (err || rcore_record_is_of_events(record->asked))
		return err;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)summary->total.rejected);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "rejected", text);
	snprintf(text, sizeof(text), "%.1f", summary->achieved);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "achieved", text);
	double queued = rcore_sampling_queued_percent(&summary->total);
	snprintf(text, sizeof(text), "%.0f", queued);
	if (!err && queued > 0)
		err = rcore_recording_writer_fact(record->writer, "queued", text);
	return err;
}
