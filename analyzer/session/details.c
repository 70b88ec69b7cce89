/* SPDX-License-Identifier: MIT */
#include "session/session.h"
#include "vm/stack/exceptions.h"
#include "vm/facts.h"
#include "vm/stack/frame_values.h"
#include "vm/storage.h"
#include "vm/wait/tasks.h"

struct rcore_error *rcore_session_details(struct rcore_session *session,
					  struct rcore_ruby *ruby, uint64_t vm,
					  struct rcore_snapshot *snapshot)
{
	struct rcore_locals_options values = session->values;
	if (!values.inspect.max_text)
		values.inspect.max_text = RCORE_LOCALS_MAX_TEXT;
	struct rcore_error *err = rcore_vm_facts(ruby, vm, snapshot);
	if (!err)
		err = rcore_vm_exceptions(ruby, snapshot);
	if (!err)
		err = rcore_vm_storage(ruby, snapshot, &values.inspect);
	if (!err)
		err = rcore_vm_tasks(ruby, snapshot);
	if (!err && (values.self || values.arguments || values.locals))
		err = rcore_vm_locals(ruby, snapshot, &values);
	rcore_session_environment(session, snapshot);
	return err;
}
