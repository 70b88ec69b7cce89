/* SPDX-License-Identifier: MIT */
/*
 * Code: rb_iseq_mark() of iseq.c; from 3.3 on, rb_iseq_mark_and_move().
 *
 * Which words of the code are objects is known from a bitmap from 3.2 on.
 * Before, the types of each instruction's operands say it, which are in no
 * symbol table. But no other operand can be the address of an object: these are
 * small numbers, IDs, and addresses of code and of malloc memory.
 */
#include "ruby/children/children_private.h"

#include "base/count.h"
#include "ruby/iseq/iseq.h"
#include "ruby/heap/heap.h"

enum {
	CODE_LIMIT = 1 << 24, /* words */
	TABLE_LIMIT = 1 << 20,
	BITS = 64, /* of an iseq_bits_t */
	/* METHOD_ENTRY_INVALIDATED of method.h */
	INVALIDATED = 1 << (RCORE_FL_USHIFT + 9),
};

struct code {
	struct rcore_children *children;
	uint64_t body, encoded, size;
	uint64_t storage, storage_count; /* inline storage */
};

static void mark_operand(const struct code *code, uint64_t place)
{
	uint64_t value;
	if (rcore_read_u64(code->children->ruby->memory, code->encoded + place * sizeof(value),
			   &value))
		code->children->state |= RCORE_HEAP_PARTIAL;
	else
		rcore_child_mark(code->children, value, RCORE_EDGE_OPERAND, place);
}

/* From 3.2 on. */
static void mark_by_bitmap(const struct code *code)
{
	struct rcore_children *children = code->children;
	uint64_t list = RCORE_CHILD_READ(children, code->body, iseq_body, mark_bits), bits;
	if (!list)
		return;
	for (uint64_t i = 0; i * BITS < code->size; i++) {
		/* A single word of bits is in place of the list. */
		bits = list;
		if (code->size > BITS &&
		    rcore_read_u64(children->ruby->memory, list + i * sizeof(bits), &bits)) {
			children->state |= RCORE_HEAP_PARTIAL;
			return;
		}
		for (unsigned bit = 0; bit < BITS && i * BITS + bit < code->size; bit++)
			if (bits >> bit & 1)
				mark_operand(code, i * BITS + bit);
	}
}

static uint64_t storage_at(const struct code *code, uint64_t index)
{
	return code->storage + index * code->children->ruby->layout->inline_storage.size;
}

/* From 3.2 on: those of each kind are in one row. */
static void mark_storage(const struct code *code)
{
	struct rcore_children *children = code->children;
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t at = RCORE_CHILD_READ(children, code->body, iseq_body, ivc_size), entry;
	uint64_t cvars = RCORE_CHILD_READ(children, code->body, iseq_body, icvarc_size);
	uint64_t once = RCORE_CHILD_READ(children, code->body, iseq_body, ise_size);
	uint64_t constants = RCORE_CHILD_READ(children, code->body, iseq_body, ic_size);
	if (!code->storage)
		return;
	if (cvars > TABLE_LIMIT || once > TABLE_LIMIT || constants > TABLE_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < cvars; i++, at++) {
		entry = RCORE_CHILD_READ(children, storage_at(code, at), inline_cvar, entry);
		if (layout->traits.imemo_cvar_entry)
			rcore_child_mark_named(children, entry, "class variable cache");
		else if (entry)
			RCORE_CHILD_MARK_AT(children, entry, cvar_entry, class_value);
	}
	for (uint64_t i = 0; i < once; i++, at++)
		RCORE_CHILD_MARK_AT(children, storage_at(code, at), inline_storage, once_value);
	for (uint64_t i = 0; i < constants; i++, at++)
		rcore_child_mark_named(children,
				       RCORE_CHILD_READ(children, storage_at(code, at),
							inline_constant, entry),
				       "constant cache");
}

static bool is_object(struct rcore_children *children, uint64_t word)
{
	uint64_t value;
	enum rcore_type type;
	return rcore_is_object(children->ruby, word) &&
	       rcore_heap_slot(children->ruby, word, &value, &type) && value == word &&
	       type != RCORE_T_NONE;
}

/*
 * Up to 3.1: what an operand's inline storage holds, which only its contents
 * show. A constant's cache is an object from 3.0 on; up to 2.7 it is not
 * marked, but may hold a cref. A `once` has its value in the second word. The
 * cache of an instance variable points to an entry of malloc memory, whose
 * first word may look like the flags of any object: 3.1's entry of a class
 * variable begins with an index that nothing sets.
 */
static void mark_inline(const struct code *code, uint64_t at)
{
	struct rcore_children *children = code->children;
	const struct rcore_layout *layout = children->ruby->layout;
	const struct rcore_traits *traits = &layout->traits;
	uint64_t first, value = RCORE_CHILD_READ(children, at, inline_storage, once_value);
	if (rcore_read_u64(children->ruby->memory, at, &first)) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	if (traits->imemo_constcache && is_object(children, first) &&
	    rcore_child_is_imemo(children, first, traits->imemo_constcache))
		rcore_child_mark_named(children, first, "constant cache");
	else if (is_object(children, value) &&
		 !rcore_child_is_imemo(children, value, traits->imemo_cref))
		rcore_child_mark_named(children, value, "once");
	else if (rcore_has(&layout->iv_index.class_value) &&
		 rcore_is_object(children->ruby, first))
		RCORE_CHILD_MARK_AT(children, first, iv_index, class_value);
}

/* Up to 3.1. */
static void mark_by_operands(const struct code *code)
{
	struct rcore_children *children = code->children;
	const uint64_t entry_size = children->ruby->layout->inline_storage.size;
	const uint64_t storage_size = code->storage_count * entry_size;
	for (uint64_t done = 0; done < code->size;) {
		uint64_t words[512], some = code->size - done;
		if (some > RCORE_COUNT(words))
			some = RCORE_COUNT(words);
		if (rcore_read(children->ruby->memory, code->encoded + done * sizeof(*words),
			       words, some * sizeof(*words))) {
			children->state |= RCORE_HEAP_PARTIAL;
			return;
		}
		for (uint64_t i = 0; i < some; i++) {
			uint64_t offset = words[i] - code->storage;
			if (entry_size && words[i] >= code->storage && offset < storage_size &&
			    offset % entry_size == 0)
				mark_inline(code, words[i]);
			else if (is_object(children, words[i]))
				rcore_child_mark(children, words[i], RCORE_EDGE_OPERAND,
						 done + i);
		}
		done += some;
	}
}

/*
 * cc_is_active() of iseq.c; before, vm_cc_markable() and vm_cc_invalidated_p().
 */
static bool is_active(struct rcore_children *children, uint64_t cc)
{
	const struct rcore_traits *traits = &children->ruby->layout->traits;
	uint64_t flags, method;
	if (!rcore_child_is_imemo(children, cc, traits->imemo_callcache) ||
	    rcore_read_u64(children->ruby->memory, cc, &flags) ||
	    flags & traits->callcache_unmarkable_flag ||
	    !RCORE_CHILD_READ(children, cc, callcache, klass))
		return false;
	uint64_t cme = RCORE_CHILD_READ(children, cc, callcache, cme);
	if (!cme || rcore_read_u64(children->ruby->memory, cme, &method))
		return false;
	bool is_invalidated = method & INVALIDATED;
	return is_invalidated == traits->iseqs_mark_invalidated;
}

/* From 3.0 on. */
static void mark_calls(struct rcore_children *children, uint64_t body)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t call = RCORE_CHILD_READ(children, body, iseq_body, call_data);
	uint64_t count = RCORE_CHILD_READ(children, body, iseq_body, ci_size);
	if (!rcore_has(&layout->callcache.cme) || !call)
		return;
	if (count > TABLE_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < count; i++, call += layout->call_data.size) {
		uint64_t cc = RCORE_CHILD_READ(children, call, call_data, cc);
		rcore_child_mark_named(children,
				       RCORE_CHILD_READ(children, call, call_data, ci), "call");
		if (layout->traits.iseqs_mark_callcaches && is_active(children, cc))
			rcore_child_mark_named(children, cc, "call cache");
	}
}

static void mark_keywords(struct rcore_children *children, uint64_t body)
{
	uint64_t keyword = RCORE_CHILD_READ(children, body, iseq_body, keyword);
	if (!RCORE_CHILD_READ(children, body, iseq_body, has_kw) || !keyword)
		return;
	uint64_t count = RCORE_CHILD_READ(children, keyword, keyword, num);
	uint64_t required = RCORE_CHILD_READ(children, keyword, keyword, required_num);
	uint64_t values = RCORE_CHILD_READ(children, keyword, keyword, default_values);
	if (count > TABLE_LIMIT || required > count)
		children->state |= RCORE_HEAP_PARTIAL;
	else if (values)
		rcore_child_mark_values(children, values, count - required, RCORE_EDGE_ELEMENT);
}

static void mark_catch_table(struct rcore_children *children, uint64_t body)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t table = RCORE_CHILD_READ(children, body, iseq_body, catch_table);
	uint64_t count = table ? RCORE_CHILD_READ(children, table, catch_table, count) : 0;
	uint64_t entry = table + (uint64_t)layout->catch_table.entries.offset;
	if (count > TABLE_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < count; i++, entry += layout->catch_entry.size)
		RCORE_CHILD_MARK_AT(children, entry, catch_entry, iseq);
}

static void mark_code(struct rcore_children *children, uint64_t body)
{
	const struct rcore_layout *layout = children->ruby->layout;
	/* ISEQ_MARKABLE_ISEQ, up to 3.1 */
	const uint64_t markable = RCORE_IMEMO_FL_USER(4);
	struct code code = {
		.children = children,
		.body = body,
		.encoded = RCORE_CHILD_READ(children, body, iseq_body, iseq_encoded),
		.size = RCORE_CHILD_READ(children, body, iseq_body, iseq_size),
		.storage = RCORE_CHILD_READ(children, body, iseq_body, is_entries),
		.storage_count = RCORE_CHILD_READ(children, body, iseq_body, is_size),
	};
	if (code.size > CODE_LIMIT || code.storage_count > TABLE_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
	} else if (rcore_has(&layout->iseq_body.mark_bits)) {
		mark_storage(&code);
		mark_by_bitmap(&code);
	} else if (children->flags & markable) {
		mark_by_operands(&code);
	}
}

static void mark_body(struct rcore_children *children, uint64_t body)
{
	mark_code(children, body);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, coverage);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, pc2branchindex);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, script_lines);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, label);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, base_label);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, pathobj);
	if (children->ruby->layout->traits.iseqs_mark_local)
		RCORE_CHILD_MARK_AT(children, body, iseq_body, local_iseq);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, parent_iseq);
	RCORE_CHILD_MARK_AT(children, body, iseq_body, mandatory_only_iseq);
	mark_calls(children, body);
	mark_keywords(children, body);
	mark_catch_table(children, body);
}

/* Hooks of TracePoint#enable(target:), up to 3.4. */
static void mark_hooks(struct rcore_children *children)
{
	enum { HOOK_LIMIT = 1 << 16 };
	uint64_t list = RCORE_CHILD_FIELD(children, iseq, local_hooks);
	uint64_t hook = list ? RCORE_CHILD_READ(children, list, hook_list, hooks) : 0;
	for (int steps = 0; hook && steps < HOOK_LIMIT; steps++) {
		RCORE_CHILD_MARK_AT(children, hook, event_hook, data);
		hook = RCORE_CHILD_READ(children, hook, event_hook, next);
	}
	if (hook)
		children->state |= RCORE_HEAP_PARTIAL;
}

void rcore_children_of_iseq(struct rcore_children *children)
{
	/* ISEQ_NOT_LOADED_YET and ISEQ_USE_COMPILE_DATA of iseq.h */
	const uint64_t not_loaded = RCORE_IMEMO_FL_USER(1), compiling = RCORE_IMEMO_FL_USER(2);
	uint64_t body = RCORE_CHILD_FIELD(children, iseq, body);
	RCORE_CHILD_MARK(children, iseq, wrapper);
	if (body)
		mark_body(children, body);
	if (children->flags & not_loaded) {
		RCORE_CHILD_MARK(children, iseq, loader_obj);
	} else if (children->flags & compiling) {
		uint64_t data = RCORE_CHILD_FIELD(children, iseq, aux);
		if (data) {
			RCORE_CHILD_MARK_AT(children, data, compile_data, err_info);
			RCORE_CHILD_MARK_AT(children, data, compile_data, catch_table_ary);
		}
		/* Its instructions are a list that is not read. */
		children->state |= RCORE_HEAP_PARTIAL;
	} else {
		mark_hooks(children);
	}
}
