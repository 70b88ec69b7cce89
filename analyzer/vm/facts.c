/* SPDX-License-Identifier: MIT */
#include "vm/facts.h"

#include <string.h>

#include "base/count.h"
#include "base/filler.h"
#include "base/text.h"
#include "ruby/object/array.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "ruby/get.h"
#include "ruby/object/id_table.h"
#include "ruby/object/string.h"

enum { ANCESTOR_LIMIT = 1000, ARGV_LIMIT = 1000 };

/* Keeps the first error as a problem. Returns it only if memory is short. */
static struct rcore_error *note(struct rcore_ruby *ruby, struct rcore_facts *facts,
				const char *what, struct rcore_error *err)
{
	return rcore_arena_keep_problem(ruby->arena, rcore_error_wrap(err, "%s", what),
					&facts->problem);
}

/*
 * Finds the class Object, starting at the Thread object of a thread. *ret is 0
 * in a pack of --redact all: its names consist of stars.
 */
static struct rcore_error *find_object(struct rcore_ruby *ruby, uint64_t thread, uint64_t *ret)
{
	uint64_t klass;
	*ret = 0;
	struct rcore_error *err = RCORE_GET(ruby, thread, basic, klass, &klass);
	for (int i = 0; !err && klass && i < ANCESTOR_LIMIT; i++) {
		struct rcore_class_name name;
		uint64_t flags;
		err = rcore_flags(ruby, klass, &flags);
		if (!err && (flags & RCORE_T_MASK) == RCORE_T_CLASS) {
			err = rcore_class_name(ruby, klass, &name);
			if (!err && rcore_same_text(name.path, "Object")) {
				*ret = klass;
				return NULL;
			}
			if (!err && name.path && rcore_is_filled(name.path, strlen(name.path)))
				return NULL;
		}
		if (!err)
			err = rcore_class_super(ruby, klass, &klass);
	}
	return err ? err
		   : rcore_error_create(RCORE_ERROR_CORRUPT,
					"the ancestors of Thread do not lead to Object");
}

static struct rcore_error *constant(struct rcore_ruby *ruby, uint64_t object, const char *name,
				    uint64_t *ret)
{
	uint64_t ext, table, entry;
	bool found = false;
	*ret = 0;
	struct rcore_error *err = rcore_classext(ruby, object, &ext);
	if (!err)
		err = RCORE_GET(ruby, ext, classext, const_tbl, &table);
	if (!err)
		err = rcore_id_table_find(ruby, table, name, &found, &entry);
	return err || !found ? err : RCORE_GET(ruby, entry, const_entry, value, ret);
}

static const char *jit_of(const char *description)
{
	static const char *const jits[] = {"YJIT", "ZJIT", "RJIT", "MJIT"};
	for (size_t i = 0; i < RCORE_COUNT(jits); i++) {
		const char *at = strstr(description, jits[i]);
		if (at && at > description && at[-1] == '+')
			return jits[i];
	}
	/* 2.6 and 2.7 have only MJIT, which they call JIT. */
	return strstr(description, " +JIT") ? "MJIT" : NULL;
}

static struct rcore_error *read_description(struct rcore_ruby *ruby, uint64_t object,
					    struct rcore_facts *facts)
{
	uint64_t value;
	struct rcore_error *err = constant(ruby, object, "RUBY_DESCRIPTION", &value);
	if (!err && value)
		err = rcore_string(ruby, value, &facts->description, NULL);
	if (!err && facts->description)
		facts->jit = jit_of(facts->description);
	return err;
}

static struct rcore_error *read_argv(struct rcore_ruby *ruby, uint64_t object,
				     struct rcore_facts *facts)
{
	uint64_t array, elements, count, value;
	struct rcore_error *err = constant(ruby, object, "ARGV", &array);
	if (err || !array)
		return err;
	err = rcore_array(ruby, array, &elements, &count);
	if (err)
		return err;
	if (count > ARGV_LIMIT)
		count = ARGV_LIMIT;
	facts->argv = rcore_arena_array(ruby->arena, count, sizeof(*facts->argv));
	if (!facts->argv)
		return rcore_error_no_memory();
	facts->has_argv = true;
	for (size_t i = 0; i < count && !err; i++) {
		err = rcore_array_at(ruby, array, i, &value);
		if (!err)
			err = rcore_text(ruby, value, &facts->argv[i], NULL);
		if (!err)
			facts->argc++;
	}
	return err;
}

static struct rcore_error *read_gc(struct rcore_ruby *ruby, uint64_t vm,
				   struct rcore_facts *facts)
{
	/*
	 * enum gc_mode of gc.c, from 3.4 on of gc/default/default.c. The
	 * numbers are the same from 2.6 to 4.0; compacting exists from 3.2 on.
	 */
	static const char *const phases[] = {"none", "marking", "sweeping", "compacting"};
	uint64_t objspace, phase, in_gc;
	struct rcore_error *err = RCORE_GET(ruby, vm, vm, objspace, &objspace);
	if (!err)
		err = RCORE_GET(ruby, objspace, objspace, gc_mode, &phase);
	if (!err)
		err = RCORE_GET(ruby, objspace, objspace, during_gc, &in_gc);
	if (err)
		return err;
	facts->gc_phase = phases[phase % 4];
	facts->in_gc = in_gc;
	return NULL;
}

static uint64_t any_thread(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].object && !snapshot->threads[i].problem)
			return snapshot->threads[i].object;
	return 0;
}

struct rcore_error *rcore_vm_constant(struct rcore_ruby *ruby,
				      const struct rcore_snapshot *snapshot, const char *name,
				      uint64_t *ret)
{
	uint64_t thread = any_thread(snapshot), object;
	*ret = 0;
	if (!thread)
		return NULL;
	struct rcore_error *err = find_object(ruby, thread, &object);
	return err || !object ? err : constant(ruby, object, name, ret);
}

struct rcore_error *rcore_vm_facts(struct rcore_ruby *ruby, uint64_t vm,
				   struct rcore_snapshot *snapshot)
{
	struct rcore_facts *facts = &snapshot->facts;
	uint64_t thread = any_thread(snapshot), object = 0, gem = 0;
	struct rcore_error *err = note(ruby, facts, "GC", read_gc(ruby, vm, facts));
	if (err || !thread)
		return err;
	err = note(ruby, facts, "class Object", find_object(ruby, thread, &object));
	if (!err && object)
		err = note(ruby, facts, "RUBY_DESCRIPTION",
			   read_description(ruby, object, facts));
	if (!err && object)
		err = note(ruby, facts, "ARGV", read_argv(ruby, object, facts));
	if (!err && object)
		err = note(ruby, facts, "Gem", constant(ruby, object, "Gem", &gem));
	if (!err)
		err = note(ruby, facts, "gems", rcore_vm_gems(ruby, vm, gem, facts));
	return err;
}
