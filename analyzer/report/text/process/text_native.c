/* SPDX-License-Identifier: MIT */
#include "report/text/process/text_native.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

enum { OFFSET_SIZE = 32 };

/*
 * A C++ name may have thousands of characters. It is printed completely, in two
 * parts.
 */
static const char *function_of(const struct rcore_native_frame *frame, char offset[OFFSET_SIZE])
{
	offset[0] = 0;
	if (frame->is_signal)
		return "<signal handler called>";
	if (!frame->function && frame->module && frame->module_offset) {
		snprintf(offset, OFFSET_SIZE, "+0x%" PRIx64, frame->module_offset);
		return frame->module;
	}
	if (!frame->function) {
		snprintf(offset, OFFSET_SIZE, "0x%" PRIx64, frame->pc);
		return "";
	}
	if (!frame->is_inlined)
		snprintf(offset, OFFSET_SIZE, "+0x%" PRIx64, frame->function_offset);
	return frame->function;
}

size_t rcore_text_native_width(const struct rcore_native_frame *frame)
{
	char offset[OFFSET_SIZE];
	const char *function = function_of(frame, offset);
	return rcore_escape_width(function) + strlen(offset);
}

static const char *trust_words(enum rcore_trust trust)
{
	static const char *const words[] = {
		[RCORE_TRUST_EXACT] = NULL,
		[RCORE_TRUST_CFI] = NULL,
		[RCORE_TRUST_NO_CFI] = "  (no unwind information)",
		[RCORE_TRUST_SCANNED] = "  (found on the stack)",
	};
	return words[trust];
}

void rcore_text_native_frame(const struct rcore_pen *pen,
			     const struct rcore_native_frame *frame, size_t columns)
{
	char offset[OFFSET_SIZE];
	const char *function = function_of(frame, offset);
	size_t width = rcore_escape_width(function) + strlen(offset);
	const char *trust = trust_words(frame->trust);

	fprintf(pen->out, "%8s  ", "");
	rcore_style(pen, RCORE_STYLE_QUIET);
	rcore_escape_write(pen->out, function);
	fputs(offset, pen->out);
	fprintf(pen->out, "%*s", (int)(width < columns ? columns - width : 0) + 2, "");
	if (frame->gem) {
		rcore_escape_write(pen->out, frame->gem);
		fputs(": ", pen->out);
	}
	rcore_escape_write(pen->out, frame->module ? frame->module : "[no file]");
	if (frame->file) {
		putc(' ', pen->out);
		rcore_escape_write(pen->out, frame->file);
		fprintf(pen->out, ":%d", frame->line);
	}
	if (frame->is_inlined)
		fputs("  (inlined)", pen->out);
	if (trust)
		fputs(trust, pen->out);
	rcore_style(pen, RCORE_STYLE_PLAIN);
	putc('\n', pen->out);
}
