/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "ruby/object/data.h"
#include "ruby/heap/heap.h"
#include "vm/find/list.h"
#include "vm/find/running.h"
#include "proof/samples.h"
#include "vm/vm.h"

enum {
	OBJECT_LIMIT = 1 << 20, /* objects read */
	TYPE_LIMIT = 64,        /* different rb_data_type_t */
	/* enum rb_method_type_t (VM_METHOD_TYPE_ISEQ ...) */
	METHOD_TYPES = 12,
	METHODS_OF_A_TYPE = 4,
	/*
	 * FL_USER0 to 3, which mostly say where an object stores its contents
	 */
	FLAG_VARIANTS = 16,
	OBJECTS_OF_A_VARIANT = 12,
	PARAMETER_VARIANTS = 256, /* has_lead, has_opt ... has_block */
	ISEQS_OF_A_VARIANT = 6,
};

#define LIST(id) offsetof(struct rcore_samples, id)

static const struct {
	enum rcore_type type;
	size_t list;
} by_type[] = {
	{RCORE_T_OBJECT, LIST(object)},     {RCORE_T_CLASS, LIST(klass)},
	{RCORE_T_ICLASS, LIST(iclass)},     {RCORE_T_FLOAT, LIST(float_)},
	{RCORE_T_STRING, LIST(string)},     {RCORE_T_REGEXP, LIST(regexp)},
	{RCORE_T_ARRAY, LIST(array)},       {RCORE_T_HASH, LIST(hash)},
	{RCORE_T_STRUCT, LIST(rstruct)},    {RCORE_T_BIGNUM, LIST(bignum)},
	{RCORE_T_FILE, LIST(file)},         {RCORE_T_MATCH, LIST(match)},
	{RCORE_T_COMPLEX, LIST(complex_)},  {RCORE_T_SYMBOL, LIST(symbol)},
	{RCORE_T_RATIONAL, LIST(rational)},
};

/* What Ruby's own T_DATA wrap. */
static const struct {
	const char *type_name;
	size_t list;
} by_name[] = {
	{"fiber", LIST(parked)},          {"proc", LIST(proc)},
	{"method", LIST(method)},         {"time", LIST(time)},
	{"enumerator", LIST(enumerator)}, {"chain", LIST(enum_chain)},
	{"generator", LIST(generator)},   {"encoding", LIST(encoding)},
	{"backtrace", LIST(backtrace)},   {"set", LIST(set_table)},
	{"mutex", LIST(mutex)},           {"monitor", LIST(monitor)},
	{"queue", LIST(queue)},           {"Thread::Queue", LIST(queue)},
	{"sized_queue", LIST(szqueue)},   {"Thread::SizedQueue", LIST(szqueue)},
	{"condvar", LIST(condvar)},
};

enum { NAMES = RCORE_COUNT(by_name), NO_NAME = NAMES };

struct walk {
	struct rcore_samples *samples;
	bool is_sweeping, is_collecting;
	size_t objects;
	struct {
		uint64_t address;
		size_t name; /* index in by_name */
	} types[TYPE_LIMIT];
	size_t type_count;
	unsigned methods[METHOD_TYPES];
	unsigned objects_of[RCORE_T_MASK + 1][FLAG_VARIANTS];
	unsigned iseqs[PARAMETER_VARIANTS];
};

static struct rcore_sample_list *list_at(struct rcore_samples *samples, size_t offset)
{
	return (void *)((char *)samples + offset);
}

/* Finds what this T_DATA wraps, by the name of its type. */
static size_t name_of(struct walk *walk, uint64_t value)
{
	struct rcore_ruby *ruby = walk->samples->ruby;
	uint64_t type;
	struct rcore_data data = {0};
	if (!rcore_sample_read(walk->samples, value, &ruby->layout->data.type, &type))
		return NO_NAME;
	for (size_t i = 0; i < walk->type_count; i++)
		if (walk->types[i].address == type)
			return walk->types[i].name;
	size_t name = NO_NAME;
	rcore_auto_error err = rcore_data(ruby, value, &data);
	rcore_sample_failed(walk->samples, err);
	for (size_t i = 0; !err && data.type_name && i < NAMES; i++)
		if (!strcmp(by_name[i].type_name, data.type_name))
			name = i;
	if (walk->type_count < TYPE_LIMIT) {
		walk->types[walk->type_count].address = type;
		walk->types[walk->type_count++].name = name;
	}
	return name;
}

static void take_data(struct walk *walk, uint64_t value)
{
	size_t name = name_of(walk, value);
	bool is_so = false;
	uint64_t data = 0;
	if (name == NO_NAME)
		return;
	rcore_auto_error err = rcore_data_is(walk->samples->ruby, value,
					     by_name[name].type_name, &is_so, &data);
	if (!rcore_sample_failed(walk->samples, err) && is_so)
		rcore_samples_add(list_at(walk->samples, by_name[name].list), data);
}

/* Adds a few methods of each kind. */
static void take_method(struct walk *walk, uint64_t entry)
{
	struct rcore_samples *samples = walk->samples;
	const struct rcore_layout *layout = samples->ruby->layout;
	uint64_t definition, type;
	if (!rcore_sample_read(samples, entry, &layout->cme.def, &definition) ||
	    !rcore_sample_read(samples, definition, &layout->method_def.type, &type) ||
	    type >= METHOD_TYPES || walk->methods[type]++ >= METHODS_OF_A_TYPE)
		return;
	rcore_samples_add(&samples->cme, entry);
	rcore_samples_add(&samples->method_def, definition);
}

/* Adds a few iseqs with each kind of parameters. */
static void take_iseq(struct walk *walk, uint64_t iseq)
{
	struct rcore_samples *samples = walk->samples;
	const struct rcore_layout *layout = samples->ruby->layout;
	struct rcore_field flags = {.offset = layout->iseq_body.has_opt.offset, .size = 1};
	uint64_t body, kind;
	if (!rcore_sample_read(samples, iseq, &layout->iseq.body, &body) ||
	    !rcore_sample_read(samples, body, &flags, &kind) ||
	    walk->iseqs[kind]++ >= ISEQS_OF_A_VARIANT)
		return;
	rcore_samples_add(&samples->iseq, iseq);
	rcore_samples_add(&samples->iseq_body, body);
}

static void take_imemo(struct walk *walk, uint64_t value, uint64_t flags)
{
	struct rcore_samples *samples = walk->samples;
	const struct rcore_layout *layout = samples->ruby->layout;
	unsigned type = (unsigned)rcore_imemo_type(flags);
	if (type == layout->traits.imemo_env)
		rcore_samples_add(&samples->env, value);
	else if (type == layout->traits.imemo_svar)
		rcore_samples_add(&samples->svar, value);
	else if (type == layout->traits.imemo_ment)
		take_method(walk, value);
	else if (type == layout->traits.imemo_iseq)
		take_iseq(walk, value);
}

/* Whether the object has ivars and is neither a plain object nor a class. */
static bool has_generic_ivars(const struct walk *walk, uint64_t flags)
{
	int64_t flag = walk->samples->ruby->layout->constant.fl_exivar;
	enum rcore_type type = flags & RCORE_T_MASK;
	return flag != RCORE_NO_CONSTANT && flags & (uint64_t)flag && type != RCORE_T_OBJECT &&
	       type != RCORE_T_CLASS && type != RCORE_T_MODULE && type != RCORE_T_ICLASS &&
	       type != RCORE_T_IMEMO;
}

static bool take(void *context, uint64_t value, const void *copy, size_t size)
{
	struct walk *walk = context;
	uint64_t flags;
	memcpy(&flags, copy, sizeof(flags));
	if (walk->is_sweeping &&
	    rcore_heap_may_be_garbage(walk->samples->ruby, value, walk->is_collecting))
		return ++walk->objects < OBJECT_LIMIT;
	enum rcore_type type = flags & RCORE_T_MASK;
	unsigned variant = flags >> RCORE_FL_USHIFT & (FLAG_VARIANTS - 1);
	if (type == RCORE_T_DATA)
		take_data(walk, value);
	else if (type == RCORE_T_IMEMO)
		take_imemo(walk, value, flags);
	else if (walk->objects_of[type][variant]++ < OBJECTS_OF_A_VARIANT)
		for (size_t i = 0; i < RCORE_COUNT(by_type); i++)
			if (by_type[i].type == type)
				rcore_samples_add(list_at(walk->samples, by_type[i].list),
						  value);
	if (has_generic_ivars(walk, flags))
		rcore_samples_add(&walk->samples->generic, value);
	return ++walk->objects < OBJECT_LIMIT;
}

/* Adds the structs that the objects point to or contain. */
static void take_parts(struct rcore_samples *s)
{
	const struct rcore_layout *layout = s->ruby->layout;
	for (size_t i = 0; i < s->iseq.count; i++)
		rcore_samples_follow(s, s->iseq.at[i], &layout->iseq.body, &s->iseq_body);
	for (size_t i = 0; i < s->regexp.count; i++)
		rcore_samples_follow(s, s->regexp.at[i], &layout->regexp.ptr, &s->pattern);
	for (size_t i = 0; i < s->match.count; i++)
		if (rcore_has(&layout->match.rmatch))
			rcore_samples_follow(s, s->match.at[i], &layout->match.rmatch,
					     &s->rmatch);
		else
			rcore_samples_add(&s->rmatch, s->match.at[i] + layout->match.size);
	for (size_t i = 0; i < s->file.count; i++)
		if (!rcore_is_at_hand(s->ruby->memory, s->process, s->file.at[i]))
			rcore_samples_follow(s, s->file.at[i], &layout->file.fptr, &s->io);
	for (size_t i = 0; i < s->proc.count; i++)
		rcore_samples_add(&s->block,
				  s->proc.at[i] + (uint64_t)layout->proc.block.offset);
	for (size_t i = 0; i < s->backtrace.count; i++)
		if (layout->backtrace.locations.size == sizeof(uint64_t))
			rcore_samples_follow(s, s->backtrace.at[i],
					     &layout->backtrace.locations, &s->location);
		else
			rcore_samples_add(&s->location,
					  s->backtrace.at[i] +
						  (uint64_t)layout->backtrace.locations.offset);
	for (size_t i = 0; i < s->szqueue.count; i++)
		rcore_samples_add(&s->queue, s->szqueue.at[i]);
}

/* Adds the structs with a node on the list at `head`. */
static void take_nodes(struct rcore_samples *s, uint64_t head, const struct rcore_field *node,
		       struct rcore_sample_list *list)
{
	uint64_t *nodes;
	size_t count;
	if (!rcore_has(node))
		return;
	rcore_auto_error err =
		rcore_list(s->ruby->memory, head, RCORE_THREAD_LIMIT, &nodes, &count);
	bool failed = rcore_sample_failed(s, err);
	for (size_t i = 0; !failed && i < count && i < RCORE_SAMPLES; i++)
		rcore_samples_add(list, nodes[i] - (uint64_t)node->offset);
	free(nodes);
}

static void take_sync_waiters(struct rcore_samples *s, const struct rcore_sample_list *list,
			      const struct rcore_field *waitq)
{
	for (size_t i = 0; rcore_has(waitq) && i < list->count; i++)
		take_nodes(s, list->at[i] + (uint64_t)waitq->offset,
			   &s->ruby->layout->sync_waiter.node, &s->sync_waiter);
}

static void take_waiters(struct rcore_samples *s)
{
	const struct rcore_layout *layout = s->ruby->layout;
	for (size_t i = 0; i < s->thread.count; i++)
		rcore_samples_follow(s, s->thread.at[i], &layout->thread.join_list,
				     &s->join_waiter);
	if (rcore_has(&layout->vm.waiting_fds))
		take_nodes(s, s->vm.at[0] + (uint64_t)layout->vm.waiting_fds.offset,
			   &layout->waiting_fd.node, &s->waiting_fd);
	take_sync_waiters(s, &s->mutex, &layout->mutex.waitq);
	take_sync_waiters(s, &s->queue, &layout->queue.waitq);
	take_sync_waiters(s, &s->szqueue, &layout->szqueue.pushq);
	take_sync_waiters(s, &s->condvar, &layout->condvar.waitq);
	for (size_t i = 0; rcore_has(&layout->io.blocking_operations) && i < s->io.count; i++)
		take_nodes(s, s->io.at[i] + (uint64_t)layout->io.blocking_operations.offset,
			   &layout->blocking_operation.list, &s->blocking_operation);
}

void rcore_samples_take_heap(struct rcore_samples *samples)
{
	struct walk walk = {.samples = samples};
	if (samples->objspace.count) {
		walk.is_collecting =
			rcore_heap_is_collecting(samples->ruby, samples->objspace.at[0]);
		walk.is_sweeping =
			rcore_heap_is_sweeping(samples->ruby, samples->objspace.at[0]);
		rcore_auto_error err = rcore_heap_walk_types(
			samples->ruby, samples->objspace.at[0],
			UINT32_MAX & ~(1u << RCORE_T_NONE), take, &walk, NULL);
		rcore_sample_failed(samples, err);
	}
	take_parts(samples);
	take_waiters(samples);
}
