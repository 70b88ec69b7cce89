/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "ruby/print.h"
#include "session/session.h"

/* Finds the VM where nobody has looked for it yet. */
static struct rcore_error *locate(struct rcore_session *session)
{
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure = NULL;
	if (session->location)
		return NULL;
	struct rcore_error *err = rcore_examine(session, &snapshot, &failure);
	if (err)
		return err;
	rcore_snapshot_free(snapshot);
	return failure;
}

static struct rcore_error *print_all(struct rcore_session *session, const uint64_t *values,
				     const struct rcore_inspect_options *options,
				     struct rcore_print *print)
{
	struct rcore_location *location = session->location;
	struct rcore_ruby ruby;
	struct rcore_error *err = NULL;
	rcore_ruby_init(&ruby, session->memory, &location->layout, &print->arena);
	rcore_ruby_set_vm(&ruby, location->vm);
	ruby.global_symbols = location->global_symbols;
	ruby.statics = session->statics;
	for (size_t i = 0; i < print->count && !err; i++)
		err = rcore_print_value(&ruby, values[i], options, &print->items[i]);
	session->statics = ruby.statics;
	rcore_ruby_deinit(&ruby);
	return err;
}

/* A running process stands still meanwhile. */
static struct rcore_error *print_live(struct rcore_session *session, const uint64_t *values,
				      const struct rcore_inspect_options *options,
				      struct rcore_print *print)
{
	struct rcore_live_pause pause;
	struct rcore_error *err = rcore_live_begin(session->live, !session->no_stop);
	if (err)
		return err;
	err = print_all(session, values, options, print);
	rcore_live_end(session->live, &pause);
	return err;
}

struct rcore_error *rcore_print(struct rcore_session *session, const uint64_t *values,
				size_t count, const struct rcore_inspect_options *options,
				struct rcore_print **ret)
{
	struct rcore_error *err = locate(session);
	if (err)
		return err;
	struct rcore_print *print = calloc(1, sizeof(*print));
	if (!print)
		return rcore_error_no_memory();
	print->items = rcore_arena_alloc(&print->arena, (count + 1) * sizeof(*print->items));
	print->count = count;
	err = !print->items   ? rcore_error_no_memory()
	      : session->live ? print_live(session, values, options, print)
			      : print_all(session, values, options, print);
	if (err)
		rcore_print_free(print);
	else
		*ret = print;
	return err;
}

void rcore_print_free(struct rcore_print *print)
{
	if (!print)
		return;
	rcore_arena_deinit(&print->arena);
	free(print);
}
