/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/sized.h"
#include "ruby/object/constant.h"
#include "ruby/inspect/printed.h"
#include "session/layout/examine.h"
#include "session/load.h"
#include "session/live/running.h"

/* What to read from the VM: values to print, or names of constants to list. */
struct question {
	const struct rcore_subject *subjects;
	const struct rcore_inspect_options *options;
	struct rcore_print *print;
	const char *begun;
	struct rcore_names *names; /* NULL: print values */
};

static struct rcore_error *print_one(struct rcore_ruby *ruby, const struct question *question,
				     size_t index)
{
	const struct rcore_subject *subject = &question->subjects[index];
	uint64_t value = subject->value;
	struct rcore_error *err = NULL;
	if (subject->constant)
		err = rcore_constant(ruby, subject->constant, &value);
	return err ? err
		   : rcore_print_value(ruby, value, question->options,
				       &question->print->items[index]);
}

/*
 * A constant that is not there gets its problem, so that the others are
 * printed. If none is there, the error of the first one is returned.
 */
static struct rcore_error *print_all(struct rcore_ruby *ruby, const struct question *question)
{
	struct rcore_print *print = question->print;
	struct rcore_error *first = NULL;
	size_t failed = 0;
	for (size_t i = 0; i < print->count; i++) {
		struct rcore_error *err = print_one(ruby, question, i);
		if (!err)
			continue;
		struct rcore_value *value = &print->items[i].value;
		value->problem = rcore_arena_strdup(&print->arena, err->message);
		bool is_short = err->code == RCORE_ERROR_NO_MEMORY || !value->problem;
		if (failed++)
			rcore_error_free(err);
		else
			first = err;
		if (is_short) {
			rcore_error_free(first);
			return rcore_error_no_memory();
		}
	}
	print->redaction.counts[RCORE_REDACTED_STRING] = ruby->hidden_count;
	if (failed == print->count)
		return first;
	rcore_error_free(first);
	return NULL;
}

static struct rcore_error *keep_name(void *context, const char *path)
{
	const struct question *question = context;
	struct rcore_names *names = question->names;
	if (strncmp(path, question->begun, strlen(question->begun)) != 0)
		return NULL;
	const char **item = rcore_push(names);
	if (item)
		*item = rcore_arena_strdup(&names->arena, path);
	return item && *item ? NULL : rcore_error_no_memory();
}

static struct rcore_error *ask(struct rcore_session *session, struct rcore_located *located,
			       struct rcore_arena *arena, struct question *question)
{
	struct rcore_ruby ruby;
	rcore_reader_init(&ruby, &session->target, located, arena);
	ruby.hides_text = session->settings.redact >= RCORE_REDACT_STRINGS;
	struct rcore_error *err =
		question->names ? rcore_constants(&ruby, question->begun, keep_name, question)
				: print_all(&ruby, question);
	rcore_reader_deinit(&ruby, located);
	return err;
}

/* Stops a running process while it reads. */
static struct rcore_error *ask_live(struct rcore_session *session,
				    struct rcore_located *located, struct rcore_arena *arena,
				    struct question *question)
{
	struct rcore_live *live = session->target.live;
	struct rcore_live_pause pause;
	struct rcore_error *err = rcore_live_begin(live, !session->settings.no_stop);
	if (err)
		return err;
	err = ask(session, located, arena, question);
	rcore_live_end(live, &pause);
	struct rcore_error *late = rcore_running_in_time(session, &pause);
	if (!late)
		return err;
	rcore_error_free(err);
	return late;
}

static struct rcore_error *ask_any(struct rcore_session *session, struct rcore_arena *arena,
				   struct question *question)
{
	struct rcore_located *located;
	struct rcore_error *err = rcore_target_check_files(&session->target);
	if (!err)
		err = rcore_session_find(session, &located);
	if (!err)
		err = session->target.live ? ask_live(session, located, arena, question)
					   : ask(session, located, arena, question);
	return rcore_target_judge(&session->target, err);
}

static struct rcore_error *redact(struct rcore_session *session, struct rcore_print *print)
{
	struct rcore_error *err = rcore_session_learn_secrets(session);
	return err ? err : rcore_redact_print(session->redactor, print);
}

struct rcore_error *rcore_print(struct rcore_session *session,
				const struct rcore_subject *subjects, size_t count,
				const struct rcore_print_options *given,
				struct rcore_print **ret)
{
	struct rcore_print_options options = {0};
	struct rcore_error *err = rcore_sized_copy(&options, given);
	if (err)
		return err;
	struct rcore_print *print = calloc(1, sizeof(*print));
	if (!print)
		return rcore_error_no_memory();
	struct question question = {subjects, &options.inspect, print, NULL, NULL};
	print->items = rcore_arena_array(&print->arena, count, sizeof(*print->items));
	print->count = count;
	err = print->items ? ask_any(session, &print->arena, &question)
			   : rcore_error_no_memory();
	if (!err)
		err = redact(session, print);
	if (err)
		rcore_print_free(print);
	else
		*ret = print;
	return err;
}

void rcore_print_free(struct rcore_print *print)
{
	if (!print)
		return;
	rcore_arena_deinit(&print->arena);
	free(print);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void order(struct rcore_names *names)
{
	size_t kept = 0;
	if (names->count)
		qsort(names->items, names->count, sizeof(*names->items), compare);
	for (size_t i = 0; i < names->count; i++)
		if (!kept || strcmp(names->items[kept - 1], names->items[i]) != 0)
			names->items[kept++] = names->items[i];
	names->count = kept;
}

struct rcore_error *rcore_constant_names(struct rcore_session *session, const char *begun,
					 struct rcore_names **ret)
{
	struct rcore_names *names = calloc(1, sizeof(*names));
	struct rcore_arena arena = {0}; /* memory for what is read */
	if (!names)
		return rcore_error_no_memory();
	struct question question = {.begun = begun, .names = names};
	struct rcore_error *err = ask_any(session, &arena, &question);
	rcore_arena_deinit(&arena);
	if (err) {
		rcore_names_free(names);
		return err;
	}
	order(names);
	*ret = names;
	return NULL;
}

void rcore_names_free(struct rcore_names *names)
{
	if (!names)
		return;
	rcore_arena_deinit(&names->arena);
	free(names->items);
	free(names);
}
