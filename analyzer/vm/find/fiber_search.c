/* SPDX-License-Identifier: MIT */
#include "vm/find/fiber_search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/heap/moved.h"
#include "ruby/object/core_class.h"
#include "ruby/heap/heap.h"
#include "target/live/live.h"
#include "vm/find/fiber_scan.h"
#include "vm/find/running.h"
#include "vm/loader.h"
#include "vm/problem.h"
#include "vm/vm.h"

struct node {
	uint64_t ec, prev, next;
};

static bool read_node(struct rcore_ruby *ruby, uint64_t address, struct node *ret)
{
	enum { SIZE = 64 };
	const struct rcore_layout *layout = ruby->layout;
	char copy[SIZE];
	size_t size = layout->jit_cont.size < SIZE ? layout->jit_cont.size : SIZE;
	return address && !rcore_read(ruby->memory, address, copy, size) &&
	       rcore_field_of(copy, size, &layout->jit_cont.ec, &ret->ec) &&
	       rcore_field_of(copy, size, &layout->jit_cont.prev, &ret->prev) &&
	       rcore_field_of(copy, size, &layout->jit_cont.next, &ret->next);
}

/*
 * Whether the node at `address` is being removed. jit_cont_free() of cont.c
 * does that under jit_cont_lock: its newer neighbour already points past it,
 * and the older one still points back to it. At most one node is in this state.
 */
static bool is_leaving(struct rcore_ruby *ruby, uint64_t address, uint64_t newer,
		       uint64_t older)
{
	struct node node;
	return older && read_node(ruby, address, &node) && node.prev == newer &&
	       node.next == older;
}

/*
 * Walks from the tail by prev, which is the order of age because new nodes go
 * to the head. Each step checks that the neighbour points back. This also ends
 * any cycle, as the list is not circular.
 */
static struct rcore_error *walk_list(struct rcore_ruby *ruby, uint64_t known,
				     rcore_fiber_found *found, void *context,
				     struct rcore_error **broken)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t at;
	struct node node, neighbour;

	*broken = NULL;
	if (rcore_read_field(ruby->memory, known, &layout->fiber.jit_cont, &at) ||
	    !read_node(ruby, at, &node) ||
	    node.ec != known + (uint64_t)layout->fiber.saved_ec.offset) {
		*broken = rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"fiber 0x%" PRIx64 " is not on the VM's fiber list", known);
		return NULL;
	}
	size_t steps = 0;
	uint64_t leaving = 0;
	while (node.next && ++steps < RCORE_FIBER_LIMIT) {
		bool is_read = read_node(ruby, node.next, &neighbour);
		if (is_read && neighbour.prev != at && !leaving &&
		    is_leaving(ruby, neighbour.prev, at, node.next))
			leaving = neighbour.prev;
		else if (!is_read || neighbour.prev != at) {
			*broken = rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"the VM's fiber list is broken after node 0x%" PRIx64, at);
			break;
		}
		at = node.next;
		node = neighbour;
	}
	for (steps = 0; steps < RCORE_FIBER_LIMIT; steps++) {
		bool is_read = read_node(ruby, node.prev, &neighbour);
		if (is_read && node.next && neighbour.next == node.next && !leaving)
			leaving = at;
		struct rcore_error *err =
			at == leaving
				? NULL
				: found(context,
					node.ec - (uint64_t)layout->fiber.saved_ec.offset);
		if (err || !node.prev)
			return err;
		if (!is_read || (neighbour.next != at && at != leaving)) {
			if (!*broken)
				*broken = rcore_error_create(
					RCORE_ERROR_CORRUPT,
					"the VM's fiber list is broken before node 0x%" PRIx64,
					at);
			return NULL;
		}
		at = node.prev;
		node = neighbour;
	}
	return NULL;
}

/* What is known about a rb_data_type_t. A process has a few dozen. */
struct type {
	uint64_t address;
	bool is_fiber;
};

struct heap_search {
	struct rcore_ruby *ruby;
	const struct rcore_process *process;
	struct {
		struct type *items;
		size_t count, capacity;
	} types;
	struct {
		uint64_t *items;
		size_t count, capacity;
	} fibers;
	/* Fibers that were checked for write barriers. */
	size_t looked_at;
	bool has_protected; /* one of them may have some */
	bool out_of_memory;
	bool is_scan; /* slots were copied some time before they are visited */
	uint64_t objspace;
	bool is_sweeping;
};

enum { TYPE_LIMIT = 4096 };

static bool names_fiber(struct rcore_ruby *ruby, uint64_t type)
{
	const struct rcore_layout *layout = ruby->layout;
	char name[sizeof("fiber") + 1];
	uint64_t pointer;
	return !rcore_read_field(ruby->memory, type, &layout->data_type.wrap_struct_name,
				 &pointer) &&
	       !rcore_read_string(ruby->memory, pointer, name, sizeof(name)) &&
	       strcmp(name, "fiber") == 0;
}

bool rcore_is_fiber(struct rcore_memory *memory, const struct rcore_layout *layout,
		    uint64_t object, uint64_t address)
{
	uint64_t self, back, type, ec = address + (uint64_t)layout->fiber.saved_ec.offset;
	return !rcore_read_field(memory, address, &layout->fiber.self, &self) &&
	       self == object &&
	       !rcore_read_field(memory, address, &layout->fiber.type, &type) &&
	       (uint32_t)type == RCORE_FIBER_CONTEXT &&
	       !rcore_read_field(memory, ec, &layout->ec.fiber_ptr, &back) && back == address;
}

/*
 * The same while the collector may be moving objects: the fiber's reference to
 * its object may not be corrected yet.
 */
static bool wraps_fiber(const struct rcore_ruby *ruby, uint64_t object, uint64_t address)
{
	uint64_t self;
	return rcore_is_fiber(ruby->memory, ruby->layout, object, address) ||
	       (ruby->moved &&
		!rcore_read_field(ruby->memory, address, &ruby->layout->fiber.self, &self) &&
		rcore_is_same_object(ruby, self, object) &&
		rcore_is_fiber(ruby->memory, ruby->layout, self, address));
}

/*
 * If a type's name cannot be read (the file of libruby is missing), one of its
 * objects decides.
 */
static bool is_fiber_type(struct heap_search *search, uint64_t type, uint64_t object,
			  uint64_t data)
{
	for (size_t i = 0; i < search->types.count; i++)
		if (search->types.items[i].address == type)
			return search->types.items[i].is_fiber;
	bool is_fiber =
		names_fiber(search->ruby, type) || wraps_fiber(search->ruby, object, data);
	if (search->types.count < TYPE_LIMIT) {
		struct type *known = rcore_push(&search->types);
		if (known)
			*known = (struct type){type, is_fiber};
	}
	return is_fiber;
}

/*
 * Whether a slot is just being reused for another object. From 3.0 on, CRuby
 * writes the flags and the class first (newobj_init() of gc.c, from 3.4 on of
 * gc/default/default.c) and the contents later (newobj_fill(), in 4.0
 * typed_data_alloc()). Until then, the slot has the contents of the previous
 * object. As long as the class is not written, its word is the address of the
 * next free slot.
 */
static bool is_being_made(struct rcore_ruby *ruby, const void *copy, size_t size)
{
	enum rcore_core_class core;
	uint64_t klass, flags;
	if (!rcore_field_of(copy, size, &ruby->layout->basic.klass, &klass))
		return false;
	if (!klass || !rcore_is_object(ruby, klass))
		return !klass;
	if (rcore_read_field(ruby->memory, klass, &ruby->layout->basic.flags, &flags))
		return false;
	if ((flags & RCORE_T_MASK) != RCORE_T_CLASS)
		return (flags & RCORE_T_MASK) == RCORE_T_NONE;
	rcore_auto_error err = rcore_core_class(ruby, klass, &core);
	return !err && core != RCORE_CLASS_FIBER;
}

/*
 * A running process may have freed the fiber after its slot was copied, but
 * before the fiber was read.
 */
static bool has_changed(const struct heap_search *search, uint64_t object, const void *copy,
			size_t size)
{
	struct rcore_live *live = search->ruby->live;
	unsigned char now[64];
	if (size > sizeof(now))
		size = sizeof(now);
	return search->is_scan &&
	       (rcore_read(rcore_live_bare_memory(live), object, now, size) ||
		memcmp(now, copy, size));
}

/*
 * Returns whether the slot is not a fiber after all. Either it has the contents
 * of an earlier object, which was a fiber; or the collector is freeing it:
 * obj_free() (gc.c) frees the rb_fiber_t before it clears the slot; or a
 * running thread is making a fiber: rb_data_typed_object_wrap() (gc.c) writes
 * the type before the data.
 */
static bool is_stale(const struct heap_search *search, uint64_t object, uint64_t data,
		     const void *copy, size_t size)
{
	struct rcore_ruby *ruby = search->ruby;
	uint64_t self;
	if (wraps_fiber(ruby, object, data))
		return false;
	if (!rcore_read_field(ruby->memory, data, &ruby->layout->fiber.self, &self) &&
	    is_being_made(ruby, copy, size))
		return true;
	if (search->is_sweeping &&
	    rcore_heap_may_be_garbage(ruby, object,
				      rcore_heap_is_collecting(ruby, search->objspace)))
		return true;
	if (has_changed(search, object, copy, size))
		return true;
	return rcore_is_at_hand(ruby->memory, search->process, object);
}

/*
 * Marks a fiber as seen. Returns false unless an object wrapped it before, and
 * still does.
 */
static bool see(const struct heap_search *search, uint64_t object, uint64_t data)
{
	struct rcore_earlier_fibers *earlier = search->ruby->earlier_fibers;
	int index = rcore_unchanged_fiber(search->ruby, data);
	if (index < 0 || earlier->objects[index] != object)
		return false;
	earlier->seen[index] = true;
	return true;
}

/* Only one type of this name is libruby's. Extensions may have others. */
static void note_type(const struct heap_search *search, uint64_t type, uint64_t object,
		      uint64_t data)
{
	struct rcore_ruby *ruby = search->ruby;
	if (!ruby->statics.fiber_type && wraps_fiber(ruby, object, data))
		ruby->statics.fiber_type = type;
}

/*
 * Up to 4.0, a Fiber has no write barriers: RUBY_TYPED_WB_PROTECTED is not set
 * in fiber_data_type of cont.c. The first few fibers show whether that is so
 * here.
 */
static void look_at_protection(struct heap_search *search, uint64_t object)
{
	enum { ENOUGH = 32 };
	if (search->ruby->earlier_fibers || search->looked_at == ENOUGH)
		return;
	search->looked_at++;
	search->has_protected |= !rcore_heap_is_unprotected(search->ruby, object);
}

static bool visit_data(void *context, uint64_t value, const void *copy, size_t size)
{
	struct heap_search *search = context;
	const struct rcore_layout *layout = search->ruby->layout;
	uint64_t type, data;
	if (!rcore_field_of(copy, size, &layout->data.type, &type) ||
	    !rcore_field_of(copy, size, &layout->data.data, &data) || !data || !type ||
	    type % sizeof(uint64_t) || !is_fiber_type(search, type, value, data) ||
	    see(search, value, data) || is_stale(search, value, data, copy, size))
		return true;
	uint64_t *fiber = rcore_push(&search->fibers);
	if (fiber)
		*fiber = data;
	note_type(search, type, value, data);
	look_at_protection(search, value);
	search->out_of_memory = !fiber;
	return fiber != NULL;
}

static struct rcore_error *take_packed(const struct rcore_ruby *ruby, rcore_fiber_found *found,
				       void *context)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < ruby->packed_fiber_count && !err; i++)
		err = found(context, ruby->packed_fibers[i]);
	return err;
}

static struct rcore_error *walk_heap(struct rcore_ruby *ruby,
				     const struct rcore_process *process, uint64_t vm,
				     rcore_fiber_found *found, void *context,
				     struct rcore_snapshot *snapshot)
{
	struct heap_search search = {.ruby = ruby, .process = process, .is_scan = true};
	size_t unreadable = 0;
	enum rcore_fault fault = rcore_read_field(ruby->memory, vm, &ruby->layout->vm.objspace,
						  &search.objspace);
	if (ruby->recorder)
		rcore_recorder_pause(ruby->recorder, true);
	struct rcore_error *err = NULL;
	if (fault)
		err = rcore_fault_error(fault, "vm.objspace", vm, sizeof(search.objspace));
	else
		search.is_sweeping = rcore_heap_is_sweeping(ruby, search.objspace);
	if (!err)
		search.is_scan = rcore_fiber_scan(ruby, search.objspace, visit_data, &search);
	if (!err && !search.is_scan)
		err = rcore_heap_walk(ruby, search.objspace, RCORE_T_DATA, visit_data, &search,
				      &unreadable);
	if (ruby->recorder)
		rcore_recorder_pause(ruby->recorder, false);
	if (!ruby->earlier_fibers && (search.looked_at || !ruby->reads_now))
		ruby->statics.fibers_unprotected = search.looked_at && !search.has_protected;
	if (err)
		rcore_problem_add(snapshot,
				  rcore_error_wrap(err, "parked fibers may be missing"));
	else if (unreadable)
		rcore_problem_add(snapshot,
				  rcore_error_create(RCORE_ERROR_FAULT,
						     "parked fibers may be missing: %zu of the "
						     "pages of the Ruby heap cannot be read",
						     unreadable));
	err = search.out_of_memory ? rcore_error_no_memory() : NULL;
	for (size_t i = 0; i < search.fibers.count && !err; i++)
		err = found(context, search.fibers.items[i]);
	free(search.types.items);
	free(search.fibers.items);
	return err;
}

struct rcore_error *rcore_fiber_search(struct rcore_ruby *ruby,
				       const struct rcore_process *process, uint64_t vm,
				       uint64_t known, rcore_fiber_found *found, void *context,
				       struct rcore_snapshot *snapshot)
{
	struct rcore_error *broken = NULL;
	if (known && ruby->layout->traits.fibers_listed) {
		struct rcore_error *err = walk_list(ruby, known, found, context, &broken);
		snapshot->fiber_source = "jit_cont list";
		if (err || !broken)
			return err;
		rcore_problem_add(snapshot, broken);
	}
	snapshot->fiber_source = broken ? "jit_cont list, then heap walk" : "heap walk";
	if (ruby->packed_fibers)
		return take_packed(ruby, found, context);
	return walk_heap(ruby, process, vm, found, context, snapshot);
}
