/* SPDX-License-Identifier: MIT */
#include "report/ci/finding.h"
#include "base/text.h"
#include "report/formats.h"
#include "report/ci/markup.h"
#include "report/text/style.h"

/*
 * GitHub shows ten annotations of a kind per step, and silently drops the rest.
 */
enum { MAX_ANNOTATIONS = 10 };

static void annotate(FILE *out, const char *level, const struct rcore_finding_place *place,
		     const char *title, const char *message)
{
	fprintf(out, "::%s ", level);
	if (place) {
		fputs("file=", out);
		rcore_markup_property(out, place->path);
		fprintf(out, ",line=%d,", place->line);
	}
	fputs("title=", out);
	rcore_markup_property(out, title);
	fputs("::", out);
	rcore_markup_message(out, message);
	putc('\n', out);
}

static struct rcore_error *write_all(const struct rcore_finding *finding,
				     struct rcore_arena *arena, FILE *out)
{
	const struct rcore_finding_place *places = finding->places;
	size_t shown =
		finding->place_count < MAX_ANNOTATIONS ? finding->place_count : MAX_ANNOTATIONS;
	annotate(out, finding->level, shown ? &places[0] : NULL, finding->title,
		 finding->message);
	for (size_t i = 1; i < shown; i++) {
		bool is_last = i + 1 == shown && finding->place_count > shown;
		const char *more =
			is_last ? rcore_arena_printf(arena, " (%zu more caller%s)",
						     finding->place_count - shown,
						     rcore_plural(finding->place_count - shown))
				: "";
		const char *message = rcore_arena_printf(
			arena, "%s %s%s",
			finding->is_crash ? "On the way to the crash:" : "Called from",
			places[i].label ? places[i].label : "a frame", more ? more : "");
		if (!message)
			return rcore_error_no_memory();
		annotate(out, "notice", &places[i], finding->title, message);
	}
	return rcore_pen_error(out);
}

struct rcore_error *rcore_report_github(const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options, FILE *out)
{
	struct rcore_arena arena = {0};
	struct rcore_finding finding;
	struct rcore_error *err = rcore_finding_make(
		snapshot, options ? options->source_root : NULL, &arena, &finding);
	if (!err && finding.present)
		err = write_all(&finding, &arena, out);
	rcore_arena_deinit(&arena);
	return err;
}
