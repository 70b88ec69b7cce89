/* SPDX-License-Identifier: MIT */
#include "triage/triage.h"

#include "triage/blame.h"
#include "triage/signature.h"

struct rcore_error *rcore_triage(const struct rcore_process *process,
				 const struct rcore_signal_frame *original,
				 struct rcore_snapshot *snapshot)
{
	struct rcore_crash_stack stack;
	struct rcore_error *err = rcore_cause_find(process, original, snapshot);
	if (err)
		return err;
	err = rcore_crash_stack_init(snapshot, &stack);
	if (err)
		return err;
	err = rcore_blame_find(&stack, snapshot);
	if (!err)
		err = rcore_signature_find(&stack, snapshot);
	rcore_crash_stack_deinit(&stack);
	return err;
}
