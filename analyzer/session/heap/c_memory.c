/* SPDX-License-Identifier: MIT */
#include "session/heap/c_memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "malloc/owners.h"
#include "ruby/children/slot_words.h"
#include "ruby/object/value.h"
#include "session/heap/c_roots.h"
#include "session/heap/heap_graph.h"
#include "session/heap/malloc.h"
#include "session/session.h"

/* Owners are nodes of the heap, then these, then modules. */
enum { PAGES, STACKS, MAPPINGS, MODULES };

struct searching {
	const struct rcore_target *target;
	const struct rcore_malloc *malloc;
	size_t limit;
	struct rcore_c_memory *memory;
	struct rcore_heap_namer *namer;
	struct rcore_chunk_owners owners;
	uint32_t first; /* the owner PAGES */
	/* By owner: its chunks and their bytes. */
	struct rcore_chunk_sum *sums;
	size_t owner_count;
	/* What is not "other memory", and what else may refer to chunks. */
	struct rcore_c_ranges known, stacks, mappings;
	struct rcore_malloc_parts parts;
};

/*
 * Up to 3.0, or with large pages of the system, malloc() allocated the pages.
 */
static void take_pages(struct searching *searching)
{
	const struct rcore_heap *heap = searching->namer->heap;
	for (size_t i = 0; i < heap->span_count; i++)
		rcore_chunk_owners_take(&searching->owners, heap->spans[i].start,
					searching->first + PAGES);
}

/*
 * Gives an object what its members point to. The other words of its slot are
 * left over from earlier objects, whose memory may belong to others now.
 */
static void give_slot(struct searching *searching, const struct rcore_heap_span *span,
		      uint32_t slot, uint32_t node)
{
	const struct rcore_layout *layout = searching->namer->ruby->layout;
	uint64_t start = span->start + (uint64_t)slot * span->slot_size, flags;
	struct rcore_slot_words words;
	if (rcore_read_u64(searching->target->memory, start, &flags))
		return;
	rcore_slot_words(layout, flags, span->slot_size, &words);
	if (words.leads_on)
		rcore_chunk_owners_give_range(&searching->owners, start + words.start,
					      start + words.end, node);
	else
		rcore_chunk_owners_give_last(&searching->owners, start + words.start,
					     start + words.end, node);
}

static void give_slots(struct searching *searching)
{
	const struct rcore_heap *heap = searching->namer->heap;
	for (size_t i = 0; i < heap->span_count; i++) {
		const struct rcore_heap_span *span = &heap->spans[i];
		for (uint32_t slot = 0; slot < span->slot_count && !span->is_absent; slot++) {
			uint32_t node = span->first_node + slot;
			if (heap->type[node] != RCORE_T_NONE)
				give_slot(searching, span, slot, node);
		}
	}
}

static void give_data(struct searching *searching)
{
	const struct rcore_target *target = searching->target;
	uint64_t start, end;
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		const struct rcore_module *module = rcore_modules_get(target->modules, i);
		for (size_t k = 0;
		     rcore_module_writable(target->modules, module, k, &start, &end); k++)
			rcore_chunk_owners_give_range(&searching->owners, start, end,
						      searching->first + MODULES + (uint32_t)i);
	}
}

static void give_ranges(struct searching *searching, const struct rcore_c_ranges *ranges,
			uint32_t owner)
{
	for (size_t i = 0; i < ranges->count; i++)
		rcore_chunk_owners_give_range(&searching->owners, ranges->items[i].start,
					      ranges->items[i].end, searching->first + owner);
}

static void give_stacks(struct searching *searching)
{
	const struct rcore_process *process = searching->target->process;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (thread->has_registers)
			rcore_chunk_owners_give(&searching->owners, thread->registers,
						(size_t)thread->register_count,
						searching->first + STACKS);
	}
	give_ranges(searching, &searching->stacks, STACKS);
}

/*
 * Finds the addresses whose words have known owners: chunks, pages of the heap,
 * and static data.
 */
static bool find_known(struct searching *searching)
{
	const struct rcore_target *target = searching->target;
	const struct rcore_heap *heap = searching->namer->heap;
	const struct rcore_malloc *malloc = searching->malloc;
	struct rcore_c_ranges *known = &searching->known;
	uint64_t start, end;
	bool ok = true;
	for (size_t i = 0; i < malloc->region_count && ok; i++)
		ok = rcore_c_ranges_add(known, malloc->regions[i].start,
					malloc->regions[i].end);
	for (size_t i = 0; i < heap->span_count && ok; i++) {
		const struct rcore_heap_span *span = &heap->spans[i];
		end = span->start + (uint64_t)span->slot_count * span->slot_size;
		ok = rcore_c_ranges_add(known, span->start, end);
	}
	for (size_t i = 0; i < rcore_modules_count(target->modules) && ok; i++) {
		const struct rcore_module *module = rcore_modules_get(target->modules, i);
		for (size_t k = 0;
		     ok && rcore_module_writable(target->modules, module, k, &start, &end); k++)
			ok = rcore_c_ranges_add(known, start, end);
	}
	rcore_c_ranges_join(known);
	return ok;
}

static bool find_roots(struct searching *searching)
{
	const struct rcore_process *process = searching->target->process;
	return find_known(searching) && rcore_c_stacks(process, &searching->stacks) &&
	       rcore_c_mappings(process, &searching->known, &searching->mappings);
}

static void find_owners(struct searching *searching)
{
	struct rcore_chunk_owners *owners = &searching->owners;
	take_pages(searching);
	for (int inside = 0; inside < 2; inside++) {
		if (inside)
			rcore_chunk_owners_look_inside(owners);
		give_slots(searching);
		give_data(searching);
		rcore_chunk_owners_follow(owners);
		give_stacks(searching);
		rcore_chunk_owners_follow(owners);
		give_ranges(searching, &searching->mappings, MAPPINGS);
		rcore_chunk_owners_follow(owners);
	}
}

/*
 * Objects without a class are parts of others: the buffer of a Zlib stream, the
 * text that Strings share. If one object alone refers to such a part, and no
 * root does, it is the owner.
 */
static bool is_part(const struct rcore_heap *heap, uint32_t node)
{
	return node < heap->node_count && heap->type[node] != RCORE_T_IMEMO &&
	       rcore_heap_class(heap, node) == RCORE_HEAP_NONE;
}

static struct rcore_error *find_wholes(const struct rcore_heap *heap, uint32_t **ret)
{
	uint32_t *whole = rcore_calloc(heap->node_count, sizeof(*whole));
	*ret = whole;
	if (!whole)
		return rcore_error_no_memory();
	memset(whole, 0xff, heap->node_count * sizeof(*whole));
	for (size_t i = 0; i < heap->root_count; i++)
		if (!heap->roots[i].is_conservative)
			whole[heap->roots[i].node] = heap->roots[i].node;
	for (uint32_t node = 0; node < heap->node_count; node++)
		for (uint32_t i = heap->first_edge[node]; i < heap->first_edge[node + 1]; i++) {
			uint32_t target = heap->target[i];
			if (target == node || whole[target] == node || !is_part(heap, target))
				continue;
			/* A second owner: the part then belongs to itself. */
			whole[target] = whole[target] == RCORE_HEAP_NONE ? node : target;
		}
	return NULL;
}

static uint32_t find_whole(const struct rcore_heap *heap, const uint32_t *whole, uint32_t node)
{
	enum { MOST_STEPS = 16 };
	for (int i = 0; i < MOST_STEPS && is_part(heap, node) &&
			whole[node] != RCORE_HEAP_NONE && whole[node] != node;
	     i++)
		node = whole[node];
	return node;
}

static void add_up(struct searching *searching, const uint32_t *whole)
{
	const struct rcore_heap *heap = searching->namer->heap;
	const struct rcore_malloc *malloc = searching->malloc;
	struct rcore_c_memory *memory = searching->memory;
	for (size_t i = 0; i < malloc->region_count; i++) {
		const struct rcore_chunk_region *region = &malloc->regions[i];
		for (size_t n = region->first; n < region->first + region->count; n++) {
			struct rcore_chunk chunk;
			uint32_t owner = searching->owners.owner[n];
			rcore_malloc_chunk(malloc, region, n, &chunk);
			if (chunk.state != RCORE_CHUNK_USED)
				continue;
			memory->bytes += chunk.bytes;
			if (owner != RCORE_CHUNK_OWNER_NONE)
				memory->owned_bytes += chunk.bytes;
			else
				owner = (uint32_t)searching->owner_count - 1;
			owner = find_whole(heap, whole, owner);
			searching->sums[owner].count++;
			searching->sums[owner].bytes += chunk.bytes;
		}
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct rcore_c_owner_row *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return x->kind != y->kind ? x->kind - y->kind : strcmp(x->name, y->name);
}

/* Adds rows for the owners that are not objects, after those of `classes`. */
static size_t add_others(const struct searching *searching, struct rcore_c_owner_row *rows)
{
	static const uint8_t kinds[] = {RCORE_C_OWNER_PAGES, RCORE_C_OWNER_STACKS,
					RCORE_C_OWNER_MAPPINGS};
	size_t count = 0;
	for (size_t i = searching->first; i < searching->owner_count; i++) {
		size_t other = i - searching->first;
		const struct rcore_chunk_sum *sum = &searching->sums[i];
		struct rcore_c_owner_row row = {RCORE_C_OWNER_NONE, "", 0, sum->count,
						sum->bytes};
		if (!sum->count)
			continue;
		if (other < MODULES) {
			row.kind = kinds[other];
		} else if (i + 1 < searching->owner_count) {
			row.kind = RCORE_C_OWNER_DATA;
			row.name = rcore_base_name(
				rcore_modules_get(searching->target->modules, other - MODULES)
					->path);
		}
		rows[count++] = row;
	}
	return count;
}

static struct rcore_error *list_rows(struct searching *searching)
{
	struct rcore_c_memory *memory = searching->memory;
	struct rcore_heap_namer *namer = searching->namer;
	const struct rcore_heap *heap = namer->heap;
	struct rcore_c_owner_row *classes = rcore_calloc(heap->node_count, sizeof(*classes));
	struct rcore_error *err = classes ? NULL : rcore_error_no_memory();
	for (uint32_t node = 0; node < heap->node_count && !err; node++) {
		const struct rcore_chunk_sum *sum = &searching->sums[node];
		uint32_t number;
		if (!sum->count)
			continue;
		err = rcore_heap_class_number(namer, node, &number);
		if (err)
			break;
		classes[number].objects++;
		classes[number].chunks += sum->count;
		classes[number].bytes += sum->bytes;
	}
	size_t others = searching->owner_count - searching->first, count = 0;
	if (!err) {
		memory->rows = rcore_arena_array(&memory->arena, namer->classes.count + others,
						 sizeof(*memory->rows));
		err = memory->rows ? NULL : rcore_error_no_memory();
	}
	for (size_t i = 0; !err && i < namer->classes.count; i++)
		if (classes[i].objects) {
			memory->rows[count] = classes[i];
			memory->rows[count].kind = RCORE_C_OWNER_CLASS;
			memory->rows[count++].name = namer->classes.items[i];
		}
	free(classes);
	if (err)
		return err;
	count += add_others(searching, memory->rows + count);
	qsort(memory->rows, count, sizeof(*memory->rows), by_bytes);
	memory->all_rows = count;
	memory->row_count = count < searching->limit ? count : searching->limit;
	return NULL;
}

struct owner {
	uint64_t bytes;
	uint32_t node;
};

static int by_owned(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

static struct rcore_error *sort_objects(const struct searching *searching, struct owner **ret,
					size_t *count)
{
	size_t found = 0;
	for (uint32_t node = 0; node < searching->first; node++)
		found += searching->sums[node].count != 0;
	struct owner *owners = rcore_calloc(found, sizeof(*owners));
	*ret = owners;
	*count = 0;
	if (!owners)
		return rcore_error_no_memory();
	for (uint32_t node = 0; node < searching->first; node++)
		if (searching->sums[node].count)
			owners[(*count)++] = (struct owner){searching->sums[node].bytes, node};
	if (*count)
		qsort(owners, *count, sizeof(*owners), by_owned);
	return NULL;
}

static struct rcore_error *list_objects(struct searching *searching)
{
	struct rcore_c_memory *memory = searching->memory;
	struct owner *owners;
	size_t count;
	struct rcore_error *err = sort_objects(searching, &owners, &count);
	if (count > searching->limit)
		count = searching->limit;
	memory->objects = rcore_arena_array(&memory->arena, count, sizeof(*memory->objects));
	if (!err && !memory->objects)
		err = rcore_error_no_memory();
	for (size_t i = 0; i < count && !err; i++) {
		struct rcore_c_owner_object *item = &memory->objects[memory->object_count++];
		item->chunks = searching->sums[owners[i].node].count;
		item->bytes = owners[i].bytes;
		err = rcore_heap_describe(searching->namer, owners[i].node, &item->object);
	}
	free(owners);
	return err;
}

static struct rcore_error *run(struct rcore_heap_namer *namer, void *context)
{
	struct searching *searching = context;
	const uint64_t owners = (uint64_t)namer->heap->node_count + MODULES +
				rcore_modules_count(searching->target->modules) + 1;
	uint32_t *whole = NULL;
	searching->namer = namer;
	namer->redaction = &searching->memory->redaction;
	if (owners >= RCORE_CHUNK_OWNER_NONE)
		return rcore_error_create(
			RCORE_ERROR_LIMIT,
			"cannot find owners: the heap has more slots than rcore supports");
	searching->first = namer->heap->node_count;
	searching->owner_count = owners;
	searching->sums = rcore_calloc(owners, sizeof(*searching->sums));
	if (!searching->sums || !find_roots(searching))
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_session_parts(searching->target, &searching->parts);
	if (!err)
		err = rcore_chunk_owners_init(searching->target->memory, &searching->parts,
					      searching->malloc, &searching->owners);
	if (!err)
		err = find_wholes(namer->heap, &whole);
	if (!err) {
		find_owners(searching);
		add_up(searching, whole);
		err = list_rows(searching);
	}
	free(whole);
	if (!err)
		err = list_objects(searching);
	return err ? err : rcore_heap_describe_gaps(namer, &searching->memory->gaps);
}

struct rcore_error *rcore_c_memory(struct rcore_session *session,
				   const struct rcore_malloc *heap, size_t limit,
				   struct rcore_c_memory **ret)
{
	struct rcore_c_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return rcore_error_no_memory();
	struct searching searching = {
		.target = &session->target, .malloc = heap, .limit = limit, .memory = memory};
	memory->redaction.mode = session->settings.redact;
	struct rcore_error *err = rcore_session_graph(session, &memory->arena, run, &searching);
	rcore_chunk_owners_deinit(&searching.owners);
	free(searching.sums);
	free(searching.known.items);
	free(searching.stacks.items);
	free(searching.mappings.items);
	free(searching.parts.items);
	if (err)
		rcore_c_memory_free(memory);
	else
		*ret = memory;
	return err;
}

void rcore_c_memory_free(struct rcore_c_memory *memory)
{
	if (!memory)
		return;
	rcore_arena_deinit(&memory->arena);
	free(memory);
}
