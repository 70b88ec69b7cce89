/* SPDX-License-Identifier: MIT */
#include "report/text/style.h"

#include <errno.h>
#include <stdarg.h>

#include "base/text.h"

void rcore_style(const struct rcore_pen *pen, enum rcore_style style)
{
	static const char *const codes[] = {
		[RCORE_STYLE_PLAIN] = "\033[0m",    [RCORE_STYLE_CAUSE] = "\033[1;31m",
		[RCORE_STYLE_ID] = "\033[1m",       [RCORE_STYLE_QUIET] = "\033[2m",
		[RCORE_STYLE_PROBLEM] = "\033[33m", [RCORE_STYLE_GOOD] = "\033[32m",
	};
	if (pen->color)
		fputs(codes[style], pen->out);
}

void rcore_styled(const struct rcore_pen *pen, enum rcore_style style, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	if (style != RCORE_STYLE_PLAIN)
		rcore_style(pen, style);
	vfprintf(pen->out, format, args);
	if (style != RCORE_STYLE_PLAIN)
		rcore_style(pen, RCORE_STYLE_PLAIN);
	va_end(args);
}

void rcore_styled_text(const struct rcore_pen *pen, enum rcore_style style, const char *text)
{
	if (style != RCORE_STYLE_PLAIN)
		rcore_style(pen, style);
	rcore_escape_write(pen->out, text);
	if (style != RCORE_STYLE_PLAIN)
		rcore_style(pen, RCORE_STYLE_PLAIN);
}

void rcore_style_problem(const struct rcore_pen *pen, const char *problem)
{
	if (!problem)
		return;
	rcore_style(pen, RCORE_STYLE_PROBLEM);
	fputs("  ! ", pen->out);
	rcore_escape_write(pen->out, problem);
	rcore_style(pen, RCORE_STYLE_PLAIN);
}

struct rcore_error *rcore_pen_error(FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return NULL;
	return rcore_error_os(errno ? errno : EIO, "cannot write the report");
}
