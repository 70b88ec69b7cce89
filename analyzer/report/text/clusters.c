/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "report/result.h"
#include "report/text/style.h"

enum { SHOWN_CORES = 5 };

static const char *const novelties[] = {
	[RCORE_NOVELTY_UNKNOWN] = "",
	[RCORE_NOVELTY_NEW] = "  NEW",
	[RCORE_NOVELTY_KNOWN] = "  known",
};

static void print_words(const struct rcore_pen *pen, const char *before, const char *words)
{
	if (!words)
		return;
	fprintf(pen->out, "    %s", before);
	rcore_escape_write(pen->out, words);
	putc('\n', pen->out);
}

static void print_result(const struct rcore_pen *pen, const struct rcore_result *result)
{
	if (result->cause) {
		fputs("    ", pen->out);
		rcore_escape_write(pen->out, result->cause);
		putc('\n', pen->out);
	}
	print_words(pen, "Ruby said: [BUG] ", result->bug);
	print_words(pen, "Abort message: ", result->abort_message);
	if (!result->blame)
		return;
	fputs("    Blame: ", pen->out);
	rcore_escape_write(pen->out, result->blame);
	if (result->path) {
		fputs("  ", pen->out);
		rcore_escape_write(pen->out, result->path);
		if (result->line)
			fprintf(pen->out, ":%d", result->line);
	}
	if (result->gem) {
		fputs("  gem ", pen->out);
		rcore_escape_write(pen->out, result->gem);
	}
	if (result->native) {
		fputs(", in ", pen->out);
		rcore_escape_write(pen->out, result->native);
	}
	putc('\n', pen->out);
}

static void print_word(const struct rcore_pen *pen, const char *before, const char *word)
{
	if (!word)
		return;
	fputs(before, pen->out);
	rcore_escape_write(pen->out, word);
}

/* "core.1  ruby 3.3.8  till 1.10  on web-1" */
static void print_core(const struct rcore_pen *pen, const struct rcore_result *result)
{
	fputs("      ", pen->out);
	rcore_escape_write(pen->out, result->core);
	print_word(pen, "  ruby ", result->ruby);
	print_word(pen, "  ", result->service);
	print_word(pen, result->service ? " " : "  release ", result->release);
	print_word(pen, "  on ", result->host);
	if (result->status == 1)
		rcore_styled(pen, RCORE_STYLE_PROBLEM, "  (incomplete)");
	putc('\n', pen->out);
}

static void print_cluster(const struct rcore_pen *pen, const struct rcore_cluster *cluster,
			  bool all)
{
	fprintf(pen->out, "%4zu  ", cluster->count);
	rcore_styled(pen, RCORE_STYLE_ID, "%s", cluster->signature);
	rcore_styled(pen,
		     cluster->novelty == RCORE_NOVELTY_NEW ? RCORE_STYLE_PROBLEM
							   : RCORE_STYLE_QUIET,
		     "%s", novelties[cluster->novelty]);
	putc('\n', pen->out);
	print_result(pen, cluster->first);
	if (cluster->similar_to)
		rcore_styled(pen, RCORE_STYLE_QUIET, "    Similar to %s (%u %%)\n",
			     cluster->similar_to, cluster->similarity);
	size_t shown = all || cluster->count <= SHOWN_CORES ? cluster->count : SHOWN_CORES;
	for (size_t i = 0; i < shown; i++)
		print_core(pen, cluster->results[i]);
	if (shown < cluster->count)
		fprintf(pen->out, "      and %zu more (--all shows each)\n",
			cluster->count - shown);
	putc('\n', pen->out);
}

static void print_failed(const struct rcore_pen *pen, const struct rcore_clusters *clusters)
{
	if (!clusters->failed_count)
		return;
	fprintf(pen->out, "%4zu  without a signature\n", clusters->failed_count);
	for (size_t i = 0; i < clusters->failed_count; i++) {
		const struct rcore_result *result = clusters->failed[i];
		fputs("      ", pen->out);
		rcore_escape_write(pen->out, result->core);
		fprintf(pen->out, "  (status %d) ", result->status);
		rcore_escape_write(pen->out, result->error ? result->error : "no stack");
		putc('\n', pen->out);
	}
	putc('\n', pen->out);
}

static void print_gone(const struct rcore_pen *pen, const struct rcore_clusters *clusters)
{
	for (size_t i = 0; i < clusters->gone_count; i++) {
		rcore_styled(pen, RCORE_STYLE_GOOD, "gone  %s", clusters->gone[i]->loose);
		putc('\n', pen->out);
		print_result(pen, clusters->gone[i]);
	}
	if (clusters->gone_count)
		putc('\n', pen->out);
}

struct rcore_error *rcore_report_clusters(const struct rcore_clusters *clusters,
					  const struct rcore_report_options *options, FILE *out)
{
	const struct rcore_pen pen = {.out = out, .color = options && options->color};
	size_t cores = clusters->failed_count, fresh = 0;
	for (size_t i = 0; i < clusters->count; i++) {
		cores += clusters->items[i].count;
		fresh += clusters->items[i].novelty == RCORE_NOVELTY_NEW;
		print_cluster(&pen, &clusters->items[i], options && options->all);
	}
	print_failed(&pen, clusters);
	print_gone(&pen, clusters);
	fprintf(out, "%zu core%s, %zu different crash%s", cores, rcore_plural(cores),
		clusters->count, clusters->count == 1 ? "" : "es");
	if (clusters->count && clusters->items[0].novelty != RCORE_NOVELTY_UNKNOWN)
		fprintf(out, ", %zu new", fresh);
	if (clusters->gone_count)
		fprintf(out, ", %zu gone", clusters->gone_count);
	putc('\n', out);
	return rcore_pen_error(out);
}
