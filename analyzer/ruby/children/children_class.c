/* SPDX-License-Identifier: MIT */
/*
 * Classes, modules and include classes: gc_mark_children(), mark_m_tbl(),
 * cc_table_mark(), mark_cvc_tbl() and mark_const_entry_i() of gc.c; from 4.0
 * on, gc_mark_classext_module() and gc_mark_classext_iclass(), for the classext
 * of each box.
 */
#include "ruby/children/children_private.h"

#include "ruby/object/class.h"
#include "ruby/object/fields.h"
#include "ruby/object/id_table.h"
#include "ruby/object/st_table.h"

enum {
	BOX_LIMIT = 1 << 16,
	CALL_CACHE_LIMIT = 1 << 20,
	/* METHOD_ENTRY_INVALIDATED of method.h */
	INVALIDATED = 1 << (RCORE_FL_USHIFT + 9),
};

typedef void mark_entry(struct rcore_children *children, uint64_t serial, uint64_t value);

static void each_entry(struct rcore_children *children, uint64_t table, mark_entry *mark)
{
	struct rcore_id_iterator iterator;
	uint64_t serial, value;
	bool found = true;
	if (!table)
		return;
	struct rcore_error *err = rcore_id_table_begin(&iterator, children->ruby, table);
	if (!err)
		rcore_child_count_table(children, iterator.capacity);
	while (!err && found) {
		err = rcore_id_table_next(&iterator, &found, &serial, &value);
		if (!err && found)
			mark(children, serial, value);
	}
	rcore_child_failed(children, err);
}

static void mark_method(struct rcore_children *children, uint64_t serial, uint64_t value)
{
	rcore_child_mark(children, value, RCORE_EDGE_METHOD, serial);
}

static void mark_constant(struct rcore_children *children, uint64_t serial, uint64_t value)
{
	rcore_child_mark(children, RCORE_CHILD_READ(children, value, const_entry, value),
			 RCORE_EDGE_CONSTANT, serial);
	RCORE_CHILD_MARK_AT(children, value, const_entry, file);
}

static void mark_cvar(struct rcore_children *children, uint64_t serial, uint64_t value)
{
	(void)serial;
	RCORE_CHILD_MARK_AT(children, value, cvar_entry, cref);
}

/*
 * Releases of 3.4 after 3.4.9 have the cache first, so the word itself decides:
 * the others of an entry are numbers.
 */
static uint64_t call_cache(struct rcore_children *children, uint64_t entry)
{
	const struct rcore_layout *layout = children->ruby->layout;
	uint64_t cc = RCORE_CHILD_READ(children, entry, cc_entry, cc), word;
	if (rcore_child_is_imemo(children, cc, layout->traits.imemo_callcache))
		return cc;
	for (uint64_t at = 0; at + sizeof(word) <= layout->cc_entry.size; at += sizeof(word))
		if (!rcore_read_u64(children->ruby->memory, entry + at, &word) &&
		    rcore_child_is_imemo(children, word, layout->traits.imemo_callcache))
			return word;
	return cc;
}

static void mark_call_caches(struct rcore_children *children, uint64_t serial, uint64_t value)
{
	const struct rcore_layout *layout = children->ruby->layout;
	(void)serial;
	uint64_t cme = RCORE_CHILD_READ(children, value, cc_entries, cme);
	uint64_t count = RCORE_CHILD_READ(children, value, cc_entries, count);
	/* A flexible array from 4.0 on; before, a pointer. */
	uint64_t flags, entry = layout->cc_entries.entries.size
					? RCORE_CHILD_READ(children, value, cc_entries, entries)
					: value + (uint64_t)layout->cc_entries.entries.offset;
	if (!cme || rcore_read_u64(children->ruby->memory, cme, &flags)) {
		children->state |= RCORE_HEAP_PARTIAL;
		return;
	}
	/* The next marking frees it. */
	if (flags & INVALIDATED || count > CALL_CACHE_LIMIT)
		return;
	rcore_child_mark_named(children, cme, "call caches");
	for (uint64_t i = 0; i < count; i++, entry += layout->cc_entry.size) {
		RCORE_CHILD_MARK_AT(children, entry, cc_entry, ci);
		rcore_child_mark_named(children, call_cache(children, entry), "cc");
	}
}

void rcore_children_of_call_caches(struct rcore_children *children, uint64_t table)
{
	each_entry(children, table, mark_call_caches);
}

static uint64_t method_table(struct rcore_children *children, uint64_t ext)
{
	return rcore_has(&children->ruby->layout->klass.m_tbl)
		       ? RCORE_CHILD_FIELD(children, klass, m_tbl)
		       : RCORE_CHILD_READ(children, ext, classext, m_tbl);
}

static void mark_super(struct rcore_children *children, uint64_t ext)
{
	uint64_t super = rcore_has(&children->ruby->layout->klass.super)
				 ? RCORE_CHILD_FIELD(children, klass, super)
				 : RCORE_CHILD_READ(children, ext, classext, super);
	rcore_child_mark_named(children, super, "superclass");
}

/* From 4.0 on. */
static void mark_module_ext(struct rcore_children *children, uint64_t ext)
{
	mark_super(children, ext);
	each_entry(children, RCORE_CHILD_READ(children, ext, classext, m_tbl), mark_method);
	rcore_child_mark_named(children, RCORE_CHILD_READ(children, ext, classext, fields_obj),
			       "instance variables");
	if (children->ruby->layout->traits.imemo_cvar_entry)
		RCORE_CHILD_MARK_AT(children, ext, classext, cvc_tbl);
	else /* up to 4.0.3 */
		each_entry(children, RCORE_CHILD_READ(children, ext, classext, cvc_tbl),
			   mark_cvar);
	if (!RCORE_CHILD_READ(children, ext, classext, shared_const_tbl))
		each_entry(children, RCORE_CHILD_READ(children, ext, classext, const_tbl),
			   mark_constant);
	each_entry(children, RCORE_CHILD_READ(children, ext, classext, callable_m_tbl),
		   mark_method);
	rcore_child_mark_named(children, RCORE_CHILD_READ(children, ext, classext, cc_tbl),
			       "call caches");
	RCORE_CHILD_MARK_AT(children, ext, classext, classpath);
}

static void mark_iclass_ext(struct rcore_children *children, uint64_t ext)
{
	mark_super(children, ext);
	if (RCORE_CHILD_READ(children, ext, classext, is_origin) &&
	    !RCORE_CHILD_READ(children, ext, classext, origin_shared_mtbl))
		each_entry(children, RCORE_CHILD_READ(children, ext, classext, m_tbl),
			   mark_method);
	RCORE_CHILD_MARK_AT(children, ext, classext, includer);
	each_entry(children, RCORE_CHILD_READ(children, ext, classext, callable_m_tbl),
		   mark_method);
	rcore_child_mark_named(children, RCORE_CHILD_READ(children, ext, classext, cc_tbl),
			       "call caches");
}

typedef void mark_ext(struct rcore_children *children, uint64_t ext);

/* Mirrors rb_class_classext_foreach() of class.c. */
static void each_ext(struct rcore_children *children, mark_ext *mark)
{
	struct rcore_st_iterator iterator;
	uint64_t table = 0, box, ext;
	bool found = true;
	struct rcore_error *err =
		rcore_boxes_of_class(children->ruby, children->object, &table);
	if (!err && table)
		err = rcore_st_begin(&iterator, children->ruby, table, BOX_LIMIT);
	while (!err && table && found) {
		err = rcore_st_next(&iterator, &found, &box, &ext);
		if (!err && found)
			mark(children, ext);
	}
	rcore_child_failed(children, err);
	mark(children, children->object +
			       (uint64_t)children->ruby->layout->klass_and_ext.classext.offset);
}

/* Up to 3.4. */
static void mark_class(struct rcore_children *children, uint64_t ext)
{
	const struct rcore_layout *layout = children->ruby->layout;
	each_entry(children, method_table(children, ext), mark_method);
	if (layout->traits.classes_mark_cvars)
		each_entry(children, RCORE_CHILD_READ(children, ext, classext, cvc_tbl),
			   mark_cvar);
	rcore_children_of_call_caches(children,
				      RCORE_CHILD_READ(children, ext, classext, cc_tbl));
	rcore_children_of_object(children);
	each_entry(children, RCORE_CHILD_READ(children, ext, classext, const_tbl),
		   mark_constant);
	RCORE_CHILD_MARK_AT(children, ext, classext, classpath);
}

/* The classext; 0 while the class is being made, up to 3.1. */
static uint64_t ext_of(struct rcore_children *children)
{
	uint64_t ext = 0;
	rcore_child_failed(children, rcore_classext(children->ruby, children->object, &ext));
	return ext;
}

static void mark_attached(struct rcore_children *children, uint64_t ext)
{
	const struct rcore_layout *layout = children->ruby->layout;
	if ((children->flags & RCORE_T_MASK) == RCORE_T_CLASS &&
	    children->flags & layout->traits.singleton_flag)
		RCORE_CHILD_MARK_AT(children, ext, classext, attached_object);
}

void rcore_children_of_class(struct rcore_children *children)
{
	uint64_t ext = ext_of(children);
	if (ext)
		mark_attached(children, ext);
	if (rcore_has(&children->ruby->layout->classext.super)) {
		each_ext(children, mark_module_ext);
		return;
	}
	mark_super(children, ext);
	if (ext)
		mark_class(children, ext);
}

void rcore_children_of_iclass(struct rcore_children *children)
{
	const struct rcore_traits *traits = &children->ruby->layout->traits;
	if (rcore_has(&children->ruby->layout->classext.super)) {
		each_ext(children, mark_iclass_ext);
		return;
	}
	uint64_t ext = ext_of(children);
	if (ext && children->flags & traits->iclass_origin_flag &&
	    !(children->flags & traits->iclass_shared_mtbl_flag))
		each_entry(children, method_table(children, ext), mark_method);
	mark_super(children, ext);
	if (!ext)
		return;
	if (traits->classes_mark_cvars)
		RCORE_CHILD_MARK_AT(children, ext, classext, includer);
	each_entry(children, RCORE_CHILD_READ(children, ext, classext, callable_m_tbl),
		   mark_method);
	rcore_children_of_call_caches(children,
				      RCORE_CHILD_READ(children, ext, classext, cc_tbl));
}
