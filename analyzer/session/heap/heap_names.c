/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "ruby/children/classless.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "session/heap/heap.h"

/* The text before the name or the index, and the text after it. */
static const struct {
	const char *before, *after;
	/* Describes any index; NULL: the edge has a name. */
	const char *any;
} edges[RCORE_EDGE_KINDS] = {
	[RCORE_EDGE_CLASS] = {"class", "", NULL},
	[RCORE_EDGE_FIELD] = {"", "", NULL},
	[RCORE_EDGE_IVAR] = {"", "", NULL},
	[RCORE_EDGE_CONSTANT] = {"constant ", "", NULL},
	[RCORE_EDGE_CVAR] = {"", "", NULL},
	[RCORE_EDGE_METHOD] = {"method ", "", NULL},
	[RCORE_EDGE_FIBER_LOCAL] = {"fiber-local variable ", "", NULL},
	[RCORE_EDGE_LOCAL] = {"local ", "", NULL},
	[RCORE_EDGE_ELEMENT] = {"[", "]", "an element"},
	[RCORE_EDGE_KEY] = {"key ", "", "a key"},
	[RCORE_EDGE_VALUE] = {"value ", "", "a value"},
	[RCORE_EDGE_OPERAND] = {"operand ", "", "an operand"},
	[RCORE_EDGE_CONSERVATIVE] = {"word ", " of its C memory", "a word of its C memory"},
};

static const char *const root_kinds[RCORE_ROOT_KINDS] = {
	[RCORE_ROOT_VM] = "VM",
	[RCORE_ROOT_GLOBAL] = "global variable",
	[RCORE_ROOT_THREAD] = "thread",
	[RCORE_ROOT_FRAME] = "stack",
	[RCORE_ROOT_SYMBOL] = "symbol",
	[RCORE_ROOT_FINALIZER] = "finalizer",
	[RCORE_ROOT_ENDING] = "at_exit",
	[RCORE_ROOT_REGISTERED] = "registered variable",
	[RCORE_ROOT_MACHINE] = "machine stack",
};

void rcore_heap_namer_deinit(struct rcore_heap_namer *namer)
{
	rcore_heap_threads_deinit(&namer->threads);
	rcore_address_map_deinit(&namer->known);
	free(namer->classes.items);
	memset(&namer->classes, 0, sizeof(namer->classes));
}

struct rcore_error *rcore_heap_redact(struct rcore_heap_namer *namer, enum rcore_part_kind kind,
				      const char **text)
{
	const char *before = *text;
	if (!before)
		return rcore_error_no_memory();
	if (namer->is_raw)
		return NULL;
	struct rcore_error *err =
		rcore_redact_text(namer->redactor, namer->arena, kind, NULL, text);
	if (!err && namer->redaction && strcmp(before, *text) != 0)
		namer->redaction->counts[kind == RCORE_PART_NAME ? RCORE_REDACTED_NAME
								 : RCORE_REDACTED_STRING]++;
	return err;
}

/* Returns the name of a class that is not a singleton or include class. */
static const char *class_path(struct rcore_heap_namer *namer, uint64_t klass)
{
	const char *path;
	struct rcore_error *err = rcore_class_path(namer->ruby, klass, &path);
	if (!err)
		return rcore_arena_strdup(namer->arena, path);
	rcore_error_free(err);
	return rcore_arena_printf(namer->arena, "(unreadable class 0x%llx)",
				  (unsigned long long)klass);
}

/* Returns the node of the class by which a node is counted, or none. */
static uint32_t class_of(const struct rcore_heap *heap, uint32_t node)
{
	uint8_t type = heap->type[node];
	bool is_own = type == RCORE_T_IMEMO || type == RCORE_T_ICLASS;
	return is_own ? RCORE_HEAP_NONE : rcore_heap_class(heap, node);
}

static uint64_t classless_key(struct rcore_heap_namer *namer, uint32_t node)
{
	/* For unreadable flags: CRuby has no such imemo_type. */
	enum { UNKNOWN = 0xf };
	const uint8_t type = namer->heap->type[node];
	uint64_t flags = type | UNKNOWN << RCORE_FL_USHIFT;
	if (type == RCORE_T_IMEMO)
		rcore_error_free(rcore_flags(namer->ruby, rcore_heap_address(namer->heap, node),
					     &flags));
	return rcore_classless_key(flags);
}

/* `key` is that of classless_key(), or the address of a real class. */
static struct rcore_error *add_class(struct rcore_heap_namer *namer, uint64_t key,
				     uint32_t *ret)
{
	const char *name = rcore_is_object(namer->ruby, key)
				   ? class_path(namer, key)
				   : rcore_heap_internal_name(namer->ruby, namer->arena, key);
	struct rcore_error *err = rcore_heap_redact(namer, RCORE_PART_NAME, &name);
	if (err)
		return err;
	const char **item = rcore_push(&namer->classes);
	*ret = (uint32_t)namer->classes.count - 1;
	if (!item || !rcore_address_map_put(&namer->known, key, (int)*ret))
		return rcore_error_no_memory();
	*item = name;
	return NULL;
}

/* `klass` is that of class_of(). */
static struct rcore_error *find_number(struct rcore_heap_namer *namer, uint32_t node,
				       uint32_t klass, uint32_t *ret)
{
	const uint64_t key = klass == RCORE_HEAP_NONE ? classless_key(namer, node)
						      : rcore_heap_address(namer->heap, klass);
	uint64_t real = key;
	int known = rcore_address_map_get(&namer->known, key);
	if (known < 0 && rcore_is_object(namer->ruby, key)) {
		rcore_error_free(rcore_real_class(namer->ruby, key, &real));
		known = rcore_address_map_get(&namer->known, real);
		if (known >= 0 && !rcore_address_map_put(&namer->known, key, known))
			return rcore_error_no_memory();
	}
	*ret = (uint32_t)known;
	if (known >= 0)
		return NULL;
	struct rcore_error *err = add_class(namer, real, ret);
	if (!err && real != key && !rcore_address_map_put(&namer->known, key, (int)*ret))
		err = rcore_error_no_memory();
	return err;
}

struct rcore_error *rcore_heap_class_number(struct rcore_heap_namer *namer, uint32_t node,
					    uint32_t *ret)
{
	const uint32_t klass = class_of(namer->heap, node);
	struct rcore_recent_class *recent = &namer->recent[klass % RCORE_COUNT(namer->recent)];
	if (klass != RCORE_HEAP_NONE && recent->is_known && recent->klass == klass) {
		*ret = recent->number;
		return NULL;
	}
	struct rcore_error *err = find_number(namer, node, klass, ret);
	if (!err && klass != RCORE_HEAP_NONE)
		*recent = (struct rcore_recent_class){true, klass, *ret};
	return err;
}

/* Returns the name of the node if it is a class or module, otherwise NULL. */
static struct rcore_error *own_path(struct rcore_heap_namer *namer, uint32_t node,
				    const char **ret)
{
	uint8_t type = namer->heap->type[node];
	*ret = NULL;
	if (type != RCORE_T_CLASS && type != RCORE_T_MODULE)
		return NULL;
	struct rcore_error *err =
		rcore_class_path(namer->ruby, rcore_heap_address(namer->heap, node), ret);
	if (err) {
		rcore_error_free(err);
		*ret = NULL;
		return NULL;
	}
	*ret = rcore_arena_strdup(namer->arena, *ret);
	return rcore_heap_redact(namer, RCORE_PART_NAME, ret);
}

struct rcore_error *rcore_heap_describe(struct rcore_heap_namer *namer, uint32_t node,
					struct rcore_heap_object *ret)
{
	uint32_t klass = 0;
	struct rcore_error *err = rcore_heap_class_number(namer, node, &klass);
	if (err)
		return err;
	*ret = (struct rcore_heap_object){
		.address = rcore_heap_address(namer->heap, node),
		.klass = namer->classes.items[klass],
		.bytes = rcore_heap_bytes(namer->heap, node),
		.is_opaque = namer->heap->state[node] &
			     (RCORE_HEAP_OPAQUE | RCORE_HEAP_SIZE_UNKNOWN),
	};
	return own_path(namer, node, &ret->name);
}

static bool is_thread(struct rcore_heap_namer *namer, uint32_t node)
{
	return namer->heap->type[node] == RCORE_T_DATA &&
	       rcore_heap_is_thread(namer->ruby, rcore_heap_address(namer->heap, node));
}

/* Sets *ret to NULL if the thread has no name. */
static struct rcore_error *thread_name(struct rcore_heap_namer *namer, const char *name,
				       const char **ret)
{
	*ret = name && name[0] ? rcore_arena_strdup(namer->arena, name) : NULL;
	return name && name[0] ? rcore_heap_redact(namer, RCORE_PART_TEXT, ret) : NULL;
}

struct rcore_error *rcore_heap_describe_one(struct rcore_heap_namer *namer, uint32_t node,
					    struct rcore_heap_object *ret)
{
	const char *id = NULL, *name = NULL;
	struct rcore_error *err = rcore_heap_describe(namer, node, ret);
	if (!err && is_thread(namer, node))
		id = rcore_heap_thread_id(&namer->threads, ret->address, &name);
	if (!id)
		return err;
	ret->name = rcore_arena_strdup(namer->arena, id);
	return ret->name ? thread_name(namer, name, &ret->thread_name)
			 : rcore_error_no_memory();
}

static struct rcore_error *describe_named(struct rcore_heap_namer *namer,
					  enum rcore_edge_kind kind, uint32_t number,
					  const char **ret)
{
	const struct rcore_heap *heap = namer->heap;
	const bool is_named = kind != RCORE_EDGE_CLASS && number < heap->name_count;
	const char *name = is_named ? heap->names[number] : "";
	struct rcore_error *err = kind == RCORE_EDGE_FIELD || !*name
					  ? NULL
					  : rcore_heap_redact(namer, RCORE_PART_NAME, &name);
	if (err)
		return err;
	/* CRuby's own variables have no name; they are just "local". */
	const char *before = edges[kind].before;
	int length = (int)strlen(before);
	if (!*name && length && before[length - 1] == ' ')
		length--;
	*ret = rcore_arena_printf(namer->arena, "%.*s%s%s", length, before, name,
				  edges[kind].after);
	return *ret ? NULL : rcore_error_no_memory();
}

static enum rcore_edge_kind known_kind(uint32_t label)
{
	enum rcore_edge_kind kind = rcore_edge_kind(label);
	return kind < RCORE_EDGE_KINDS ? kind : RCORE_EDGE_CONSERVATIVE;
}

struct rcore_error *rcore_heap_describe_edge(struct rcore_heap_namer *namer, uint32_t label,
					     const char **ret)
{
	enum rcore_edge_kind kind = known_kind(label);
	uint32_t number = rcore_edge_number(label);
	if (!edges[kind].any)
		return describe_named(namer, kind, number, ret);
	*ret = rcore_arena_printf(namer->arena, "%s%u%s", edges[kind].before, number,
				  edges[kind].after);
	return *ret ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_heap_describe_edge_of(struct rcore_heap_namer *namer, uint32_t from,
						uint32_t to, uint32_t label, const char **ret)
{
	const struct rcore_heap *heap = namer->heap;
	const uint32_t number = rcore_edge_number(label);
	char frames[RCORE_HEAP_FRAMES_SIZE] = "";
	struct rcore_error *err = rcore_heap_describe_edge(namer, label, ret);
	if (err || known_kind(label) != RCORE_EDGE_LOCAL || number >= heap->name_count)
		return err;
	if (is_thread(namer, from))
		rcore_heap_thread_frames(&namer->threads, rcore_heap_address(heap, from),
					 heap->names[number], rcore_heap_address(heap, to),
					 frames);
	if (frames[0])
		*ret = rcore_arena_printf(namer->arena, "%s of %s", *ret, frames);
	return *ret ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_heap_describe_step(struct rcore_heap_namer *namer, uint32_t label,
					     const char **ret)
{
	enum rcore_edge_kind kind = known_kind(label);
	if (!edges[kind].any)
		return describe_named(namer, kind, rcore_edge_number(label), ret);
	*ret = edges[kind].any;
	return NULL;
}

struct rcore_error *rcore_heap_describe_root(struct rcore_heap_namer *namer, unsigned kind,
					     uint32_t name, const char **ret)
{
	const char *text = name < namer->heap->name_count ? namer->heap->names[name] : "";
	const char *what = kind < RCORE_ROOT_KINDS ? root_kinds[kind] : "root";
	/* A symbol may be data of the program. */
	enum rcore_part_kind part =
		kind == RCORE_ROOT_SYMBOL ? RCORE_PART_TEXT : RCORE_PART_NAME;
	struct rcore_error *err = *text ? rcore_heap_redact(namer, part, &text) : NULL;
	if (err)
		return err;
	*ret = rcore_arena_printf(namer->arena, "%s%s%s", what, *text ? " " : "", text);
	return *ret ? NULL : rcore_error_no_memory();
}

const struct rcore_thread *rcore_heap_thread_of_root(struct rcore_heap_namer *namer,
						     const struct rcore_heap_root *root)
{
	return root->kind == RCORE_ROOT_MACHINE
		       ? rcore_heap_thread_of_stack(&namer->threads, root->address)
		       : NULL;
}

struct rcore_error *rcore_heap_describe_one_root(struct rcore_heap_namer *namer,
						 const struct rcore_heap_root *root,
						 const char **ret)
{
	struct rcore_error *err = rcore_heap_describe_root(namer, root->kind, root->name, ret);
	const struct rcore_thread *thread = err ? NULL : rcore_heap_thread_of_root(namer, root);
	const char *name = NULL;
	err = thread ? thread_name(namer, thread->name, &name) : err;
	if (err || !thread)
		return err;
	*ret = name ? rcore_arena_printf(namer->arena, "%s of %s \"%s\"", *ret, thread->id,
					 name)
		    : rcore_arena_printf(namer->arena, "%s of %s", *ret, thread->id);
	return *ret ? NULL : rcore_error_no_memory();
}

/* `before` is the step before `step`, or NULL if that is the first. */
static struct rcore_error *describe_step(struct rcore_heap_namer *namer,
					 const struct rcore_heap_step *before,
					 const struct rcore_heap_step *step,
					 struct rcore_heap_link *ret)
{
	struct rcore_error *err = rcore_heap_describe_one(namer, step->node, &ret->object);
	if (err || !before)
		return err;
	ret->is_conservative = rcore_edge_kind(step->label) == RCORE_EDGE_CONSERVATIVE;
	return rcore_heap_describe_edge_of(namer, before->node, step->node, step->label,
					   &ret->how);
}

/* Describes only both ends of a long path, such as one along a list. */
static struct rcore_error *describe_steps(struct rcore_heap_namer *namer,
					  const struct rcore_heap_path *path,
					  struct rcore_heap_route *ret)
{
	enum { ROUTE_END = 16 };
	size_t kept = path->count;
	if (kept > 2 * ROUTE_END) {
		kept = 2 * ROUTE_END;
		ret->omitted = path->count - kept;
		ret->omitted_at = ROUTE_END;
	}
	ret->links = rcore_arena_array(namer->arena, kept, sizeof(*ret->links));
	if (!ret->links)
		return rcore_error_no_memory();
	for (; ret->count < kept; ret->count++) {
		size_t skipped =
			ret->omitted && ret->count >= ret->omitted_at ? ret->omitted : 0;
		const struct rcore_heap_step *step = &path->steps[ret->count + skipped];
		struct rcore_error *err = describe_step(namer, ret->count ? step - 1 : NULL,
							step, &ret->links[ret->count]);
		if (err)
			return err;
	}
	return NULL;
}

struct rcore_error *rcore_heap_describe_route(struct rcore_heap_namer *namer,
					      const struct rcore_heap_paths *paths,
					      uint32_t node, struct rcore_heap_route *ret)
{
	struct rcore_heap_path path;
	*ret = (struct rcore_heap_route){0};
	struct rcore_error *err = rcore_heap_path_init(paths, node, &path);
	if (err || !path.root)
		return err;
	ret->is_conservative = path.root->is_conservative;
	err = rcore_heap_describe_one_root(namer, path.root, &ret->root);
	if (!err)
		err = describe_steps(namer, &path, ret);
	rcore_heap_path_deinit(&path);
	return err;
}

struct rcore_error *rcore_heap_describe_gaps(const struct rcore_heap_namer *namer,
					     struct rcore_heap_gaps *ret)
{
	const struct rcore_heap *heap = namer->heap;
	*ret = (struct rcore_heap_gaps){.absent_pages = heap->absent_pages};
	for (uint32_t node = 0; node < heap->node_count; node++) {
		ret->opaque += (heap->state[node] & RCORE_HEAP_OPAQUE) != 0;
		ret->partial += (heap->state[node] & RCORE_HEAP_PARTIAL) != 0;
	}
	if (heap->problem[0])
		ret->problem = rcore_arena_strdup(namer->arena, heap->problem);
	return heap->problem[0] && !ret->problem ? rcore_error_no_memory() : NULL;
}
