/* SPDX-License-Identifier: MIT */
#include "session/decode.h"

#include "vm/facts.h"
#include "vm/load.h"
#include "vm/stack/exceptions.h"
#include "vm/stack/frame_values.h"
#include "vm/storage.h"
#include "vm/wait/tasks.h"
#include "vm/work/pools.h"
#include "vm/work/work.h"

/*
 * Returns whether the process stands still, and the snapshot shows only which
 * fibers there are. What concerns the process as a whole is read from the copy,
 * after the stop.
 */
static bool is_brief(const struct rcore_ruby *ruby)
{
	return ruby->earlier_fibers != NULL;
}

/* Reads the details of threads, fibers and frames, which are known by now. */
static struct rcore_error *read_details(struct rcore_ruby *ruby, uint64_t vm,
					const struct rcore_decode_options *options,
					struct rcore_snapshot *snapshot)
{
	struct rcore_locals_options values = options->values;
	if (!values.inspect.max_text)
		values.inspect.max_text = RCORE_LOCALS_MAX_TEXT;
	struct rcore_error *err = is_brief(ruby) ? NULL : rcore_vm_facts(ruby, vm, snapshot);
	if (!err)
		err = rcore_vm_exceptions(ruby, snapshot);
	if (!err)
		err = rcore_vm_storage(ruby, snapshot, &values.inspect);
	if (!err)
		err = rcore_vm_tasks(ruby, snapshot);
	if (!err)
		err = rcore_vm_pools(ruby, snapshot);
	if (!err)
		err = rcore_vm_work(ruby, options->recognizers, &values.inspect, snapshot);
	if (!err && (values.self || values.arguments || values.locals))
		err = rcore_vm_locals(ruby, snapshot, &values);
	return err;
}

struct rcore_error *rcore_session_decode(const struct rcore_target *target,
					 struct rcore_located *located,
					 const struct rcore_decode_options *options,
					 struct rcore_moment *moment)
{
	struct rcore_snapshot *snapshot = moment->snapshot;
	uint64_t vm = located->location.vm;
	struct rcore_ruby ruby;
	rcore_reader_init(&ruby, target, located, &snapshot->arena);
	ruby.hides_text = options->hides_text;
	struct rcore_error *err = rcore_vm_load(&ruby, vm, target->process, snapshot);
	if (!err)
		err = rcore_session_thread_locals(target, &ruby, snapshot);
	if (!err)
		err = read_details(&ruby, vm, options, snapshot);
	if (!err) {
		if (!is_brief(&ruby))
			rcore_session_environment(target, located->identity.module, snapshot);
		rcore_instructions_sample(&ruby, snapshot, &moment->instructions);
	}
	snapshot->redaction.counts[RCORE_REDACTED_STRING] = ruby.hidden_count;
	rcore_reader_deinit(&ruby, located);
	return err;
}
