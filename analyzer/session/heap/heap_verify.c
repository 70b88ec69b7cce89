/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_verify.h"

#include <stdlib.h>

#include "base/grow.h"
#include "heap/barriers.h"
#include "ruby/children/page_bits.h"
#include "ruby/object/value.h"
#include "session/heap/heap_graph.h"
#include "session/session.h"
#include "vm/find/running.h"

enum { PAGE_LIMIT = 64 << 10 };

/* A defect before it has words. */
struct found {
	enum rcore_heap_defect_kind kind;
	bool has_label;
	uint32_t node, label;
	uint64_t value;
};

struct verifying {
	size_t limit;
	struct rcore_heap_verified *verified;
	struct rcore_heap_namer *namer;
	const struct rcore_process *process;
	uint8_t *notes; /* by node: enum rcore_heap_note */
	struct rcore_page_bits bits;
	struct {
		struct found *items;
		size_t count, capacity;
	} found;
};

static struct rcore_error *add(struct verifying *verifying, const struct found *defect)
{
	verifying->verified->counts[defect->kind]++;
	if (verifying->found.count >= verifying->limit)
		return NULL;
	struct found *item = rcore_push(&verifying->found);
	if (!item)
		return rcore_error_no_memory();
	*item = *defect;
	return NULL;
}

/*
 * While a page is being swept, its slots without a mark are garbage, and what
 * they refer to may be freed; before_sweep no longer says so.
 */
static bool may_be_garbage(const struct rcore_heap *heap, uint32_t node)
{
	return heap->is_collecting && heap->mode == RCORE_HEAP_SWEEPING &&
	       !(heap->state[node] & RCORE_HEAP_MARKED);
}

static bool is_class(const struct rcore_heap *heap, uint32_t node, uint8_t of)
{
	uint8_t type = heap->type[node];
	/* An include class has the module as its class. */
	if (of == RCORE_T_ICLASS && (type == RCORE_T_MODULE || type == RCORE_T_ICLASS))
		return true;
	/* A reference to an unused slot is a separate defect. */
	return type == RCORE_T_CLASS || type == RCORE_T_NONE;
}

static struct rcore_error *check_class(struct verifying *verifying, uint32_t node,
				       uint64_t klass)
{
	const struct rcore_heap *heap = verifying->namer->heap;
	const struct found defect = {RCORE_DEFECT_CLASS, false, node, 0, klass};
	uint8_t type = heap->type[node];
	if (!klass || type == RCORE_T_IMEMO || type == RCORE_T_NODE)
		return NULL;
	uint32_t target = rcore_heap_node_at(heap, klass, false);
	bool is_good = target != RCORE_HEAP_NONE && is_class(heap, target, type);
	/* It may be in a page that could not be found. */
	if (target == RCORE_HEAP_NONE && heap->absent_pages)
		is_good = true;
	return is_good ? NULL : add(verifying, &defect);
}

static struct rcore_error *check_slot(struct verifying *verifying, uint32_t node,
				      uint64_t address, const unsigned char *copy, size_t size)
{
	const struct rcore_heap *heap = verifying->namer->heap;
	const struct rcore_layout *layout = verifying->namer->ruby->layout;
	const struct rcore_field *remembered = &layout->heap_page.remembered_bits;
	uint64_t flags, klass = 0;
	memcpy(&flags, copy, sizeof(flags));
	/* Before 3.3, marking_bits has both. */
	if (!rcore_has_place(remembered))
		remembered = &layout->heap_page.marking_bits;
	if (rcore_page_bit(&verifying->bits, remembered, address))
		verifying->notes[node] |= RCORE_NOTE_REMEMBERED;
	if (rcore_page_bit(&verifying->bits, &layout->heap_page.uncollectible_bits, address))
		verifying->notes[node] |= RCORE_NOTE_UNCOLLECTIBLE;
	verifying->verified->objects++;
	if (!rcore_type_name(heap->type[node])) {
		const struct found defect = {RCORE_DEFECT_TYPE, false, node, 0, flags};
		return add(verifying, &defect);
	}
	rcore_field_of(copy, size, &layout->basic.klass, &klass);
	return may_be_garbage(heap, node) ? NULL : check_class(verifying, node, klass);
}

static struct rcore_error *check_slots(struct verifying *verifying)
{
	const struct rcore_heap *heap = verifying->namer->heap;
	struct rcore_ruby *ruby = verifying->namer->ruby;
	struct rcore_error *err = NULL;
	unsigned char *buffer = malloc(PAGE_LIMIT);
	if (!buffer)
		return rcore_error_no_memory();
	for (size_t i = 0; i < heap->span_count && !err; i++) {
		const struct rcore_heap_span *span = &heap->spans[i];
		const size_t size = span->slot_size, bytes = span->slot_count * size;
		if (span->is_absent || bytes > PAGE_LIMIT ||
		    rcore_read(ruby->memory, span->start, buffer, bytes))
			continue;
		rcore_page_bits_read(&verifying->bits, ruby, span->heap_page);
		for (uint32_t k = 0; k < span->slot_count && !err; k++)
			if (heap->type[span->first_node + k])
				err = check_slot(verifying, span->first_node + k,
						 span->start + k * size, buffer + k * size,
						 size);
	}
	free(buffer);
	return err;
}

/*
 * Whether the object is just being made: newobj_init() of gc.c writes the flags
 * before the class. Until then, the word of the class is the address of the
 * next free slot of the same page.
 */
static bool is_being_made(const struct verifying *verifying,
			  const struct rcore_heap_dangling *dangling)
{
	const struct rcore_heap_namer *namer = verifying->namer;
	uint64_t object = rcore_heap_address(namer->heap, dangling->node);
	unsigned align = namer->ruby->layout->traits.heap_page_align;
	return rcore_edge_kind(dangling->label) == RCORE_EDGE_CLASS && align &&
	       object / align == dangling->value / align &&
	       rcore_is_at_hand(namer->ruby->memory, verifying->process, object);
}

static struct rcore_error *check_dangling(struct verifying *verifying,
					  const struct rcore_heap_dangling *dangling)
{
	const struct rcore_heap *heap = verifying->namer->heap;
	struct found defect = {RCORE_DEFECT_FREE_SLOT, true, dangling->node, dangling->label,
			       dangling->value};
	uint32_t target = rcore_heap_node_at(heap, dangling->value, false);
	if (may_be_garbage(heap, dangling->node))
		return NULL;
	if (target == RCORE_HEAP_NONE) {
		/* check_class() has reported it. */
		if (heap->absent_pages || rcore_edge_kind(dangling->label) == RCORE_EDGE_CLASS)
			return NULL;
		defect.kind = RCORE_DEFECT_NO_SLOT;
	} else if (heap->state[target] & RCORE_HEAP_ABSENT) {
		return NULL;
	} else if (heap->state[target] & RCORE_HEAP_UNSWEPT) {
		defect.kind = RCORE_DEFECT_GARBAGE;
	} else if (is_being_made(verifying, dangling)) {
		return NULL;
	}
	return add(verifying, &defect);
}

static struct rcore_error *check_barriers(struct verifying *verifying)
{
	const struct rcore_heap *heap = verifying->namer->heap;
	struct rcore_error *err = NULL;
	uint32_t edge = 0, node;
	for (; !err && rcore_heap_missing_barrier(heap, verifying->notes, &edge, &node);
	     edge++) {
		const struct found defect = {RCORE_DEFECT_BARRIER, true, node,
					     heap->label[edge],
					     rcore_heap_address(heap, heap->target[edge])};
		if (!may_be_garbage(heap, node))
			err = add(verifying, &defect);
	}
	return err;
}

static const char *collector(const struct rcore_heap *heap)
{
	static const char *const names[] = {
		[RCORE_HEAP_IDLE] = "idle",
		[RCORE_HEAP_MARKING] = "marking",
		[RCORE_HEAP_SWEEPING] = "sweeping",
		[RCORE_HEAP_COMPACTING] = "compacting",
	};
	return names[heap->mode];
}

static struct rcore_error *check_references(struct verifying *verifying)
{
	const struct rcore_heap *heap = verifying->namer->heap;
	struct rcore_heap_verified *verified = verifying->verified;
	struct rcore_error *err = NULL;
	if (heap->mode == RCORE_HEAP_COMPACTING) {
		verified->unchecked = "references: the collector was moving objects";
		return NULL;
	}
	verified->references = heap->edge_count + heap->dangling_edges;
	for (size_t i = 0; i < heap->dangling_count && !err; i++)
		err = check_dangling(verifying, &heap->dangling[i]);
	if (err)
		return err;
	if (heap->mode == RCORE_HEAP_MARKING ||
	    (heap->is_collecting && heap->mode != RCORE_HEAP_SWEEPING)) {
		verified->unchecked = "write barriers: the collector was marking objects";
		return NULL;
	}
	return check_barriers(verifying);
}

static struct rcore_error *describe_target(struct rcore_heap_namer *namer, uint64_t value,
					   struct rcore_heap_object *ret)
{
	uint32_t node = rcore_heap_node_at(namer->heap, value, false);
	if (node == RCORE_HEAP_NONE || !namer->heap->type[node])
		return NULL;
	return rcore_heap_describe(namer, node, ret);
}

static struct rcore_error *describe_all(struct verifying *verifying)
{
	struct rcore_heap_namer *namer = verifying->namer;
	struct rcore_heap_verified *verified = verifying->verified;
	struct rcore_error *err = NULL;
	verified->defects = rcore_arena_array(namer->arena, verifying->found.count,
					      sizeof(*verified->defects));
	if (!verified->defects)
		return rcore_error_no_memory();
	for (size_t i = 0; i < verifying->found.count && !err; i++) {
		const struct found *found = &verifying->found.items[i];
		struct rcore_heap_defect *defect = &verified->defects[verified->defect_count++];
		defect->kind = found->kind;
		defect->value = found->value;
		err = rcore_heap_describe(namer, found->node, &defect->object);
		if (!err && found->has_label)
			err = rcore_heap_describe_edge(namer, found->label, &defect->how);
		if (!err && found->kind != RCORE_DEFECT_TYPE)
			err = describe_target(namer, found->value, &defect->target);
	}
	return err;
}

static struct rcore_error *run(struct rcore_heap_namer *namer, void *context)
{
	struct verifying *verifying = context;
	verifying->namer = namer;
	namer->redaction = &verifying->verified->redaction;
	verifying->notes = rcore_calloc(namer->heap->node_count, sizeof(*verifying->notes));
	if (!verifying->notes)
		return rcore_error_no_memory();
	verifying->verified->collector = collector(namer->heap);
	struct rcore_error *err = check_slots(verifying);
	if (!err)
		err = check_references(verifying);
	if (!err)
		err = describe_all(verifying);
	return err ? err : rcore_heap_describe_gaps(namer, &verifying->verified->gaps);
}

struct rcore_error *rcore_heap_verify(struct rcore_session *session, size_t limit,
				      struct rcore_heap_verified **ret)
{
	struct rcore_heap_verified *verified = calloc(1, sizeof(*verified));
	struct verifying *verifying = calloc(1, sizeof(*verifying));
	struct rcore_error *err = NULL;
	if (verified && verifying) {
		verified->redaction.mode = session->settings.redact;
		verifying->limit = limit;
		verifying->verified = verified;
		verifying->process = session->target.process;
		err = rcore_session_graph(session, &verified->arena, run, verifying);
		free(verifying->notes);
		free(verifying->found.items);
	} else {
		err = rcore_error_no_memory();
	}
	free(verifying);
	if (err)
		rcore_heap_verified_free(verified);
	else
		*ret = verified;
	return err;
}

void rcore_heap_verified_free(struct rcore_heap_verified *verified)
{
	if (!verified)
		return;
	rcore_arena_deinit(&verified->arena);
	free(verified);
}
