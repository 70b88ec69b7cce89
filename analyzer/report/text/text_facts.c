/* SPDX-License-Identifier: MIT */
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
	if (facts->rubyopt) {
		fputs("RUBYOPT: ", out);
		rcore_escape_write(out, facts->rubyopt);
		putc('\n', out);
	}
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
