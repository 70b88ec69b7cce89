/* SPDX-License-Identifier: MIT */
#include "report/html/page.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/version.h"
#include "report/ci/markup.h"
#include "report/html/packed.h"
#include "report/text/style.h"

/* generated from page.css, and its hash */
extern const char rcore_html_style[], rcore_html_style_hash[];

static void write_head(const struct rcore_html_page *page, FILE *out)
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
		page->script_hash, rcore_html_style_hash);
	rcore_markup_xml(out, page->title);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", rcore_html_style);
}

/* The text has been escaped for a terminal already. */
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

/* Returns how much of the text fits, in whole lines. */
static size_t cut(const struct rcore_html_page *page, const char *text, size_t size)
{
	if (!page->text_max || size <= page->text_max)
		return size;
	const char *end = memrchr(text, '\n', page->text_max);
	return end ? (size_t)(end - text) + 1 : 0;
}

static struct rcore_error *write_text(const struct rcore_html_page *page, FILE *out)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = rcore_open_text(&text, &size);
	if (!memory)
		return rcore_error_no_memory();
	struct rcore_error *err = page->write_text(page->context, memory);
	if (fclose(memory) && !err)
		err = rcore_error_no_memory();
	if (!err)
		write_preformatted(text, cut(page, text, size), out);
	if (!err && page->text_max && size > page->text_max)
		fputs("<noscript><p>The rest is cut: rcore prints all of it as "
		      "text.</p></noscript>\n",
		      out);
	free(text);
	return err;
}

static struct rcore_error *write_data(const struct rcore_html_page *page, FILE *out)
{
	struct rcore_packed packed;
	fputs("<script id=\"data\" type=\"text/plain\">", out);
	struct rcore_error *err = rcore_packed_begin(&packed, out);
	if (err)
		return err;
	err = page->write_data(page->context, packed.in);
	struct rcore_error *failure = rcore_packed_end(&packed);
	if (err)
		rcore_error_free(failure);
	else
		err = failure;
	fputs("</script>\n", out);
	return err;
}

struct rcore_error *rcore_html_page_write(const struct rcore_html_page *page, FILE *out)
{
	write_head(page, out);
	struct rcore_error *err = write_text(page, out);
	if (!err)
		err = write_data(page, out);
	if (err)
		return err;
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", page->script);
	return rcore_pen_error(out);
}
