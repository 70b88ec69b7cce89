/* SPDX-License-Identifier: MIT */
#include "session/decode.h"

#include "target/live/live.h"
#include "vm/facts.h"
#include "vm/load.h"
#include "vm/stack/exceptions.h"
#include "vm/stack/frame_values.h"
#include "vm/storage.h"
#include "vm/wait/tasks.h"
#include "vm/work/pools.h"
#include "vm/work/work.h"

/*
 * Reads facts about the whole process. Does nothing while a running process is
 * stopped to find the fibers that have changed. Facts rarely change, so they
 * are read after it has been resumed, also from memory that the copy lacks.
 */
static struct rcore_error *read_facts(const struct rcore_target *target,
				      const struct rcore_located *located,
				      struct rcore_ruby *ruby, struct rcore_snapshot *snapshot)
{
	if (ruby->earlier_fibers)
		return NULL;
	rcore_live_allow_late(target->live, true);
	struct rcore_error *err = rcore_vm_facts(ruby, located->location.vm, snapshot);
	if (!err)
		rcore_session_environment(target, located->identity.module, snapshot);
	rcore_live_allow_late(target->live, false);
	return err;
}

/* Reads the details of threads, fibers and frames, which are known by now. */
static struct rcore_error *read_details(struct rcore_ruby *ruby,
					const struct rcore_decode_options *options,
					struct rcore_snapshot *snapshot)
{
	struct rcore_locals_options values = options->values;
	if (!values.inspect.max_text)
		values.inspect.max_text = RCORE_LOCALS_MAX_TEXT;
	struct rcore_error *err = rcore_vm_exceptions(ruby, snapshot);
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
	struct rcore_ruby ruby;
	rcore_reader_init(&ruby, target, located, &snapshot->arena);
	ruby.hides_text = options->hides_text;
	struct rcore_error *err =
		rcore_vm_load(&ruby, located->location.vm, target->process, snapshot);
	if (!err)
		err = rcore_session_thread_locals(target, located, &ruby, snapshot);
	if (!err)
		err = read_facts(target, located, &ruby, snapshot);
	if (!err)
		err = read_details(&ruby, options, snapshot);
	if (!err)
		rcore_instructions_sample(&ruby, snapshot, &moment->instructions);
	snapshot->redaction.counts[RCORE_REDACTED_STRING] = ruby.hidden_count;
	rcore_reader_deinit(&ruby, located);
	return err;
}
