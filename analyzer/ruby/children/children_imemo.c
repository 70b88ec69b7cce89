/* SPDX-License-Identifier: MIT */
/*
 * The VM's own objects: gc_mark_imemo() and mark_method_entry() of gc.c; from
 * 3.4 on, rb_imemo_mark_and_move() and mark_and_move_method_entry() of imemo.c.
 */
#include "ruby/children/children_private.h"

#include "base/count.h"
#include "ruby/iseq/method.h"

enum {
	ENV_LIMIT = 1 << 24,
	BUFFER_LIMIT = 1 << 26,
	NEXT_LIMIT = 1 << 16,
	/* VM_ENV_DATA_INDEX_SPECVAL of vm_core.h is -1. */
	ENV_DATA_INDEX_ENV = 1,
	/*
	 * Words after the variables: VM_ENV_DATA_SIZE, and the rb_env_t. The
	 * last two begin at ep.
	 */
	ENV_DATA = 4,
	ENV_DATA_AFTER_EP = 2,
	ENV_FLAG_LOCAL = 2,
	ENV_FLAG_ESCAPED = 4,
};

/* Visits the environment around one: rb_vm_env_prev_env() of vm.c. */
static void mark_outer(struct rcore_children *children, uint64_t ep)
{
	struct rcore_memory *memory = children->ruby->memory;
	uint64_t flags, outer, env;
	if (rcore_read_u64(memory, ep, &flags) || flags & ENV_FLAG_LOCAL ||
	    rcore_read_u64(memory, ep - sizeof(uint64_t), &outer))
		return;
	outer &= ~UINT64_C(3);
	if (!rcore_read_u64(memory, outer, &flags) && flags & ENV_FLAG_ESCAPED &&
	    !rcore_read_u64(memory, outer + ENV_DATA_INDEX_ENV * sizeof(uint64_t), &env))
		rcore_child_mark_named(children, env, "outer environment");
}

/* Visits the words that follow the variables of an environment. */
static void mark_env_data(struct rcore_children *children, uint64_t address, uint64_t count)
{
	static const char *const names[] = {"method entry", "block", "flags", "itself"};
	uint64_t values[RCORE_COUNT(names)];
	if (rcore_read(children->ruby->memory, address, values, count * sizeof(*values))) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	for (uint64_t i = 0; i < count; i++)
		rcore_child_mark_named(children, values[i], names[i]);
}

/*
 * The arguments that `...` forwards precede the variables and have no names
 * (vm_make_env_each() of vm.c).
 */
static void mark_variables(struct rcore_children *children, uint64_t ep)
{
	uint64_t values = RCORE_CHILD_FIELD(children, env, values);
	uint64_t count = RCORE_CHILD_FIELD(children, env, count);
	uint64_t iseq = RCORE_CHILD_FIELD(children, env, iseq);
	if (count > ENV_LIMIT) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	uint64_t size = rcore_child_count_locals(children, iseq);
	if (count < ENV_DATA || size > count - ENV_DATA ||
	    ep != values + (count - ENV_DATA_AFTER_EP) * sizeof(uint64_t)) {
		rcore_child_mark_values(children, values, count, RCORE_EDGE_ELEMENT);
		return;
	}
	rcore_child_mark_values(children, values, count - ENV_DATA - size, RCORE_EDGE_ELEMENT);
	rcore_child_mark_locals(children, iseq, ep, size);
	mark_env_data(children, values + (count - ENV_DATA) * sizeof(uint64_t), ENV_DATA);
}

static void mark_env(struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t ep = RCORE_CHILD_FIELD(children, env, ep);
	if (!ep)
		return;
	mark_variables(children, ep);
	if (!layout->traits.envs_mark_code_first)
		mark_outer(children, ep);
	RCORE_CHILD_MARK(children, env, iseq);
	if (layout->traits.envs_mark_code_first)
		mark_outer(children, ep);
}

static void mark_cref(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, cref, klass);
	RCORE_CHILD_MARK(children, cref, next);
	RCORE_CHILD_MARK(children, cref, refinements);
}

static void mark_svar(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, svar, cref_or_me);
	RCORE_CHILD_MARK(children, svar, lastline);
	RCORE_CHILD_MARK(children, svar, backref);
	RCORE_CHILD_MARK(children, svar, others);
}

/* Visits a word that gc_mark_maybe() marks if it looks like an object. */
static void mark_maybe(struct rcore_children *children, uint64_t value, uint64_t place)
{
	rcore_child_mark(children, value, RCORE_EDGE_CONSERVATIVE, place);
}

static void mark_memo(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, memo, v1);
	RCORE_CHILD_MARK(children, memo, v2);
	mark_maybe(children, RCORE_CHILD_FIELD(children, memo, u3), 2);
}

/* rb_gc_mark_locations(): all words may be references. */
static void mark_tmpbuf(struct rcore_children *children)
{
	uint64_t ptr = RCORE_CHILD_FIELD(children, tmpbuf, ptr);
	uint64_t count = RCORE_CHILD_FIELD(children, tmpbuf, count);
	uint64_t next = RCORE_CHILD_FIELD(children, tmpbuf, next);
	for (int steps = 0; steps < NEXT_LIMIT; steps++) {
		if (count > BUFFER_LIMIT)
			children->state |= RCORE_HEAP_PARTIAL;
		else if (ptr)
			rcore_child_mark_values(children, ptr, count, RCORE_EDGE_CONSERVATIVE);
		if (!next)
			return;
		ptr = RCORE_CHILD_READ(children, next, tmpbuf, ptr);
		count = RCORE_CHILD_READ(children, next, tmpbuf, count);
		next = RCORE_CHILD_READ(children, next, tmpbuf, next);
	}
	children->state |= RCORE_HEAP_PARTIAL;
}

static void mark_callcache(struct rcore_children *children)
{
	/* VM_CALLCACHE_SUPER and _REFINEMENT of vm_callinfo.h, 3.3 on */
	const uint64_t unchained = RCORE_IMEMO_FL_USER(2) | RCORE_IMEMO_FL_USER(3);
	const struct rcore_layout *layout = children->ruby->layout;
	if (RCORE_CHILD_FIELD(children, callcache, klass) == (uint64_t)layout->constant.qundef)
		return; /* invalidated, in 4.0 */
	if (!layout->traits.callcaches_mark_all && !(children->flags & unchained))
		return;
	RCORE_CHILD_MARK(children, callcache, cme);
	if (layout->traits.callcaches_mark_class)
		RCORE_CHILD_MARK(children, callcache, klass);
}

static void mark_cvar_entry(struct rcore_children *children)
{
	RCORE_CHILD_MARK(children, cvar_entry, class_value);
	RCORE_CHILD_MARK(children, cvar_entry, cref);
}

static void mark_hooks(struct rcore_children *children, uint64_t list)
{
	uint64_t hook = list ? RCORE_CHILD_READ(children, list, hook_list, hooks) : 0;
	for (int steps = 0; hook && steps < NEXT_LIMIT; steps++) {
		RCORE_CHILD_MARK_AT(children, hook, event_hook, data);
		hook = RCORE_CHILD_READ(children, hook, event_hook, next);
	}
	if (hook)
		children->state |= RCORE_HEAP_PARTIAL;
}

static void children_of_method_entry(struct rcore_children *children)
{
	uint64_t def = RCORE_CHILD_FIELD(children, cme, def);
	RCORE_CHILD_MARK(children, cme, owner);
	RCORE_CHILD_MARK(children, cme, defined_class);
	if (!def)
		return;
	switch (RCORE_CHILD_READ(children, def, method_def, type)) {
	case RCORE_METHOD_ISEQ:
		RCORE_CHILD_MARK_AT(children, def, method_def, iseqptr);
		RCORE_CHILD_MARK_AT(children, def, method_def, cref);
		/* It pins itself: it may be a key of overloaded_cme. */
		if (RCORE_CHILD_READ(children, def, method_def, iseq_overload) &&
		    RCORE_CHILD_FIELD(children, cme, defined_class))
			rcore_child_mark_named(children, children->object, "itself");
		break;
	case RCORE_METHOD_ATTRSET:
	case RCORE_METHOD_IVAR:
		RCORE_CHILD_MARK_AT(children, def, method_def, attr_location);
		break;
	case RCORE_METHOD_BMETHOD:
		RCORE_CHILD_MARK_AT(children, def, method_def, bmethod_proc);
		mark_hooks(children,
			   RCORE_CHILD_READ(children, def, method_def, bmethod_hooks));
		break;
	case RCORE_METHOD_ALIAS:
		RCORE_CHILD_MARK_AT(children, def, method_def, alias_me);
		break;
	case RCORE_METHOD_REFINED:
		RCORE_CHILD_MARK_AT(children, def, method_def, refined_me);
		RCORE_CHILD_MARK_AT(children, def, method_def, refined_owner);
		break;
	default:
		break;
	}
}

void rcore_children_of_imemo(struct rcore_children *children)
{
	const struct rcore_layout *layout = children->ruby->layout;
	const struct rcore_traits *traits = &layout->traits;
	const unsigned type = (unsigned)rcore_imemo_type(children->flags);
	if (type == layout->constant.imemo_fields)
		rcore_children_of_fields(children);
	else if (type == traits->imemo_env)
		mark_env(children);
	else if (type == traits->imemo_cref)
		mark_cref(children);
	else if (type == traits->imemo_svar)
		mark_svar(children);
	else if (type == traits->imemo_throw_data)
		RCORE_CHILD_MARK(children, throw_data, throw_obj);
	else if (type == traits->imemo_ifunc)
		mark_maybe(children, RCORE_CHILD_FIELD(children, ifunc, data), 0);
	else if (type == traits->imemo_memo)
		mark_memo(children);
	else if (type == traits->imemo_ment)
		children_of_method_entry(children);
	else if (type == traits->imemo_iseq)
		rcore_children_of_iseq(children);
	else if (type == traits->imemo_tmpbuf)
		mark_tmpbuf(children);
	else if (type == traits->imemo_callcache)
		mark_callcache(children);
	else if (type == traits->imemo_constcache)
		RCORE_CHILD_MARK(children, constcache, value);
	else if (type == traits->imemo_cvar_entry)
		mark_cvar_entry(children);
	else if (type != traits->imemo_callinfo)
		children->state |= RCORE_HEAP_OPAQUE; /* of the parser */
}
