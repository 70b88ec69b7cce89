/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"
#include "ruby/iseq/iseq_locals.h"

/* The parameter list of method_inspect of proc.c. */
struct list {
	char *text;
	size_t size;
	FILE *out;
	size_t count;
	bool is_forwarding;
};

static void separate(struct list *list)
{
	if (list->count++)
		fputs(", ", list->out);
}

/* Writes `name`, or a placeholder if there is none, decorated for its kind. */
static void put(struct list *list, const char *before, const char *name, const char *nameless,
		const char *after)
{
	separate(list);
	fprintf(list->out, "%s%s%s", before, name ? name : nameless, after);
}

static void put_parameter(struct list *list, const struct rcore_iseq_local *local)
{
	bool is_sign = local->name && strchr("*&", local->name[0]);
	switch (local->parameter) {
	case RCORE_PARAMETER_REQ:
		put(list, "", local->name, "_", "");
		break;
	case RCORE_PARAMETER_OPT:
		put(list, "", local->name, "_", "=...");
		break;
	case RCORE_PARAMETER_KEYREQ:
		put(list, "", local->name, "", ":");
		break;
	case RCORE_PARAMETER_KEY:
		put(list, "", local->name, "", ": ...");
		break;
	case RCORE_PARAMETER_REST:
		put(list, is_sign ? "" : "*", is_sign ? NULL : local->name,
		    is_sign ? (list->is_forwarding ? "..." : "*") : "", "");
		break;
	case RCORE_PARAMETER_KEYREST:
		if (!is_sign)
			put(list, "**", local->name, "", "");
		else if (!list->count)
			put(list, "**", NULL, "", "");
		break;
	case RCORE_PARAMETER_BLOCK:
		if (!is_sign)
			put(list, "&", local->name, "block", "");
		else if (!list->is_forwarding)
			put(list, "...", NULL, "", "");
		break;
	case RCORE_PARAMETER_NONE:
		break;
	}
}

static bool has_flag(struct rcore_ruby *ruby, const struct rcore_iseq_info *iseq,
		     const struct rcore_field *field)
{
	uint64_t value = 0;
	return rcore_has(field) &&
	       rcore_read_field(ruby->memory, iseq->body, field, &value) == RCORE_FAULT_NONE &&
	       value;
}

static bool is_named(const struct rcore_iseq_local *local, enum rcore_parameter parameter,
		     const char *name)
{
	return local->parameter == parameter && local->name && !strcmp(local->name, name);
}

/* def f(...): three anonymous parameters. Before these had names, only "*". */
static bool forwards(const struct rcore_ruby *ruby, const struct rcore_iseq_local *locals,
		     size_t count, bool takes_keywords)
{
	size_t parameters = takes_keywords;
	bool rest = false, keyrest = takes_keywords, block = false;
	for (size_t i = 0; i < count; i++) {
		parameters += locals[i].parameter != RCORE_PARAMETER_NONE;
		rest = rest || is_named(&locals[i], RCORE_PARAMETER_REST, "*");
		keyrest = keyrest || is_named(&locals[i], RCORE_PARAMETER_KEYREST, "**");
		block = block || is_named(&locals[i], RCORE_PARAMETER_BLOCK, "&");
	}
	if (!ruby->layout->traits.method_forwards_all)
		return rest;
	return rest && keyrest && block && parameters == 3;
}

static bool is_keyword(enum rcore_parameter parameter)
{
	return parameter == RCORE_PARAMETER_KEYREQ || parameter == RCORE_PARAMETER_KEY ||
	       parameter == RCORE_PARAMETER_KEYREST || parameter == RCORE_PARAMETER_BLOCK;
}

static struct rcore_error *put_all(struct list *list, struct rcore_ruby *ruby,
				   const struct rcore_iseq_info *iseq)
{
	const struct rcore_layout *layout = ruby->layout;
	const struct rcore_iseq_local *locals;
	size_t count;
	struct rcore_error *err = rcore_iseq_locals(ruby, iseq, &locals, &count);
	if (err)
		return err;
	bool no_keywords = has_flag(ruby, iseq, &layout->iseq_body.accepts_no_kwarg);
	if (has_flag(ruby, iseq, &layout->iseq_body.forwardable)) {
		put(list, "...", NULL, "", "");
		return NULL;
	}
	/* method_inspect adds a parameter "**" for such a method. */
	bool takes_keywords = has_flag(ruby, iseq, &layout->iseq_body.ruby2_keywords) &&
			      !has_flag(ruby, iseq, &layout->iseq_body.has_kwrest);
	list->is_forwarding = forwards(ruby, locals, count, takes_keywords);
	for (size_t i = 0; i < count; i++) {
		if (no_keywords && (is_keyword(locals[i].parameter) ||
				    locals[i].parameter == RCORE_PARAMETER_NONE)) {
			put(list, "**nil", NULL, "", "");
			no_keywords = false;
		}
		put_parameter(list, &locals[i]);
	}
	if (no_keywords)
		put(list, "**nil", NULL, "", "");
	return NULL;
}

struct rcore_error *rcore_inspect_parameters(struct rcore_ruby *ruby,
					     const struct rcore_iseq_info *iseq,
					     const char **ret)
{
	struct list list = {0};
	list.out = rcore_open_text(&list.text, &list.size);
	if (!list.out)
		return rcore_error_no_memory();
	struct rcore_error *err = put_all(&list, ruby, iseq);
	bool failed = ferror(list.out);
	if (fclose(list.out) != 0 || failed) {
		rcore_error_free(err);
		err = rcore_error_no_memory();
	}
	if (!err) {
		*ret = rcore_arena_strndup(ruby->arena, list.text, list.size);
		if (!*ret)
			err = rcore_error_no_memory();
	}
	free(list.text);
	return err;
}
