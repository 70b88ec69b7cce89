/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_MARKUP_H
#define RCORE_REPORT_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Text of the target in markup: escaped as for a terminal (base/text.h), then
 * what has a meaning to the reader of the format. (Five characters: no reason
 * to load an XML library.)
 */

/* For XML and HTML, in text and in attributes. Newlines stay. */
void rcore_markup_xml(FILE *out, const char *text);

/*
 * For a paragraph of Markdown: nothing in it is taken as markup, a link or a
 * mention.
 */
void rcore_markup_markdown(FILE *out, const char *text);

/*
 * For a workflow command of GitHub: the message, or a property with its ':' and
 * ','.
 */
void rcore_markup_message(FILE *out, const char *text);
void rcore_markup_property(FILE *out, const char *text);

/*
 * For a message of SARIF, where "[text](target)" is a link and "{0}" stands for
 * an argument (2.1.0, 3.11.5 and 3.11.6).
 */
void rcore_markup_sarif(FILE *out, const char *text);

/*
 * A path as a relative reference of RFC 3986: all but unreserved characters and
 * '/' by "%".
 */
void rcore_markup_uri(FILE *out, const char *path);

#endif
