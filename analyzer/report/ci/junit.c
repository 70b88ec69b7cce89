/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/text.h"
#include "report/ci/finding.h"
#include "report/formats.h"
#include "report/ci/markup.h"
#include "report/text/style.h"

/* The text of the element is the text report. */
static struct rcore_error *put_text(const struct rcore_snapshot *snapshot,
				    const struct rcore_report_options *given, FILE *out)
{
	struct rcore_report_options options = given ? *given : (struct rcore_report_options){0};
	options.color = false;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = rcore_open_text(&text, &size);
	if (!stream)
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_report_text(snapshot, &options, stream);
	if (fclose(stream)) {
		rcore_error_free(err);
		err = rcore_error_no_memory();
	}
	if (!err)
		rcore_markup_xml(out, text);
	free(text);
	return err;
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	rcore_markup_xml(out, value);
	putc('"', out);
}

static struct rcore_error *put_failure(const struct rcore_finding *finding,
				       const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out)
{
	fputs(">\n      <failure", out);
	put_attribute(out, "type", finding->kind);
	put_attribute(out, "message", finding->message);
	putc('>', out);
	struct rcore_error *err = put_text(snapshot, options, out);
	fputs("</failure>\n    </testcase>\n", out);
	return err;
}

struct rcore_error *rcore_report_junit(const struct rcore_snapshot *snapshot,
				       const struct rcore_report_options *options, FILE *out)
{
	struct rcore_arena arena = {0};
	struct rcore_finding finding;
	struct rcore_error *err = rcore_finding_make(
		snapshot, options ? options->source_root : NULL, &arena, &finding);
	if (!err) {
		const char *name = finding.present ? finding.title : "no finding";
		const struct rcore_finding_place *place =
			finding.place_count ? &finding.places[0] : NULL;
		fprintf(out,
			"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
			"  <testsuite name=\"rcore\" tests=\"1\" failures=\"%d\" errors=\"0\" "
			"skipped=\"0\"",
			finding.present);
		/* The schema has a file for the suite, but not for the case. */
		if (place)
			put_attribute(out, "file", place->shown_path);
		fputs(">\n    <testcase", out);
		put_attribute(out, "classname", place ? place->shown_path : "rcore");
		put_attribute(out, "name", name);
		if (finding.present)
			err = put_failure(&finding, snapshot, options, out);
		else
			fputs("/>\n", out);
		fputs("  </testsuite>\n</testsuites>\n", out);
	}
	rcore_arena_deinit(&arena);
	return err ? err : rcore_pen_error(out);
}
