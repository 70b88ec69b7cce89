/* SPDX-License-Identifier: MIT */
#include "session/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/unwind/va_list.h"

enum { MESSAGE_LIMIT = 1024 };

/*
 * Reads up to the NUL, at most `size` - 1 bytes. Returns false if it cannot be
 * read.
 */
static bool read_text(struct rcore_memory *memory, uint64_t address, char *text, size_t size)
{
	for (size_t i = 0; i + 1 < size; i++) {
		if (rcore_read(memory, address + i, text + i, 1)) {
			text[i] = 0;
			return i > 0;
		}
		if (!text[i])
			return true;
	}
	text[size - 1] = 0;
	return true;
}

static const char *keep(struct rcore_snapshot *snapshot, char *text)
{
	for (size_t length = strlen(text); length && strchr("\n\r ", text[length - 1]);)
		text[--length] = 0;
	return text[0] ? rcore_arena_strdup(&snapshot->arena, text) : NULL;
}

/*
 * glibc keeps the last message before an abort: __abort_msg points to {
 * unsigned size; char msg[]; } (__libc_message of sysdeps/posix/libc_fatal.c,
 * assert/assert.c).
 */
static const char *abort_message(const struct rcore_target *target,
				 struct rcore_snapshot *snapshot)
{
	char text[MESSAGE_LIMIT];
	size_t count = rcore_modules_count(target->modules);
	for (size_t i = 0; i < count; i++) {
		struct rcore_module *module = rcore_modules_get(target->modules, i);
		const char *path = module->path;
		struct rcore_symbol symbol;
		uint64_t message;
		if (!path || strncmp(rcore_base_name(path), "libc", 4) ||
		    !rcore_module_symbol(target->modules, module, "__abort_msg", &symbol) ||
		    rcore_read_u64(target->memory, symbol.address, &message) || !message)
			continue;
		if (read_text(target->memory, message + sizeof(unsigned), text, sizeof(text)))
			return keep(snapshot, text);
	}
	return NULL;
}

/*
 * The arguments of a message. If `list` is NULL, they are unknown. Texts among
 * them may be contents of Strings.
 */
struct arguments {
	struct rcore_va_list *list;
	bool hides_text;
};

/* One conversion of a format. */
struct conversion {
	bool is_long;
	char letter;
};

static const char *parse(const char *format, struct conversion *ret)
{
	*ret = (struct conversion){0};
	format += strspn(format, "-+ #0123456789.*");
	for (; *format && strchr("hlqjzt", *format); format++)
		ret->is_long |= *format != 'h';
	ret->letter = *format;
	return *format ? format + 1 : format;
}

static void convert(const struct arguments *arguments, const struct conversion *conversion,
		    FILE *out)
{
	struct rcore_va_list *list = arguments->list;
	uint64_t value = 0;
	char text[MESSAGE_LIMIT];
	if (conversion->letter == '%') {
		putc('%', out);
		return;
	}
	if (!list || !rcore_va_list_next(list, &value)) {
		fputs("...", out);
		return;
	}
	switch (conversion->letter) {
	case 's':
		if (!value || arguments->hides_text ||
		    !read_text(list->memory, value, text, sizeof(text)))
			strcpy(text, "...");
		fputs(text, out);
		break;
	case 'd':
	case 'i':
		fprintf(out, "%" PRId64,
			conversion->is_long ? (int64_t)value : (int64_t)(int32_t)value);
		break;
	case 'u':
		fprintf(out, "%" PRIu64, conversion->is_long ? value : (uint32_t)value);
		break;
	case 'x':
	case 'X':
		fprintf(out, "%" PRIx64, conversion->is_long ? value : (uint32_t)value);
		break;
	case 'c':
		putc((int)(value & 0x7f), out);
		break;
	case 'p':
		fprintf(out, "0x%" PRIx64, value);
		break;
	default:
		fputs("...", out);
	}
}

/*
 * Formats like printf(), without widths. Prints "..." for an unknown
 * conversion, and for text that cannot be read.
 */
static void expand(const char *format, const struct arguments *arguments, FILE *out)
{
	while (*format) {
		struct conversion conversion;
		if (*format != '%') {
			putc(*format++, out);
			continue;
		}
		format = parse(format + 1, &conversion);
		/* CRuby's own conversion of a VALUE, PRIsVALUE. */
		if (*format == '\v')
			format++;
		convert(arguments, &conversion, out);
	}
}

/*
 * rb_bug() prints "[BUG] " and its message to stderr, and does not keep them.
 * But its frame is still on the stack: the arguments are in its va_list, and
 * the format is a constant that its caller loaded, or on the stack of its
 * caller, or where libffi left it. Otherwise the message is unknown. A format
 * that is not a constant may be a part of a String.
 */
static const char *bug_message(const struct rcore_target *target, bool hides_text,
			       const struct rcore_native_frame *frames, size_t count,
			       struct rcore_snapshot *snapshot)
{
	char format[MESSAGE_LIMIT], *text = NULL;
	size_t size = 0, at = 0;
	while (at + 1 < count &&
	       (!frames[at].function || strcmp(frames[at].function, "rb_bug") != 0))
		at++;
	if (at + 1 >= count)
		return NULL;
	unsigned machine = target->process->machine;
	struct rcore_va_list list;
	bool is_constant;
	bool has_list = rcore_va_list_find(target->memory, machine, frames[at].sp,
					   frames[at + 1].sp, &list);
	uint64_t address = rcore_first_argument(target->memory, machine, frames[at + 1].pc,
						frames[at + 1].sp, &is_constant);
	if (!address && has_list)
		address = rcore_first_argument_of_libffi(&list, frames[at + 1].pc,
							 frames[at + 1].sp);
	if (!address || (hides_text && !is_constant) ||
	    !read_text(target->memory, address, format, sizeof(format)))
		return NULL;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return NULL;
	const struct arguments arguments = {has_list ? &list : NULL, hides_text};
	expand(format, &arguments, out);
	const char *kept = fclose(out) ? NULL : keep(snapshot, text);
	free(text);
	return kept;
}

void rcore_session_last_words(const struct rcore_target *target, bool hides_text,
			      struct rcore_snapshot *snapshot)
{
	struct rcore_cause *cause = &snapshot->cause;
	int tid = target->process->crashed_tid;
	if (!tid || rcore_target_was_alive(target))
		return;
	cause->abort_message = abort_message(target, snapshot);
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->tid != tid || thread->is_ended || thread->current_fiber < 0)
			continue;
		const struct rcore_fiber *fiber = &snapshot->fibers[thread->current_fiber];
		cause->bug = bug_message(target, hides_text, fiber->native, fiber->native_count,
					 snapshot);
	}
}
