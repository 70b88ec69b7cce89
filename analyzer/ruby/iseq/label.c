/* SPDX-License-Identifier: MIT */
#include "ruby/iseq/label.h"

#include <inttypes.h>
#include <string.h>

#include "base/filler.h"
#include "ruby/heap/moved.h"
#include "ruby/object/class_name.h"

enum { PARENT_LIMIT = 10000 }; /* nested iseqs */

/* location_format of vm_backtrace.c */
static const char unknown_method[] = "unknown method";

struct label {
	const char *text; /* as the newest Ruby prints it */
	/* The same, with a prefix for a rescue or ensure body. */
	const char *full;
	const char *problem;
};

static struct rcore_error *corrupt(const struct rcore_iseq_info *iseq, const char *text)
{
	return rcore_error_create(RCORE_ERROR_CORRUPT, "iseq 0x%" PRIx64 " %s", iseq->address,
				  text);
}

/* Whether the label starts with one of the words, the last of which is NULL. */
static bool starts_with(const char *label, const char *const *words)
{
	while (*words && strncmp(label, *words, strlen(*words)) != 0)
		words++;
	return *words;
}

/*
 * compile.c labels the body of a class or module "<class:Foo>", "<module:Foo>"
 * or "singleton class", that of a rescue "rescue in foo" and that of an ensure
 * "ensure in foo". defined?() rescues in "defined guard in foo". No method that
 * `def` creates has such a name. An eval has the label of the code around it.
 * In a pack of --redact all, each label consists of stars.
 */
static bool fits_type(const struct rcore_iseq_info *iseq)
{
	static const char *const bodies[] = {"<class:", "<module:", "singleton class", NULL};
	static const char *const rescues[] = {"rescue in ", "defined guard in ", NULL};
	static const char *const ensures[] = {"ensure in ", NULL};
	const char *label = iseq->label;
	bool known = label && !rcore_is_filled(label, strlen(label));
	switch (known ? iseq->type : RCORE_ISEQ_EVAL) {
	case RCORE_ISEQ_CLASS:
		return starts_with(label, bodies);
	case RCORE_ISEQ_RESCUE:
		return starts_with(label, rescues);
	case RCORE_ISEQ_ENSURE:
		return starts_with(label, ensures);
	case RCORE_ISEQ_METHOD:
	case RCORE_ISEQ_BLOCK:
		return !starts_with(label, bodies) && !starts_with(label, rescues) &&
		       !starts_with(label, ensures);
	default:
		return true;
	}
}

static struct rcore_error *check_type(const struct rcore_iseq_info *iseq)
{
	return fits_type(iseq) ? NULL
			       : corrupt(iseq, "has a type that does not match its label");
}

/*
 * Goes from a block to the iseq that has its locals, and counts the blocks on
 * the way.
 */
static struct rcore_error *walk_to_local(struct rcore_ruby *ruby,
					 const struct rcore_iseq_info **iseq, int *levels)
{
	uint64_t local = (*iseq)->local;
	*levels = 0;
	for (int steps = 0; !rcore_is_same_object(ruby, (*iseq)->address, local); steps++) {
		if (!(*iseq)->parent || steps == PARENT_LIMIT)
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "the parents of iseq 0x%" PRIx64
						  " do not lead to its local iseq",
						  (*iseq)->address);
		if ((*iseq)->type == RCORE_ISEQ_BLOCK)
			++*levels;
		struct rcore_error *err = check_type(*iseq);
		if (!err)
			err = rcore_iseq(ruby, (*iseq)->parent, iseq);
		if (err)
			return err;
	}
	return NULL;
}

/*
 * Returns what is certain about an iseq whose label cannot be read, for example
 * because it is a literal of a missing libruby. rb_iseq_new_main() always uses
 * the same label, `def` uses that of the method, and the body of a class is
 * known to be one. "?" replaces the rest.
 */
static const char *label_of_type(struct rcore_ruby *ruby, const struct rcore_iseq_info *iseq,
				 const struct rcore_method_entry *method, bool *is_certain)
{
	bool is_method = iseq->type == RCORE_ISEQ_METHOD && method &&
			 method->type == RCORE_METHOD_ISEQ &&
			 rcore_is_same_object(ruby, method->iseq, iseq->address);
	*is_certain = true;
	if (is_method && method->name)
		return method->name;
	if (iseq->type == RCORE_ISEQ_MAIN)
		return "<main>";
	*is_certain = false;
	return iseq->type == RCORE_ISEQ_TOP     ? "<top ?>"
	       : iseq->type == RCORE_ISEQ_CLASS ? "<class ?>"
						: "?";
}

/*
 * Goes from code to the iseq that names it. For a block, this is the enclosing
 * method, class or file; *levels is its depth (-1: not a block). For a rescue,
 * an ensure or an eval, it is the code that it is part of.
 */
static struct rcore_error *walk_to_named(struct rcore_ruby *ruby,
					 const struct rcore_iseq_info **iseq, int *levels)
{
	struct rcore_error *err = NULL;
	*levels = -1;
	for (int steps = 0; !err && !(err = check_type(*iseq)); steps++) {
		switch ((*iseq)->type) {
		case RCORE_ISEQ_BLOCK:
		case RCORE_ISEQ_PLAIN:
			if (*levels >= 0 || !(*iseq)->parent)
				return corrupt(*iseq, "is a block without a parent");
			err = walk_to_local(ruby, iseq, levels);
			break;
		case RCORE_ISEQ_RESCUE:
		case RCORE_ISEQ_ENSURE:
		case RCORE_ISEQ_EVAL:
			if (!(*iseq)->parent || steps == PARENT_LIMIT)
				return corrupt(*iseq, "has no parent");
			err = rcore_iseq(ruby, (*iseq)->parent, iseq);
			break;
		default:
			return NULL;
		}
	}
	return err;
}

/*
 * Returns the label of an iseq that names itself; a method's includes its
 * class.
 */
static struct rcore_error *label_of_named(struct rcore_ruby *ruby,
					  const struct rcore_method_entry *method,
					  const struct rcore_iseq_info *iseq,
					  struct label *label, bool *is_certain,
					  const char **ret)
{
	const char *problem = NULL;
	*is_certain = true;
	*ret = iseq->label ? iseq->label : label_of_type(ruby, iseq, method, is_certain);
	if (iseq->type != RCORE_ISEQ_METHOD || !method || !method->owner)
		return NULL;
	struct rcore_error *err =
		rcore_qualified_name(ruby, method->owner, *ret, ret, &problem);
	if (!label->problem)
		label->problem = problem;
	return err;
}

/* Puts "block (2 levels) in " before the name of the enclosing code. */
static struct rcore_error *add_levels(struct rcore_ruby *ruby, int levels, const char **text)
{
	if (levels > 1)
		*text = rcore_arena_printf(ruby->arena, "block (%d levels) in %s", levels,
					   *text);
	else if (levels >= 0)
		*text = rcore_arena_printf(ruby->arena, "block in %s", *text);
	return *text ? NULL : rcore_error_no_memory();
}

/*
 * Does the same as calculate_iseq_label, without its recursion: a block's label
 * is a prefix and the label of the enclosing method, class or file, which is
 * not a block.
 */
static struct rcore_error *iseq_label(struct rcore_ruby *ruby,
				      const struct rcore_method_entry *method,
				      const struct rcore_iseq_info *start, struct label *label)
{
	const struct rcore_iseq_info *iseq = start;
	const char *text = NULL;
	bool is_certain = true;
	int levels;
	struct rcore_error *err = walk_to_named(ruby, &iseq, &levels);
	if (!err)
		err = label_of_named(ruby, method, iseq, label, &is_certain, &text);
	if (!err)
		err = add_levels(ruby, levels, &text);
	err = rcore_arena_keep_problem(ruby->arena, err, &label->problem);
	if (err)
		return err;
	if (!is_certain && !label->problem)
		label->problem = iseq->problem;
	if (!text) {
		/* The iseq's own label says what it is. */
		text = label->full = start->label;
		if (!label->problem)
			label->problem = start->problem ? start->problem : iseq->problem;
	}
	label->text = text;
	return NULL;
}

/*
 * Whether the method is written in C, or in Ruby within the core and shown as
 * if it were in C. location_cfunc_p: 4.0 checks for <internal:, 3.4 for
 * BUILTIN_ATTR_C_TRACE.
 */
static struct rcore_error *behaves_like_c(struct rcore_ruby *ruby,
					  const struct rcore_method_entry *method,
					  bool by_c_trace, bool *ret, struct label *label)
{
	const struct rcore_iseq_info *iseq;
	*ret = method && method->type == RCORE_METHOD_CFUNC;
	if (!method || method->type != RCORE_METHOD_ISEQ)
		return NULL;
	struct rcore_error *err = rcore_iseq(ruby, method->iseq, &iseq);
	if (!err)
		*ret = by_c_trace ? iseq->is_c_trace : iseq->is_internal;
	if (!err && !by_c_trace && !iseq->path)
		label->problem = iseq->problem;
	return rcore_arena_keep_problem(ruby->arena, err, &label->problem);
}

static struct rcore_error *make_label(struct rcore_ruby *ruby,
				      const struct rcore_iseq_info *iseq,
				      const struct rcore_method_entry *method, bool by_c_trace,
				      struct label *label)
{
	bool like_c;
	struct rcore_error *err = behaves_like_c(ruby, method, by_c_trace, &like_c, label);
	if (err)
		return err;
	if (iseq && !like_c)
		return iseq_label(ruby, method, iseq, label);
	if (method && method->name) {
		const char *problem = NULL;
		err = rcore_qualified_name(ruby, method->owner, method->name, &label->text,
					   &problem);
		if (!label->problem)
			label->problem = problem;
		return err;
	}
	label->text = unknown_method;
	if (!label->problem)
		label->problem = method ? method->problem : "the frame has no method entry";
	return NULL;
}

/*
 * Ruby 3.4 gives the body of a rescue its method's label, and omits the
 * method's own frame. rcore shows both frames, so their labels must differ.
 */
static struct rcore_error *tell_body(struct rcore_ruby *ruby,
				     const struct rcore_iseq_info *iseq, struct label *label)
{
	if (label->full)
		return NULL;
	const char *body = !iseq                             ? NULL
			   : iseq->type == RCORE_ISEQ_RESCUE ? "rescue"
			   : iseq->type == RCORE_ISEQ_ENSURE ? "ensure"
							     : NULL;
	label->full = body && label->text
			      ? rcore_arena_printf(ruby->arena, "%s in %s", body, label->text)
			      : label->text;
	return label->text && !label->full ? rcore_error_no_memory() : NULL;
}

static struct rcore_error *cached_label(struct rcore_ruby *ruby,
					const struct rcore_iseq_info *iseq,
					const struct rcore_method_entry *method,
					bool by_c_trace, const struct label **ret)
{
	/* Method entries are at multiples of 8. */
	uint64_t first = iseq ? iseq->address : 0;
	uint64_t second = (method ? method->address : 0) | by_c_trace;
	struct label *label = rcore_cache_get(&ruby->labels, first, second);
	if (!label) {
		label = rcore_arena_alloc(&ruby->scratch, sizeof(*label));
		if (!label)
			return rcore_error_no_memory();
		struct rcore_error *err = make_label(ruby, iseq, method, by_c_trace, label);
		if (!err)
			err = tell_body(ruby, iseq, label);
		if (err)
			return err;
		if (!rcore_cache_put(&ruby->labels, &ruby->scratch, first, second, label))
			return rcore_error_no_memory();
	}
	*ret = label;
	return NULL;
}

struct rcore_error *rcore_label(struct rcore_ruby *ruby, const struct rcore_iseq_info *iseq,
				const struct rcore_method_entry *method, const char **ret,
				const char **problem)
{
	const struct label *label;
	struct rcore_error *err = cached_label(ruby, iseq, method, false, &label);
	if (err)
		return err;
	*ret = label->full;
	if (problem && label->problem)
		*problem = label->problem;
	return NULL;
}

struct rcore_error *rcore_native_label(struct rcore_ruby *ruby,
				       const struct rcore_iseq_info *iseq,
				       const struct rcore_method_entry *method,
				       const char **ret)
{
	const struct label *label;
	enum rcore_label_style style = ruby->layout->traits.label_style;
	if (style == RCORE_LABEL_PLAIN) {
		*ret = iseq ? iseq->label : method ? method->name : NULL;
		return NULL;
	}
	struct rcore_error *err =
		cached_label(ruby, iseq, method, style == RCORE_LABEL_QUALIFIED, &label);
	if (!err && label->problem)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "%s", label->problem);
	if (!err)
		*ret = label->text;
	return err;
}
