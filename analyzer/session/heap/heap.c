/* SPDX-License-Identifier: MIT */
#include "session/heap/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "ruby/children/census.h"
#include "ruby/children/classless.h"
#include "ruby/children/imemo_name.h"
#include "ruby/get.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "session/layout/examine.h"
#include "session/load.h"
#include "session/live/running.h"
#include "session/pack/pack_heap.h"
#include "session/session.h"

/*
 * One field of each group that was measured together. Without them, nearly
 * nothing would be found, and counts would be too low.
 */
static struct rcore_error *check_measured(const struct rcore_layout *layout)
{
	const struct rcore_field *const fields[] = {
		&layout->string.shared,
		&layout->array.shared_root,
		&layout->classext.callable_m_tbl,
		&layout->iseq_body.catch_table,
		&layout->cref.next,
		&layout->rdata.dmark,
		&layout->heap_page.wb_unprotected_bits,
	};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < RCORE_COUNT(fields) && !err; i++)
		err = rcore_not_measured(layout, fields[i]);
	return rcore_error_wrap(err, "the heap cannot be read");
}

/*
 * Returns whether a search in a running process may have failed only because
 * the process ran.
 */
static bool may_try_again(const struct rcore_error *err)
{
	return err->code == RCORE_ERROR_FAULT || err->code == RCORE_ERROR_CORRUPT ||
	       err->code == RCORE_ERROR_LIMIT;
}

/*
 * Copies a running process, unless the search finds that it is not Ruby: such a
 * process is not stopped.
 */
static struct rcore_error *copy_running(struct rcore_session *session)
{
	struct rcore_located *located;
	if (!session->target.live)
		return NULL;
	struct rcore_error *err = rcore_session_find(session, &located);
	if (err && !may_try_again(err))
		return err;
	rcore_error_free(err);
	return rcore_running_copy(session);
}

struct rcore_error *rcore_heap_prepare(struct rcore_session *session)
{
	struct rcore_error *err = copy_running(session);
	return err ? err : rcore_session_learn_secrets(session);
}

struct rcore_error *rcore_session_heap(struct rcore_session *session, rcore_heap_use *use,
				       void *context)
{
	struct rcore_located *located;
	struct rcore_arena arena = {0};
	uint64_t objspace;
	/* Otherwise, nearly all slots of a pack would seem to be free. */
	struct rcore_error *err = rcore_pack_heap_check_target(&session->target);
	if (!err)
		err = copy_running(session);
	if (!err)
		err = rcore_target_check_files(&session->target);
	if (!err)
		err = rcore_session_find(session, &located);
	if (!err)
		err = check_measured(&located->location.layout);
	if (err)
		return rcore_target_judge(&session->target, err);
	struct rcore_ruby *ruby = malloc(sizeof(*ruby));
	if (!ruby)
		return rcore_error_no_memory();
	rcore_reader_init(ruby, &session->target, located, &arena);
	ruby->hides_text = session->settings.redact >= RCORE_REDACT_STRINGS;
	const uint64_t vm = located->location.vm;
	err = RCORE_GET(ruby, vm, vm, objspace, &objspace);
	if (!err)
		err = use(session, ruby, vm, objspace, context);
	rcore_reader_deinit(ruby, located);
	free(ruby);
	rcore_arena_deinit(&arena);
	return rcore_target_judge(&session->target, err);
}

const char *rcore_heap_internal_name(struct rcore_ruby *ruby, struct rcore_arena *arena,
				     uint64_t key)
{
	const enum rcore_type type = rcore_classless_type(key);
	const char *name = rcore_type_name(type);
	if (type == RCORE_T_ICLASS)
		return "(included module)";
	if (type == RCORE_T_IMEMO)
		return rcore_arena_printf(
			arena, "(%s)",
			rcore_imemo_name(ruby->layout, rcore_classless_imemo(key)));
	return rcore_arena_printf(arena, "(%s without a class)", name ? name : "unknown type");
}

const char *rcore_heap_class_name(struct rcore_ruby *ruby, struct rcore_arena *arena,
				  const struct rcore_census_row *row)
{
	uint64_t klass = row->key;
	const char *name;
	if (row->type == RCORE_T_ICLASS)
		return rcore_heap_internal_name(ruby, arena, row->type);
	if (!rcore_is_object(ruby, row->key))
		return rcore_heap_internal_name(ruby, arena, row->key);
	if (row->type == RCORE_T_CLASS)
		return "Class";
	/* Skips the singleton class of an object. */
	struct rcore_error *err = rcore_real_class(ruby, row->key, &klass);
	if (!err)
		err = rcore_class_path(ruby, klass, &name);
	if (!err)
		return rcore_arena_strdup(arena, name);
	rcore_error_free(err);
	return rcore_arena_printf(arena, "(unreadable class 0x%llx)",
				  (unsigned long long)row->key);
}

static int by_name(const void *a, const void *b)
{
	const struct rcore_census_class *left = a, *right = b;
	return strcmp(left->name, right->name);
}

static int by_bytes(const void *a, const void *b)
{
	const struct rcore_census_class *left = a, *right = b;
	if (left->bytes != right->bytes)
		return left->bytes < right->bytes ? 1 : -1;
	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return strcmp(left->name, right->name);
}

/*
 * Merges classes with the same name into one row. Singleton classes have the
 * name of their class, and so does a copy of a class.
 */
static void merge(struct rcore_heap_census *census)
{
	size_t kept = 0;
	if (!census->class_count)
		return;
	qsort(census->classes, census->class_count, sizeof(*census->classes), by_name);
	for (size_t i = 1; i < census->class_count; i++) {
		struct rcore_census_class *last = &census->classes[kept];
		if (strcmp(last->name, census->classes[i].name) == 0) {
			last->count += census->classes[i].count;
			last->bytes += census->classes[i].bytes;
		} else {
			census->classes[++kept] = census->classes[i];
		}
	}
	census->class_count = kept + 1;
	qsort(census->classes, census->class_count, sizeof(*census->classes), by_bytes);
}

static struct rcore_error *name_classes(struct rcore_session *session, struct rcore_ruby *ruby,
					const struct rcore_census *counted,
					struct rcore_heap_census *census)
{
	census->classes =
		rcore_arena_array(&census->arena, counted->count, sizeof(*census->classes));
	if (!census->classes)
		return rcore_error_no_memory();
	for (size_t i = 0; i < counted->count; i++) {
		struct rcore_census_class *klass = &census->classes[i];
		*klass = (struct rcore_census_class){
			.name = rcore_heap_class_name(ruby, &census->arena, &counted->items[i]),
			.count = counted->items[i].count,
			.bytes = counted->items[i].bytes,
		};
		if (!klass->name)
			return rcore_error_no_memory();
		struct rcore_error *err = rcore_redact_text(
			session->redactor, &census->arena, RCORE_PART_NAME, NULL, &klass->name);
		if (err)
			return err;
		census->objects += klass->count;
		census->bytes += klass->bytes;
	}
	census->class_count = counted->count;
	merge(census);
	return NULL;
}

static struct rcore_error *copy_pools(const struct rcore_census *counted,
				      struct rcore_heap_census *census)
{
	const struct rcore_census_pools *pools = &counted->pools;
	census->pools = rcore_arena_array(&census->arena, pools->count, sizeof(*census->pools));
	if (!census->pools)
		return rcore_error_no_memory();
	for (size_t i = 0; i < pools->count; i++)
		census->pools[i] = pools->items[i];
	census->pool_count = pools->count;
	return NULL;
}

static struct rcore_error *take(struct rcore_session *session, struct rcore_ruby *ruby,
				uint64_t vm, uint64_t objspace, void *context)
{
	struct rcore_census counted;
	struct rcore_heap_census *census = context;
	(void)vm;
	struct rcore_error *err = rcore_census(ruby, objspace, &counted);
	if (!err)
		err = name_classes(session, ruby, &counted, census);
	if (!err)
		err = copy_pools(&counted, census);
	census->unknown_sizes = counted.unknown_sizes;
	census->unswept = counted.unswept;
	census->absent_pages = counted.absent_pages;
	rcore_census_deinit(&counted);
	return err;
}

struct rcore_error *rcore_heap_census(struct rcore_session *session,
				      struct rcore_heap_census **ret)
{
	struct rcore_heap_census *census = calloc(1, sizeof(*census));
	if (!census)
		return rcore_error_no_memory();
	census->redaction.mode = session->settings.redact;
	struct rcore_error *err = rcore_session_heap(session, take, census);
	if (err)
		rcore_heap_census_free(census);
	else
		*ret = census;
	return err;
}

void rcore_heap_census_free(struct rcore_heap_census *census)
{
	if (!census)
		return;
	rcore_arena_deinit(&census->arena);
	free(census);
}
