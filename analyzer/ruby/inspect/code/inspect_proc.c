/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/count.h"
#include "ruby/iseq/block.h"
#include "ruby/get.h"
#include "ruby/inspect/inspect_types.h"

/* enum fiber_status of cont.c, enum rb_thread_status of vm_core.h */
static const char *const fiber_statuses[] = {"created", "resumed", "suspended", "terminated"};
static const char *const thread_statuses[] = {"run", "sleep", "sleep_forever", "dead"};

enum { INVOKE_PROC = 1 }; /* thread_invoke_type_proc of vm_core.h */

static void write_place(struct rcore_inspect *inspect, const struct rcore_block *block)
{
	rcore_inspect_printf(
		inspect, "%c%s:%d", inspect->ruby->layout->traits.place_after_at ? '@' : ' ',
		block->iseq->path ? block->iseq->path : "?", block->iseq->first_line);
}

/* rb_block_to_s of proc.c: what follows "#<Proc:" */
static void write_block(struct rcore_inspect *inspect, uint64_t value,
			const struct rcore_block *block)
{
	if (block->type == RCORE_BLOCK_IFUNC) {
		rcore_inspect_printf(inspect, ":0x%016" PRIx64, block->code);
		return;
	}
	rcore_inspect_printf(inspect, ":0x%016" PRIx64, value);
	if (block->type == RCORE_BLOCK_ISEQ) {
		write_place(inspect, block);
		return;
	}
	rcore_inspect_puts(inspect, "(&");
	rcore_inspect_problem(inspect, rcore_inspect_symbol_value(inspect, block->code));
	rcore_inspect_puts(inspect, ")");
}

struct rcore_error *rcore_inspect_proc(struct rcore_inspect *inspect, uint64_t value,
				       uint64_t data)
{
	struct rcore_block block;
	bool is_lambda;
	struct rcore_error *err = rcore_proc_block(inspect->ruby, value, &block, &is_lambda);
	if (err)
		return err;
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	write_block(inspect, value, &block);
	rcore_inspect_puts(inspect, is_lambda ? " (lambda)>" : ">");
	return NULL;
}

/* fiber_to_s of cont.c */
struct rcore_error *rcore_inspect_fiber(struct rcore_inspect *inspect, uint64_t value,
					uint64_t data)
{
	struct rcore_ruby *ruby = inspect->ruby;
	const struct rcore_layout *layout = ruby->layout;
	uint64_t status, proc, resuming = 0, transferred = 0;
	struct rcore_block block;
	if (!data)
		return rcore_inspect_default(inspect, value, 0);
	struct rcore_error *err = RCORE_GET(ruby, data, fiber, status, &status);
	if (!err)
		err = RCORE_GET(ruby, data, fiber, first_proc, &proc);
	if (!err && rcore_has(&layout->fiber.resuming_fiber))
		err = RCORE_GET(ruby, data, fiber, resuming_fiber, &resuming);
	else if (!err && rcore_has(&layout->fiber.transferred))
		err = RCORE_GET(ruby, data, fiber, transferred, &transferred);
	/* Up to 3.0 it is a Fiber, and nil once that has yielded. */
	if (layout->traits.resuming_object && rcore_is_nil(ruby, resuming))
		resuming = 0;
	if (!err && status >= RCORE_COUNT(fiber_statuses))
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "Fiber 0x%" PRIx64 " has no status %" PRIu64, value,
					 status);
	if (err)
		return err;
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	if (rcore_is_nil(ruby, proc) || (err = rcore_proc_block(ruby, proc, &block, NULL)))
		rcore_inspect_printf(inspect, ":0x%016" PRIx64, value);
	else
		write_block(inspect, value, &block);
	rcore_inspect_printf(inspect, " (%s%s)>", fiber_statuses[status],
			     resuming      ? " by resuming"
			     : transferred ? ", transferred"
					   : "");
	return err;
}

/* rb_thread_to_s of thread.c */
struct rcore_error *rcore_inspect_thread(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t data)
{
	struct rcore_ruby *ruby = inspect->ruby;
	uint64_t status, name, to_kill, invoke_type, proc;
	struct rcore_block block = {0};
	struct rcore_error *err = RCORE_GET(ruby, data, thread, status, &status);
	if (!err)
		err = RCORE_GET(ruby, data, thread, to_kill, &to_kill);
	if (!err)
		err = RCORE_GET(ruby, data, thread, name, &name);
	if (!err)
		err = RCORE_GET(ruby, data, thread, invoke_type, &invoke_type);
	if (!err)
		err = RCORE_GET(ruby, data, thread, invoke_proc, &proc);
	if (!err && status >= RCORE_COUNT(thread_statuses))
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "Thread 0x%" PRIx64 " has no status %" PRIu64, value,
					 status);
	if (err)
		return err;
	rcore_inspect_address(inspect, value);
	if (!rcore_is_nil(ruby, name)) {
		rcore_inspect_puts(inspect, "@");
		rcore_inspect_problem(inspect, rcore_inspect_raw(inspect, name));
	}
	if (invoke_type == INVOKE_PROC)
		err = rcore_proc_block(ruby, proc, &block, NULL);
	if (block.iseq)
		write_place(inspect, &block);
	rcore_inspect_printf(inspect, " %s>",
			     !status && to_kill ? "aborting" : thread_statuses[status]);
	return err;
}
