/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/version.h"
#include "report/ci/markup.h"
#include "report/formats.h"
#include "report/html/packed.h"
#include "report/pick.h"
#include "report/text/style.h"

/*
 * A report to read in a browser: one file that loads nothing. It contains the
 * JSON of the report (docs/json.md), compressed, and a script that shows it.
 * Without scripts, a browser shows the text report instead.
 *
 * The content security policy allows this very script and style sheet, by
 * their hashes, and nothing else, so text of the target cannot become code,
 * even if the script had an error.
 */

/* generated from page.css and the scripts of this folder */
extern const char rcore_html_style[], rcore_html_script[];
/* "sha256-..." of both; generated */
extern const char rcore_html_style_hash[], rcore_html_script_hash[];

static void write_head(const struct rcore_snapshot *snapshot, FILE *out)
{
	fprintf(out,
		"<!DOCTYPE html>\n"
		"<html lang=\"en\">\n"
		"<head>\n"
		"<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"generator\" content=\"rcore " RCORE_VERSION "\">\n"
		"<title>rcore: ",
		rcore_html_script_hash, rcore_html_style_hash);
	rcore_markup_xml(out, snapshot->source ? snapshot->source : "report");
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", rcore_html_style);
}

/* The text report has been escaped for a terminal already. */
static void write_preformatted(const char *text, size_t size, FILE *out)
{
	fputs("<noscript><pre>", out);
	for (size_t i = 0; i < size; i++)
		if (text[i] == '<')
			fputs("&lt;", out);
		else if (text[i] == '&')
			fputs("&amp;", out);
		else
			putc(text[i], out);
	fputs("</pre></noscript>\n", out);
}

static struct rcore_error *write_text(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out)
{
	struct rcore_report_options plain =
		options ? *options : (struct rcore_report_options){0};
	char *text = NULL;
	size_t size = 0;
	plain.color = false;
	FILE *memory = open_memstream(&text, &size);
	if (!memory)
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_report_text(snapshot, &plain, memory);
	if (fclose(memory) && !err)
		err = rcore_error_no_memory();
	if (!err)
		write_preformatted(text, size, out);
	free(text);
	return err;
}

static struct rcore_error *write_data(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out)
{
	struct rcore_packed packed;
	fputs("<script id=\"data\" type=\"text/plain\">", out);
	struct rcore_error *err = rcore_packed_begin(&packed, out);
	if (err)
		return err;
	err = rcore_report_json(snapshot, options, packed.in);
	struct rcore_error *failure = rcore_packed_end(&packed);
	if (err)
		rcore_error_free(failure);
	else
		err = failure;
	fputs("</script>\n", out);
	return err;
}

struct rcore_error *rcore_report_html(const struct rcore_snapshot *snapshot,
				      const struct rcore_report_options *options, FILE *out)
{
	struct rcore_pick pick;
	/* Before anything is written. */
	struct rcore_error *err = rcore_pick_init(snapshot, options, &pick);
	if (err)
		return err;
	write_head(snapshot, out);
	err = write_text(snapshot, options, out);
	if (!err)
		err = write_data(snapshot, options, out);
	if (err)
		return err;
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", rcore_html_script);
	return rcore_pen_error(out);
}
