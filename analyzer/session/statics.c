/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "session/session.h"

/* Newest name first. */
static const char *const shape_tree_names[] = {"rb_shape_tree", "rb_shape_tree_ptr", NULL};
static const char *const generic_ivars_names[] = {"generic_fields_tbl_", "generic_iv_tbl_",
						  "generic_iv_tbl", NULL};

static uint64_t find(struct rcore_session *session, struct rcore_module *ruby,
		     const char *const *names)
{
	struct rcore_symbol symbol;
	for (; *names; names++)
		if (rcore_module_symbol(session->modules, ruby, *names, &symbol))
			return symbol.address;
	return 0;
}

static struct rcore_error *find_writable(struct rcore_session *session,
					 const struct rcore_module *ruby)
{
	struct {
		struct rcore_range *items;
		size_t count, capacity;
	} ranges = {0};
	uint64_t start, end;
	for (size_t i = 0; rcore_module_writable(session->modules, ruby, i, &start, &end);
	     i++) {
		struct rcore_range *range = rcore_push(&ranges);
		if (!range) {
			free(ranges.items);
			return rcore_error_no_memory();
		}
		*range = (struct rcore_range){start, end};
	}
	free((void *)session->statics.writable);
	session->statics.writable = ranges.items;
	session->statics.writable_count = ranges.count;
	return NULL;
}

struct rcore_error *rcore_session_statics(struct rcore_session *session,
					  struct rcore_module *ruby)
{
	if (session->statics.writable)
		return NULL;
	session->statics.shape_tree = find(session, ruby, shape_tree_names);
	session->statics.generic_ivars = find(session, ruby, generic_ivars_names);
	return find_writable(session, ruby);
}
