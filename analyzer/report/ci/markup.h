/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_MARKUP_H
#define RCORE_REPORT_MARKUP_H

#include <stdio.h>

/*
 * Writes text of the target in markup: first escapes it as for a terminal
 * (base/text.h), then what is special in the format. (An XML library is not
 * worth it for five characters.)
 */

/* For XML and HTML, in text and in attributes. Keeps newlines. */
void rcore_markup_xml(FILE *out, const char *text);

/*
 * For a paragraph of Markdown: nothing in it becomes markup, a link or a
 * mention.
 */
void rcore_markup_markdown(FILE *out, const char *text);

/*
 * For a workflow command of GitHub: the message, or a property, which also
 * escapes ':' and ','.
 */
void rcore_markup_message(FILE *out, const char *text);
void rcore_markup_property(FILE *out, const char *text);

/*
 * For a message of SARIF, in which "[text](target)" is a link and "{0}" an
 * argument (2.1.0, 3.11.5 and 3.11.6).
 */
void rcore_markup_sarif(FILE *out, const char *text);

/*
 * Writes a path as a relative reference of RFC 3986: escapes everything with
 * "%" except unreserved characters and '/'.
 */
void rcore_markup_uri(FILE *out, const char *path);

#endif
