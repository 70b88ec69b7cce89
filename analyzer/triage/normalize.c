/* SPDX-License-Identifier: MIT */
#include "triage/normalize.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"

/*
 * Returns the length of what precedes the method's name: "block in ", "block (2
 * levels) in ", "rescue in " ...; 0 if nothing does.
 */
static size_t prefix_of(const char *label, bool *is_block)
{
	static const char *const words[] = {"block in ", "rescue in ", "ensure in "};
	*is_block = !strncmp(label, "block ", 6);
	for (size_t i = 0; i < RCORE_COUNT(words); i++)
		if (!strncmp(label, words[i], strlen(words[i])))
			return strlen(words[i]);
	if (strncmp(label, "block (", 7))
		return 0;
	const char *end = strstr(label, " levels) in ");
	size_t digits = strspn(label + 7, "0123456789");
	return end && digits && end == label + 7 + digits
		       ? (size_t)(end - label) + strlen(" levels) in ")
		       : 0;
}

/*
 * Turns "_app_views_users_show_html_erb___1046_2340" into
 * "_app_views_users_show_html_erb": ActionView appends a hash and an object id
 * to its names.
 */
static size_t without_numbers(const char *name, size_t length)
{
	size_t end = length, groups = 0;
	while (end && isdigit((unsigned char)name[end - 1])) {
		size_t start = end;
		while (start && isdigit((unsigned char)name[start - 1]))
			start--;
		if (!start || name[start - 1] != '_')
			break;
		while (start && name[start - 1] == '_')
			start--;
		end = start;
		groups++;
	}
	return groups >= 2 && end ? end : length;
}

/* Removes ":0x00007f...", as in "#<Class:0x00007f8a>". */
static size_t without_addresses(char *text, size_t length)
{
	size_t kept = 0;
	for (size_t i = 0; i < length;) {
		if (!strncmp(text + i, ":0x", 3)) {
			i += 3;
			i += strspn(text + i, "0123456789abcdef");
			continue;
		}
		text[kept++] = text[i++];
	}
	text[kept] = 0;
	return kept;
}

const char *rcore_normalize_label(struct rcore_arena *arena, const char *label, bool bare)
{
	bool block = false, is_block;
	for (size_t length; (length = prefix_of(label, &is_block)); label += length)
		block |= is_block;
	char *name = rcore_arena_strdup(arena, label);
	if (!name)
		return NULL;
	name[without_numbers(name, without_addresses(name, strlen(name)))] = 0;
	return block && !bare ? rcore_arena_printf(arena, "block in %s", name) : name;
}

/*
 * libc has some functions once for each kind of processor, such as
 * "__memmove_avx512_unaligned_erms".
 */
static size_t without_variant(const char *function)
{
	static const char *const variants[] = {"_avx", "_evex",  "_sse",     "_ssse",
					       "_sve", "_asimd", "_generic", "_erms"};
	size_t length = strcspn(function, ".@");
	for (size_t i = 0; i < RCORE_COUNT(variants); i++) {
		const char *at = strstr(function, variants[i]);
		if (at > function && (size_t)(at - function) < length)
			length = (size_t)(at - function);
	}
	return length;
}

static bool is_libc(const char *module)
{
	return !strncmp(module, "libc.so", 7);
}

/*
 * In glibc, memcpy() and memmove() are two names of the same code for most
 * processors. Which name a frame gets depends on the order in the symbol table.
 */
static const char *libc_function(struct rcore_arena *arena, const char *function)
{
	static const char two[] = "__memmove", one[] = "__memcpy";
	bool is_alias = !strncmp(function, two, strlen(two));
	int length = (int)without_variant(function);
	if (!is_alias)
		return rcore_arena_printf(arena, "%.*s", length, function);
	return rcore_arena_printf(arena, "%s%.*s", one, length - (int)strlen(two),
				  function + strlen(two));
}

const char *rcore_normalize_native(struct rcore_arena *arena,
				   const struct rcore_native_frame *frame)
{
	const char *module = frame->module ? frame->module : "(no file)";
	const char *suffix = strstr(module, ".so");
	int length = (int)(suffix ? (size_t)(suffix - module) : strlen(module));
	const char *function = frame->function;
	if (!function)
		return rcore_arena_printf(arena, "%.*s", length, module);
	if (is_libc(module))
		function = libc_function(arena, function);
	if (!function)
		return NULL;
	return rcore_arena_printf(arena, "%.*s!%.*s", length, module,
				  (int)strcspn(function, ".@"), function);
}

bool rcore_native_name(struct rcore_arena *arena, const struct rcore_native_frame *frame,
		       const char **ret)
{
	*ret = frame->function;
	if (frame->function || !frame->module || !frame->module_offset)
		return true;
	*ret = rcore_arena_printf(arena, "%s+0x%" PRIx64, frame->module, frame->module_offset);
	return *ret;
}

const char *rcore_normalize_path(struct rcore_arena *arena, const char *path)
{
	if (!strncmp(path, "(eval", 5))
		return "(eval)";
	return rcore_arena_strdup(arena, rcore_base_name(path));
}
