/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/text/text.h"
#include "report/names.h"

enum { GEMS_SHOWN = 8 };

static void print_gc(const struct rcore_text *text, const struct rcore_facts *facts)
{
	FILE *out = text->pen.out;
	if (!facts->gc_phase || (!facts->in_gc && !text->options.verbose))
		return;
	fprintf(out, "GC: %s\n",
		rcore_same_text(facts->gc_phase, "none")
			? facts->in_gc ? "running" : "not running"
			: facts->gc_phase);
}

/*
 * Bundler sets RUBYOPT for each process that it starts: -r and the path of its
 * own setup.rb, which says no more than its name.
 */
static void print_rubyopt(const struct rcore_text *text, const char *rubyopt)
{
	static const char setup[] = "bundler/setup";
	FILE *out = text->pen.out;
	const size_t length = sizeof(setup) - 1;
	fputs("RUBYOPT:", out);
	while (*rubyopt) {
		char *word = strndup(rubyopt, strcspn(rubyopt, " "));
		size_t size = word ? strlen(word) : 0;
		bool is_noise = !text->options.verbose && size > length && word[0] == '-' &&
				word[1] == 'r' && word[size - length - 1] == '/' &&
				!strcmp(word + size - length, setup);
		if (!word)
			return;
		if (size) {
			putc(' ', out);
			rcore_escape_write(out, is_noise ? "-rbundler/setup" : word);
		}
		rubyopt += size;
		rubyopt += *rubyopt == ' ';
		free(word);
	}
	putc('\n', out);
}

static void print_words(const struct rcore_text *text, const struct rcore_facts *facts)
{
	FILE *out = text->pen.out;
	if (facts->argc) {
		fputs("ARGV:", out);
		for (size_t i = 0; i < facts->argc; i++) {
			putc(' ', out);
			rcore_escape_write(out, facts->argv[i]);
		}
		putc('\n', out);
	}
	if (facts->rubyopt)
		print_rubyopt(text, facts->rubyopt);
}

static void print_gems(const struct rcore_text *text, const struct rcore_facts *facts)
{
	FILE *out = text->pen.out;
	char number[RCORE_COUNT_SIZE];
	size_t shown = facts->gem_count;
	if (!shown)
		return;
	if (!text->options.verbose && shown > GEMS_SHOWN + 1)
		shown = GEMS_SHOWN;
	fputs("Gems:", out);
	for (size_t i = 0; i < shown; i++) {
		fputs(i ? ", " : " ", out);
		rcore_escape_write(out, facts->gems[i].name);
		putc(' ', out);
		rcore_escape_write(out, facts->gems[i].version);
	}
	if (shown < facts->gem_count)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET, " and %s more (-v shows them)",
			     rcore_count_text(facts->gem_count - shown, number));
	putc('\n', out);
}

static void print_merged_count(const struct rcore_text *text, size_t merged, size_t all,
			       const char *what, bool is_second)
{
	char one[RCORE_COUNT_SIZE], other[RCORE_COUNT_SIZE];
	if (merged)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET, "%s%s of %s %s",
			     is_second ? ", " : "Merged with equal ones: ",
			     rcore_count_text(merged, one), rcore_count_text(all, other), what);
}

void rcore_text_left_out(const struct rcore_text *text)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t threads = 0, fibers = 0, living = 0;
	for (size_t i = 0; i < snapshot->thread_count; i++)
		living += !snapshot->threads[i].is_ended;
	for (size_t i = 0; i < snapshot->thread_group_count; i++) {
		const struct rcore_thread_group *group = &snapshot->thread_groups[i];
		if (group->count &&
		    rcore_text_is_merged(text, &snapshot->threads[group->threads[0]]))
			threads += text->visible_threads[i] - 1;
	}
	for (size_t i = 0; i < snapshot->group_count && !text->options.all; i++)
		if (text->visible[i] > 1)
			fibers += text->visible[i] - 1;
	if (!threads && !fibers)
		return;
	print_merged_count(text, threads, living, "threads", false);
	print_merged_count(text, fibers, snapshot->fiber_count, "fibers", threads > 0);
	rcore_styled(&text->pen, RCORE_STYLE_QUIET, " (--all shows each)");
	putc('\n', text->pen.out);
}

void rcore_text_facts(const struct rcore_text *text)
{
	const struct rcore_facts *facts = &text->snapshot->facts;
	char number[RCORE_COUNT_SIZE];
	print_gc(text, facts);
	if (text->snapshot->ractor_count > 1)
		fprintf(text->pen.out, "Ractors: %s\n",
			rcore_count_text(text->snapshot->ractor_count, number));
	print_words(text, facts);
	print_gems(text, facts);
	if (facts->problem)
		rcore_text_problem(text, facts->problem);
}
