/* SPDX-License-Identifier: MIT */
#include "session/session.h"
#include "vm/exceptions.h"
#include "vm/facts.h"
#include "vm/locals.h"
#include "vm/storage.h"
#include "vm/tasks.h"

struct rcore_error *rcore_session_details(struct rcore_session *session,
					  struct rcore_ruby *ruby, uint64_t vm,
					  struct rcore_snapshot *snapshot)
{
	const struct rcore_locals_options *values = &session->values;
	const struct rcore_inspect_options inspect = {values->depth, values->max_string,
						      values->max_items};
	struct rcore_error *err = rcore_vm_facts(ruby, vm, snapshot);
	if (!err)
		err = rcore_vm_exceptions(ruby, snapshot);
	if (!err)
		err = rcore_vm_storage(ruby, snapshot, &inspect);
	if (!err)
		err = rcore_vm_tasks(ruby, snapshot);
	if (!err && (values->self || values->arguments || values->locals))
		err = rcore_vm_locals(ruby, snapshot, values);
	rcore_session_environment(session, snapshot);
	return err;
}
