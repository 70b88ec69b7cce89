/* SPDX-License-Identifier: MIT */
/*
 * T_DATA. What its struct refers to, only its dmark function knows, which is
 * code that rcore never runs. Types of the VM whose references are members of
 * the struct are in a table below. A type with RUBY_TYPED_DECL_MARKING lists
 * the offsets of its members. Everything else is scanned: each word of the
 * struct's own malloc chunk, one level deep, may be a reference.
 */
#include "ruby/children/children_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "ruby/object/data.h"
#include "ruby/object/id_table.h"
#include "ruby/object/shape.h"

enum {
	REFERENCE_LIMIT = 4096, /* of RUBY_TYPED_DECL_MARKING */
	STRUCT_LIMIT = 1 << 20,
	/* RUBY_TYPED_DECL_MARKING of rtypeddata.h; 3.3 on */
	DECLARES_REFERENCES = 1 << 14,
	SET_LIMIT = 1 << 26,
	LOCATION_LIMIT = 1 << 20,
	MEMBERS = 10,
	ENV_DATA_INDEX_ENV = 1,
};

/*
 * A type whose references are members of its struct, or `mark`, which gets the
 * address of the struct.
 */
struct type {
	const char *name;
	/* offsets in struct rcore_layout; 0 ends them */
	size_t members[MEMBERS];
	void (*mark)(struct rcore_children *children, uint64_t data);
};

#define FIELD(struct_id, id) offsetof(struct rcore_layout, struct_id.id)

/* block_mark() of proc.c. */
static void mark_block(struct rcore_children *children, uint64_t block)
{
	enum { BLOCK_ISEQ, BLOCK_IFUNC, BLOCK_SYMBOL, BLOCK_PROC };
	const uint64_t undef = (uint64_t)children->ruby->layout->constant.qundef;
	uint64_t ep, env;
	switch (RCORE_CHILD_READ(children, block, block, type)) {
	case BLOCK_ISEQ:
	case BLOCK_IFUNC:
		RCORE_CHILD_MARK_AT(children, block, block, self);
		RCORE_CHILD_MARK_AT(children, block, block, code);
		ep = RCORE_CHILD_READ(children, block, block, ep);
		if (!ep)
			break;
		if (rcore_read_u64(children->ruby->memory,
				   ep + ENV_DATA_INDEX_ENV * sizeof(uint64_t), &env))
			children->state |= RCORE_HEAP_PARTIAL;
		else if (env != undef) /* a cfunc_proc_t */
			rcore_child_mark_named(children, env, "environment");
		break;
	case BLOCK_SYMBOL:
	case BLOCK_PROC:
		RCORE_CHILD_MARK_AT(children, block, block, proc);
		break;
	default:
		children->state |= RCORE_HEAP_PARTIAL;
	}
}

static void mark_proc(struct rcore_children *children, uint64_t data)
{
	mark_block(children, data + (uint64_t)children->ruby->layout->proc.block.offset);
}

static void mark_binding(struct rcore_children *children, uint64_t data)
{
	mark_block(children, data + (uint64_t)children->ruby->layout->binding.block.offset);
	RCORE_CHILD_MARK_AT(children, data, binding, pathobj);
}

/* iseqw_mark() of iseq.c: up to 3.3, `data` is the iseq. */
static void mark_iseq_wrapper(struct rcore_children *children, uint64_t data)
{
	uint64_t iseq = data;
	if (!rcore_child_is_imemo(children, data, children->ruby->layout->traits.imemo_iseq) &&
	    rcore_read_u64(children->ruby->memory, data, &iseq))
		children->state |= RCORE_HEAP_PARTIAL;
	else
		rcore_child_mark_named(children, iseq, "iseq");
}

/* set_mark() of set.c, 4.0 on. */
static void mark_set(struct rcore_children *children, uint64_t data)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t entries = RCORE_CHILD_READ(children, data, set_table, entries);
	uint64_t at = RCORE_CHILD_READ(children, data, set_table, entries_start);
	uint64_t bound = RCORE_CHILD_READ(children, data, set_table, entries_bound);
	if (!entries)
		return;
	if (bound > SET_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (; at < bound; at++) {
		uint64_t entry = entries + at * layout->set_entry.size;
		if (RCORE_CHILD_READ(children, entry, set_entry, hash) != UINT64_MAX)
			rcore_child_mark(children,
					 RCORE_CHILD_READ(children, entry, set_entry, key),
					 RCORE_EDGE_KEY, at);
	}
}

/* marked_id_table_mark() of id_table.c, 4.0 on. */
static void mark_id_table(struct rcore_children *children, uint64_t data)
{
	struct rcore_id_iterator iterator;
	uint64_t serial, value;
	bool found = true;
	struct rcore_error *err = rcore_id_table_begin(&iterator, children->ruby, data);
	while (!err && found) {
		err = rcore_id_table_next(&iterator, &found, &serial, &value);
		if (!err && found)
			rcore_child_mark(children, value, RCORE_EDGE_CVAR, serial);
	}
	rcore_child_failed(children, err);
}

static void nothing(struct rcore_children *children, uint64_t data)
{
	(void)children;
	(void)data;
}

/* autoload_table_mark() of variable.c; up to 3.1, autoload_mark(). */
static void mark_autoload(struct rcore_children *children, uint64_t data)
{
	rcore_child_mark_st_values(children, data, RCORE_EDGE_ELEMENT);
}

/* pin_array_list_mark() of vm.c, 4.0 on. */
static void mark_pinned(struct rcore_children *children, uint64_t data)
{
	uint64_t count = RCORE_CHILD_READ(children, data, pin_array_list, count);
	RCORE_CHILD_MARK_AT(children, data, pin_array_list, next);
	rcore_child_mark_values(children,
				RCORE_CHILD_READ(children, data, pin_array_list, array), count,
				RCORE_EDGE_ELEMENT);
}

/* shape_tree_mark_and_move() of shape.c, 4.0 on. */
static void mark_shapes(struct rcore_children *children, uint64_t data)
{
	enum { SINGLE_CHILD = 1 };
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t list = rcore_shape_list(children->ruby);
	uint64_t tree = children->ruby->statics.shape_tree;
	(void)data;
	uint64_t count = tree ? RCORE_CHILD_READ(children, tree, shape_tree, next_shape_id) : 0;
	if (!list || !count || count > 1 << 19) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t edges =
			RCORE_CHILD_READ(children, list + i * layout->shape.size, shape, edges);
		if (!(edges & SINGLE_CHILD))
			rcore_child_mark_named(children, edges, "shapes");
	}
}

/*
 * backtrace_mark() of vm_backtrace.c. Before the locations, strary and locary
 * are the only words that can be objects. Up to 3.2, the locations are an array
 * of its own. From 3.3 on, they end the struct; what follows the last one is
 * left of others. Those in C code have no iseq, or that of their caller.
 */
static void mark_backtrace(struct rcore_children *children, uint64_t data)
{
	const struct rcore_layout *layout = children->ruby->layout;
	const struct rcore_field *locations = &layout->backtrace.locations;
	const bool is_inside = locations->size != sizeof(uint64_t);
	const uint64_t head = is_inside ? (uint64_t)locations->offset : layout->backtrace.size;
	uint64_t count = RCORE_CHILD_READ(children, data, backtrace, count);
	if (!rcore_has_place(locations) || count > LOCATION_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	uint64_t location = is_inside ? data + head
				      : RCORE_CHILD_READ(children, data, backtrace, locations);
	rcore_child_mark_values(children, data, head / sizeof(uint64_t),
				RCORE_EDGE_CONSERVATIVE);
	for (uint64_t i = 0; location && i < count; i++, location += layout->location.size) {
		uint64_t iseq = RCORE_CHILD_READ(children, location, location, iseq);
		if (rcore_child_is_imemo(children, iseq, layout->traits.imemo_iseq))
			rcore_child_mark_named(children, iseq, "iseq");
		RCORE_CHILD_MARK_AT(children, location, location, cme);
	}
}

/*
 * The objects that a struct of enumerator.c begins with. From 3.3 on, these
 * structs are in their slots, which end with words of an earlier object.
 */
static void mark_first(struct rcore_children *children, uint64_t data, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t word;
		if (rcore_read_u64(children->ruby->memory, data + i * sizeof(word), &word))
			children->state |= RCORE_HEAP_PARTIAL;
		else
			rcore_child_mark_named(children, word, "member");
	}
}

/*
 * proc_entry_mark() of enumerator.c: a step of a lazy enumerator. Its struct
 * has been a Proc, what that remembers, and functions in each release.
 */
static void mark_step(struct rcore_children *children, uint64_t data)
{
	mark_first(children, data, 2);
}

/*
 * producer_mark() of enumerator.c: Enumerator.produce. Its struct has been the
 * first element, a Proc and, from 4.0 on, the size.
 */
static void mark_producer(struct rcore_children *children, uint64_t data)
{
	mark_first(children, data, children->ruby->layout->traits.producer_values);
}

/*
 * ractor_port_mark() of ractor_sync.c (4.0 on): the struct begins with a
 * pointer to the port's rb_ractor_t.
 */
static void mark_port(struct rcore_children *children, uint64_t data)
{
	uint64_t ractor;
	if (rcore_read_u64(children->ruby->memory, data, &ractor))
		children->state |= RCORE_HEAP_PARTIAL;
	else if (ractor)
		rcore_child_mark_named(
			children, RCORE_CHILD_READ(children, ractor, ractor, self), "ractor");
}

static const struct type types[] = {
	{"VM/thread", {0}, rcore_children_of_thread},
	{"fiber", {0}, rcore_children_of_fiber},
	{"ractor", {0}, rcore_children_of_ractor},
	{"ractor/port", {0}, mark_port},
	{"autoload", {0}, mark_autoload},
	{"autoload_table", {0}, mark_autoload},
	{"VM/pin_array_list", {0}, mark_pinned},
	{"VM/shape_tree", {0}, mark_shapes},
	{"proc", {0}, mark_proc},
	{"binding", {0}, mark_binding},
	{"method",
	 {FIELD(method, recv), FIELD(method, klass), FIELD(method, iclass),
	  FIELD(method, owner), FIELD(method, me)},
	 NULL},
	{"enumerator",
	 {FIELD(enumerator, obj), FIELD(enumerator, args), FIELD(enumerator, fib),
	  FIELD(enumerator, dst), FIELD(enumerator, lookahead), FIELD(enumerator, feedvalue),
	  FIELD(enumerator, stop_exc), FIELD(enumerator, size_value), FIELD(enumerator, procs)},
	 NULL},
	{"yielder", {FIELD(yielder, proc)}, NULL},
	{"generator", {FIELD(generator, proc), FIELD(generator, obj)}, NULL},
	{"chain", {FIELD(enum_chain, enums)}, NULL},
	{"product", {FIELD(enum_chain, enums)}, NULL},
	{"queue", {FIELD(queue, que)}, NULL},
	{"sized_queue", {FIELD(queue, que)}, NULL},
	{"Thread::Queue", {FIELD(queue, que)}, NULL},
	{"Thread::SizedQueue", {FIELD(queue, que)}, NULL},
	{"proc_entry", {0}, mark_step},
	{"producer", {0}, mark_producer},
	{"time",
	 {FIELD(time, timew), FIELD(time, year), FIELD(time, subsecx), FIELD(time, utc_offset),
	  FIELD(time, zone)},
	 NULL},
	{"T_IMEMO/iseq", {0}, mark_iseq_wrapper},
	{"set", {0}, mark_set},
	{"VM/cc_table", {0}, rcore_children_of_call_caches},
	{"VM/marked_id_table", {0}, mark_id_table},
	{"VM/concurrent_set", {0}, nothing},
	{"mutex", {0}, nothing},
	{"condvar", {0}, nothing},
	{"encoding", {0}, nothing},
	{"weakmap", {0}, nothing},
	{"backtrace", {0}, mark_backtrace},
	{"ripper", {0}, rcore_children_of_ripper},
	{"OpenSSL/SSL", {0}, rcore_children_of_ssl},
};

/* Returns false if the list is in a file that is not here. */
static bool mark_declared(struct rcore_children *children, uint64_t list, uint64_t data)
{
	uint64_t offset;
	/* The first offset is visited twice: its loop reads *offset_list++. */
	for (unsigned i = 0, first = 1; i < REFERENCE_LIMIT; i += !first, first = 0) {
		if (rcore_read_u64(children->ruby->memory, list + i * sizeof(offset),
				   &offset)) {
			if (first)
				return false;
			children->state |= RCORE_HEAP_PARTIAL;
			return true;
		}
		if (offset == UINT64_MAX) /* RUBY_REF_END */
			return true;
		uint64_t value;
		if (offset > STRUCT_LIMIT ||
		    rcore_read_u64(children->ruby->memory, data + offset, &value))
			children->state |= RCORE_HEAP_PARTIAL;
		else
			rcore_child_mark_named(children, value, "reference");
	}
	children->state |= RCORE_HEAP_PARTIAL;
	return true;
}

static bool mark_known(struct rcore_children *children, const struct rcore_data *data)
{
	const char *layout = (const char *)children->ruby->layout;
	char name[RCORE_DATA_NAME_SIZE];
	struct rcore_error *err =
		rcore_data_type_name(children->ruby, data->type, name, sizeof(name));
	rcore_error_free(err);
	for (size_t i = 0; !err && i < RCORE_COUNT(types); i++) {
		if (strcmp(types[i].name, name) != 0)
			continue;
		if (types[i].mark)
			types[i].mark(children, data->data);
		for (size_t k = 0; k < MEMBERS && types[i].members[k]; k++) {
			const struct rcore_field *field =
				(const struct rcore_field *)(layout + types[i].members[k]);
			rcore_child_mark_named(children,
					       rcore_child_read(children, data->data, field),
					       "member");
		}
		return true;
	}
	return false;
}

static void mark_typed(struct rcore_children *children, const struct rcore_data *data)
{
	uint64_t flags = RCORE_CHILD_READ(children, data->type, data_type, flags);
	uint64_t dmark = RCORE_CHILD_READ(children, data->type, data_type, dmark);
	if (!dmark)
		return;
	if (flags & DECLARES_REFERENCES ? mark_declared(children, dmark, data->data)
					: mark_known(children, data))
		return;
	if (data->is_embedded)
		rcore_child_scan(children, data->data,
				 children->object + children->size - data->data);
	else
		rcore_child_scan_chunk(children, data->data);
}

void rcore_children_of_data(struct rcore_children *children)
{
	struct rcore_data data;
	struct rcore_error *err = rcore_data_head(children->ruby, children->object, &data);
	if (err) {
		rcore_child_failed(children, err);
		return;
	}
	if (data.is_typed)
		RCORE_CHILD_MARK(children, data, fields_obj);
	if (!data.data)
		return;
	if (data.is_typed)
		mark_typed(children, &data);
	else if (RCORE_CHILD_FIELD(children, rdata, dmark))
		rcore_child_scan_chunk(children, data.data);
}
