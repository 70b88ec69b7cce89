/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/condition.h"
#include "base/grow.h"
#include "base/text.h"
#include "ruby/children/page_bits.h"
#include "ruby/inspect/inspect.h"
#include "ruby/inspect/member.h"
#include "ruby/inspect/printed.h"
#include "ruby/children/graph.h"
#include "session/heap/heap.h"
#include "session/session.h"

enum { PAGE_LIMIT = 64 << 10 };

/* Frees what conditions have read after this many bytes. */
enum { TESTED_LIMIT = 4 << 20 };

/* A condition, and its result for the last value. */
struct test {
	struct rcore_condition condition;
	char *key;
	bool has_last, last_result;
	uint64_t last;
};

struct listing {
	const struct rcore_list_options *options;
	struct rcore_heap_list *list;
	struct rcore_ruby *ruby;
	struct rcore_heap heap;
	struct test *tests;
	struct rcore_arena tested; /* what was read for conditions */
	/*
	 * From keys of the census to 1 if they are of the wanted class, or 0.
	 */
	struct rcore_address_map known;
	struct rcore_page_bits bits;
	struct {
		struct rcore_heap_instance *items;
		size_t count, capacity;
	} found;
};

static struct rcore_error *is_of_class(struct listing *listing, uint64_t key, uint8_t type,
				       bool *ret)
{
	const struct rcore_census_row row = {.key = key, .type = type};
	/*
	 * Each class has a singleton class of its own. That of
	 * RubyVM::FrozenCore has no class: Init_VM() in vm.c clears it.
	 */
	if (type == RCORE_T_ICLASS ||
	    (type == RCORE_T_CLASS && rcore_is_object(listing->ruby, key)))
		key = UINT64_MAX - type;
	int known = rcore_address_map_get(&listing->known, key);
	if (known < 0) {
		const char *name =
			rcore_heap_class_name(listing->ruby, &listing->list->print.arena, &row);
		if (!name)
			return rcore_error_no_memory();
		known = strcmp(name, listing->options->klass) == 0;
		if (!rcore_address_map_put(&listing->known, key, known))
			return rcore_error_no_memory();
	}
	*ret = known == 1;
	return NULL;
}

/* A part that cannot be read meets no condition. */
static struct rcore_error *test_one(struct listing *listing, struct test *test,
				    uint64_t address, bool *ret)
{
	struct rcore_value printed = {0};
	uint64_t value;
	bool found;
	*ret = false;
	struct rcore_error *err =
		rcore_member(listing->ruby, address, test->key, &found, &value);
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	if (err || !found)
		return NULL;
	if (!test->has_last || test->last != value) {
		err = rcore_inspect(listing->ruby, value, &listing->options->inspect, &printed);
		if (err)
			return err;
		test->has_last = true;
		test->last = value;
		test->last_result = rcore_condition_is_met(&test->condition, printed.text);
	}
	*ret = test->last_result;
	return NULL;
}

static void forget_tested(struct listing *listing)
{
	rcore_ruby_forget(listing->ruby);
	rcore_arena_deinit(&listing->tested);
}

static struct rcore_error *test_all(struct listing *listing, uint64_t address, bool *ret)
{
	struct rcore_error *err = NULL;
	*ret = true;
	if (listing->tested.total > TESTED_LIMIT)
		forget_tested(listing);
	for (size_t i = 0; i < listing->options->where_count && *ret && !err; i++)
		err = test_one(listing, &listing->tests[i], address, ret);
	return err;
}

static struct rcore_error *look_at(struct listing *listing, uint32_t node, uint64_t address,
				   const unsigned char *copy, size_t size)
{
	struct rcore_heap_list *list = listing->list;
	uint64_t flags;
	bool matches = false;
	struct rcore_error *err =
		is_of_class(listing, rcore_census_key(listing->ruby, copy, size),
			    listing->heap.type[node], &matches);
	if (err || !matches)
		return err;
	list->total++;
	err = test_all(listing, address, &matches);
	if (err || !matches)
		return err;
	uint64_t bytes = rcore_heap_bytes(&listing->heap, node);
	list->count++;
	list->bytes += bytes;
	if (listing->found.count == listing->options->limit)
		return NULL;
	struct rcore_heap_instance *item = rcore_push(&listing->found);
	if (!item)
		return rcore_error_no_memory();
	memcpy(&flags, copy, sizeof(flags));
	*item = (struct rcore_heap_instance){
		.address = address,
		.bytes = bytes,
		.age = rcore_page_age(&listing->bits, address, flags),
		.is_size_unknown = listing->heap.state[node] & RCORE_HEAP_SIZE_UNKNOWN,
	};
	return NULL;
}

static struct rcore_error *
look_at_page(struct listing *listing, const struct rcore_heap_span *span, unsigned char *buffer)
{
	const size_t size = span->slot_size, bytes = (size_t)span->slot_count * size;
	struct rcore_error *err = NULL;
	if (span->is_absent || bytes > PAGE_LIMIT ||
	    rcore_read(listing->ruby->memory, span->start, buffer, bytes))
		return NULL;
	rcore_page_bits_read(&listing->bits, listing->ruby, span->heap_page);
	for (uint32_t i = 0; i < span->slot_count && !err; i++)
		if (listing->heap.type[span->first_node + i])
			err = look_at(listing, span->first_node + i, span->start + i * size,
				      buffer + i * size, size);
	return err;
}

static struct rcore_error *find_all(struct listing *listing)
{
	struct rcore_error *err = NULL;
	unsigned char *buffer = malloc(PAGE_LIMIT);
	if (!buffer)
		return rcore_error_no_memory();
	/* Its caches contain what was read before, in an arena that stays. */
	listing->ruby->arena = &listing->tested;
	for (size_t i = 0; i < listing->heap.span_count && !err; i++)
		err = look_at_page(listing, &listing->heap.spans[i], buffer);
	forget_tested(listing);
	/* What is read from now on stays for the report. */
	listing->ruby->arena = &listing->list->print.arena;
	free(buffer);
	return err;
}

static struct rcore_error *print_all(struct listing *listing)
{
	struct rcore_heap_list *list = listing->list;
	struct rcore_arena *arena = &list->print.arena;
	struct rcore_error *err = NULL;
	const size_t count = listing->found.count;
	list->items = rcore_arena_array(arena, count, sizeof(*list->items));
	list->print.items = rcore_arena_array(arena, count, sizeof(*list->print.items));
	if (!list->items || !list->print.items)
		return rcore_error_no_memory();
	listing->ruby->hidden_count = 0;
	for (size_t i = 0; i < count && !err; i++) {
		list->items[i] = listing->found.items[i];
		err = rcore_inspect(listing->ruby, list->items[i].address,
				    &listing->options->inspect, &list->print.items[i].value);
		list->print.count++;
	}
	list->print.redaction.counts[RCORE_REDACTED_STRING] = listing->ruby->hidden_count;
	return err;
}

static struct rcore_error *prepare(struct listing *listing)
{
	const struct rcore_list_options *options = listing->options;
	struct rcore_arena *arena = &listing->list->print.arena;
	listing->tests = rcore_arena_array(arena, options->where_count, sizeof(struct test));
	listing->list->klass = rcore_arena_strdup(arena, options->klass);
	if (!listing->tests || !listing->list->klass)
		return rcore_error_no_memory();
	for (size_t i = 0; i < options->where_count; i++) {
		struct test *test = &listing->tests[i];
		test->condition = rcore_condition_parse(options->where[i]);
		test->key =
			rcore_arena_strndup(arena, test->condition.key, test->condition.length);
		if (!test->key)
			return rcore_error_no_memory();
	}
	return NULL;
}

static struct rcore_error *run(struct rcore_session *session, struct rcore_ruby *ruby,
			       uint64_t vm, uint64_t objspace, void *context)
{
	struct listing *listing = context;
	(void)session;
	(void)vm;
	listing->ruby = ruby;
	struct rcore_error *err = prepare(listing);
	if (!err)
		err = rcore_graph_slots(ruby, objspace, &listing->heap);
	if (!err)
		err = find_all(listing);
	if (!err && listing->list->total)
		err = print_all(listing);
	listing->list->absent_pages = listing->heap.absent_pages;
	rcore_heap_deinit(&listing->heap);
	rcore_address_map_deinit(&listing->known);
	free(listing->found.items);
	return err;
}

static struct rcore_error *no_such_class(const char *klass)
{
	char escaped[128];
	rcore_escape(escaped, sizeof(escaped), klass);
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "the heap has no object of class '%s'; `rcore heap --limit "
				  "0` lists the classes",
				  escaped);
}

static struct rcore_error *redact(struct rcore_session *session, struct rcore_heap_list *list)
{
	struct rcore_error *err = rcore_heap_prepare(session);
	if (!err)
		err = rcore_redact_print(session->redactor, &list->print);
	if (!err)
		err = rcore_redact_text(session->redactor, &list->print.arena, RCORE_PART_NAME,
					NULL, &list->klass);
	return err;
}

struct rcore_error *rcore_heap_list(struct rcore_session *session,
				    const struct rcore_list_options *options,
				    struct rcore_heap_list **ret)
{
	struct rcore_heap_list *list = calloc(1, sizeof(*list));
	struct listing *listing = calloc(1, sizeof(*listing));
	struct rcore_error *err = NULL;
	if (list && listing) {
		listing->options = options;
		listing->list = list;
		err = rcore_session_heap(session, run, listing);
	} else {
		err = rcore_error_no_memory();
	}
	free(listing);
	if (!err && !list->total)
		err = no_such_class(options->klass);
	if (!err)
		err = redact(session, list);
	if (err)
		rcore_heap_list_free(list);
	else
		*ret = list;
	return err;
}

void rcore_heap_list_free(struct rcore_heap_list *list)
{
	if (!list)
		return;
	rcore_arena_deinit(&list->print.arena);
	free(list);
}
