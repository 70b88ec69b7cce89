/* SPDX-License-Identifier: MIT */
/*
 * Takes away, one after the other, each rule of ruby/children/ and each kind of
 * root, and prints what the heap of a core then lacks.
 *
 *	rules CORE [SYSROOT]
 *
 * A rule is a way through the code from rcore_children_of() to the visit of a
 * reference: the lines of all calls between them, for one type of object. So
 * each mark of each member is a rule of its own, and a new line of code is a
 * new rule. Nothing in the library knows of this: the addresses of the calls
 * are on the stack. ruby/children/ is built without inlining for it.
 *
 * Prints a line for all: {"marked":N,"reached":N}; for each rule: {"type":T,
 * "name":member, "calls":[addresses], "edges":N}; for each kind of root:
 * {"root":KIND, "edges":N, "lost":N}; and {"fields":[...]}: the members that
 * this Ruby has. Then, for each line of numbers of rules on standard input, how
 * many marked objects are not reached without these.
 */
#include <execinfo.h>
#include <inttypes.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "model/heap/heap.h"
#include "ruby/children/children.h"
#include "ruby/children/children_private.h"
#include "ruby/children/imemo_name.h"
#include "session/heap/heap_graph.h"
#include "session/session.h"

enum { DEPTH = 32, KEY = 512, PAGE_LIMIT = 64 << 10 };

struct rule {
	char *key;
	const char *type, *name;
	size_t call_count;
	void *calls[DEPTH];
	size_t edges;
	bool is_off;
};

struct edge {
	uint32_t target, rule;
};

struct rules {
	const struct rcore_heap *heap;
	struct rcore_ruby *ruby;
	struct {
		struct rule *items;
		size_t count, capacity;
	} all;
	struct {
		struct edge *items;
		size_t count, capacity;
	} edges;
	size_t *first; /* edge of each node */
	const char *type;
	int above; /* calls above rcore_children_of(), itself included */
	bool *seen;
	uint32_t *stack;
};

static const char *const root_kinds[RCORE_ROOT_KINDS] = {
	"vm",        "global", "thread",     "frame",   "symbol",
	"finalizer", "ending", "registered", "machine",
};

static const struct rcore_field *last_field;

uint64_t __real_rcore_child_read(struct rcore_children *children, uint64_t base,
				 const struct rcore_field *field);
uint64_t __wrap_rcore_child_read(struct rcore_children *children, uint64_t base,
				 const struct rcore_field *field);

/* Notes which member of a table of members is read. */
uint64_t __wrap_rcore_child_read(struct rcore_children *children, uint64_t base,
				 const struct rcore_field *field)
{
	last_field = field;
	return __real_rcore_child_read(children, base, field);
}

static void *need(void *pointer)
{
	if (!pointer)
		abort();
	return pointer;
}

static void check(struct rcore_error *err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "rules: %s: %s\n", what, err->message);
	exit(2);
}

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
#define RCORE_FIELD(struct_id, id, paths) \
	{#struct_id "." #id, offsetof(struct rcore_layout, struct_id.id)},
#include "layout/fields.def"
};

static const char *field_name(const struct rcore_layout *layout)
{
	size_t offset = (uintptr_t)last_field - (uintptr_t)layout;
	for (size_t i = 0; i < RCORE_COUNT(fields); i++)
		if (fields[i].offset == offset)
			return fields[i].name;
	return "";
}

static uint32_t find_rule(struct rules *rules, const char *name, void *const *calls,
			  size_t call_count)
{
	char key[KEY];
	int length = snprintf(key, sizeof(key), "%s|%s", rules->type, name);
	for (size_t i = 0; i < call_count && length < KEY; i++)
		length += snprintf(key + length, KEY - (size_t)length, "|%p", calls[i]);
	for (size_t i = 0; i < rules->all.count; i++)
		if (!strcmp(rules->all.items[i].key, key))
			return (uint32_t)i;
	struct rule *rule = need(rcore_push(&rules->all));
	*rule = (struct rule){.key = need(strdup(key)),
			      .type = rules->type,
			      .name = need(strdup(name)),
			      .call_count = call_count};
	memcpy(rule->calls, calls, call_count * sizeof(*calls));
	return (uint32_t)(rules->all.count - 1);
}

static void visit(void *context, const struct rcore_child *child)
{
	struct rules *rules = context;
	void *calls[DEPTH];
	int count = backtrace(calls, DEPTH);
	uint32_t target = rcore_heap_node_at(rules->heap, child->value, false);
	if (target == RCORE_HEAP_NONE || !rules->heap->type[target])
		return;
	/* What is below: this function, and the static one of mark.c. */
	int below = 2, rest = count - below - rules->above;
	if (rest < 1)
		abort();
	const char *name = child->name ? child->name : "";
	if (!strcmp(name, "member"))
		name = field_name(rules->ruby->layout);
	struct edge *edge = need(rcore_push(&rules->edges));
	*edge = (struct edge){target, find_rule(rules, name, calls + below, (size_t)rest)};
	rules->all.items[edge->rule].edges++;
}

static const char *type_of(struct rules *rules, uint64_t flags)
{
	int imemo = rcore_imemo_type(flags);
	return imemo < 0 ? rcore_type_name((enum rcore_type)(flags & RCORE_T_MASK))
			 : rcore_imemo_name(rules->ruby->layout, (unsigned)imemo);
}

/* The calls above rcore_children_of() are the same for all objects. */
static void read_span(struct rules *rules, struct rcore_children *children,
		      const struct rcore_heap_span *span)
{
	static unsigned char buffer[PAGE_LIMIT];
	size_t bytes = (size_t)span->slot_count * span->slot_size;
	bool is_read = !span->is_absent && bytes <= sizeof(buffer) &&
		       !rcore_read(rules->ruby->memory, span->start, buffer, bytes);
	for (uint32_t i = 0; i < span->slot_count; i++) {
		const uint32_t node = span->first_node + i;
		const unsigned char *copy = buffer + (size_t)i * span->slot_size;
		uint64_t flags;
		rules->first[node] = rules->edges.count;
		if (!is_read || !rules->heap->type[node])
			continue;
		memcpy(&flags, copy, sizeof(flags));
		rules->type = type_of(rules, flags);
		rcore_children_of(children, span->start + (uint64_t)i * span->slot_size, copy,
				  span->slot_size);
	}
}

static void reach(struct rules *rules, uint32_t node, uint32_t *depth)
{
	if (!rules->seen[node]) {
		rules->seen[node] = true;
		rules->stack[(*depth)++] = node;
	}
}

/* Returns how many marked objects are reached, without roots of a kind. */
static size_t count_reached(struct rules *rules, int root)
{
	const struct rcore_heap *heap = rules->heap;
	uint32_t depth = 0;
	size_t reached = 0;
	memset(rules->seen, 0, heap->node_count);
	for (size_t i = 0; i < heap->root_count; i++)
		if (heap->roots[i].kind != root)
			reach(rules, heap->roots[i].node, &depth);
	while (depth) {
		uint32_t node = rules->stack[--depth];
		reached += heap->state[node] & RCORE_HEAP_MARKED;
		for (size_t i = rules->first[node]; i < rules->first[node + 1]; i++)
			if (!rules->all.items[rules->edges.items[i].rule].is_off)
				reach(rules, rules->edges.items[i].target, &depth);
	}
	return reached;
}

static void print(struct json_object *line)
{
	puts(json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN));
	json_object_put(line);
}

static void add_number(struct json_object *line, const char *key, size_t number)
{
	json_object_object_add(line, key, json_object_new_int64((int64_t)number));
}

static void print_rule(const struct rule *rule)
{
	struct json_object *line = json_object_new_object(), *calls = json_object_new_array();
	json_object_object_add(line, "type", json_object_new_string(rule->type));
	json_object_object_add(line, "name", json_object_new_string(rule->name));
	for (size_t i = 0; i < rule->call_count; i++)
		json_object_array_add(
			calls, json_object_new_int64((int64_t)(uintptr_t)rule->calls[i]));
	json_object_object_add(line, "calls", calls);
	add_number(line, "edges", rule->edges);
	print(line);
}

static void print_fields(const struct rcore_layout *layout)
{
	struct json_object *line = json_object_new_object(), *names = json_object_new_array();
	for (size_t i = 0; i < RCORE_COUNT(fields); i++) {
		const struct rcore_field *field =
			(const struct rcore_field *)((const char *)layout + fields[i].offset);
		if (rcore_has(field))
			json_object_array_add(names, json_object_new_string(fields[i].name));
	}
	json_object_object_add(line, "fields", names);
	print(line);
}

static void print_all(struct rules *rules)
{
	const struct rcore_heap *heap = rules->heap;
	size_t marked = 0, reached = count_reached(rules, -1);
	for (uint32_t node = 0; node < heap->node_count; node++)
		marked += heap->type[node] && heap->state[node] & RCORE_HEAP_MARKED;
	struct json_object *line = json_object_new_object();
	add_number(line, "marked", marked);
	add_number(line, "reached", reached);
	print(line);
	for (size_t i = 0; i < rules->all.count; i++)
		print_rule(&rules->all.items[i]);
	for (int kind = 0; kind < RCORE_ROOT_KINDS; kind++) {
		size_t count = 0;
		for (size_t i = 0; i < heap->root_count; i++)
			count += heap->roots[i].kind == kind;
		line = json_object_new_object();
		json_object_object_add(line, "root", json_object_new_string(root_kinds[kind]));
		add_number(line, "edges", count);
		add_number(line, "lost", reached - count_reached(rules, kind));
		print(line);
	}
}

static void answer(struct rules *rules)
{
	const size_t reached = count_reached(rules, -1);
	char *line = NULL, *rest;
	size_t size = 0;
	while (getline(&line, &size, stdin) > 0) {
		for (char *word = strtok_r(line, " \n", &rest); word;
		     word = strtok_r(NULL, " \n", &rest)) {
			size_t rule = strtoul(word, NULL, 10);
			if (rule < rules->all.count)
				rules->all.items[rule].is_off = true;
		}
		printf("%zu\n", reached - count_reached(rules, -1));
		fflush(stdout);
		for (size_t i = 0; i < rules->all.count; i++)
			rules->all.items[i].is_off = false;
	}
	free(line);
}

static struct rcore_error *use(struct rcore_heap_namer *namer, void *context)
{
	void *calls[DEPTH];
	struct rules rules = {.heap = namer->heap, .ruby = namer->ruby};
	struct rcore_children children;
	const uint32_t count = namer->heap->node_count;
	(void)context;
	rules.first = need(rcore_calloc((size_t)count + 1, sizeof(*rules.first)));
	rules.seen = need(rcore_calloc(count, sizeof(*rules.seen)));
	rules.stack = need(rcore_calloc(count, sizeof(*rules.stack)));
	/* This function and its callers, and read_span(). */
	rules.above = backtrace(calls, DEPTH) + 1;
	check(rcore_children_init(&children, namer->ruby, visit, &rules), "children");
	for (size_t i = 0; i < namer->heap->span_count; i++)
		read_span(&rules, &children, &namer->heap->spans[i]);
	rules.first[count] = rules.edges.count;
	print_all(&rules);
	print_fields(namer->ruby->layout);
	fflush(stdout);
	answer(&rules);
	rcore_children_deinit(&children);
	for (size_t i = 0; i < rules.all.count; i++) {
		free(rules.all.items[i].key);
		free((char *)rules.all.items[i].name);
	}
	free(rules.all.items);
	free(rules.edges.items);
	free(rules.first);
	free(rules.seen);
	free(rules.stack);
	return NULL;
}

int main(int argc, char **argv)
{
	struct rcore_options options = {.size = sizeof(options)};
	struct rcore_arena arena = {0};
	struct rcore_session *session;
	if (argc < 2) {
		fprintf(stderr, "usage: rules CORE [SYSROOT]\n");
		return 2;
	}
	options.sysroot = argv[2];
	check(rcore_open_core(argv[1], &options, &session), argv[1]);
	check(rcore_session_graph(session, &arena, use, NULL), "heap");
	rcore_arena_deinit(&arena);
	rcore_close(session);
	return 0;
}
