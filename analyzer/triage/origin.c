/* SPDX-License-Identifier: MIT */
#include "triage/origin.h"

#include <ctype.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "image/symbolize/symbolize_gem.h"

/* .../lib/ruby/3.1.0/..., .../lib/ruby/vendor_ruby/... */
static bool is_stdlib(const char *path)
{
	static const char *const folders[] = {"vendor_ruby/", "site_ruby/"};
	for (const char *at = path; (at = strstr(at, "/lib/ruby/"));) {
		at += strlen("/lib/ruby/");
		if (isdigit((unsigned char)*at))
			return true;
		for (size_t i = 0; i < RCORE_COUNT(folders); i++)
			if (!strncmp(at, folders[i], strlen(folders[i])))
				return true;
	}
	return false;
}

enum rcore_origin rcore_origin_of_path(const char *path)
{
	const char *start;
	/*
	 * "(eval at /srv/app.rb:12)" has the origin of that file, which
	 * contains the string.
	 */
	if (!strncmp(path, "(eval at ", 9))
		path += 9;
	if (!strncmp(path, "<internal:", 10))
		return RCORE_ORIGIN_CORE;
	if (rcore_gem_of_path(path, &start))
		return RCORE_ORIGIN_GEM;
	return is_stdlib(path) ? RCORE_ORIGIN_STDLIB : RCORE_ORIGIN_APP;
}

static bool is_one_of(const char *text, const char *const *wanted, size_t count)
{
	for (size_t i = 0; text && i < count; i++)
		if (!strcmp(text, wanted[i]))
			return true;
	return false;
}

bool rcore_is_binstub_named(const char *label, const char *path, const char *inner)
{
	static const char *const tops[] = {"<main>", "<top (required)>"};
	static const char *const loads[] = {"Kernel#load",
					    "Kernel.load",
					    "Kernel#require",
					    "Kernel.require",
					    "Kernel#require_relative",
					    "Gem.activate_and_load_bin_path"};
	if (!path || !is_one_of(label, tops, RCORE_COUNT(tops)) ||
	    !is_one_of(inner, loads, RCORE_COUNT(loads)))
		return false;
	const char *name = strrchr(path, '/');
	size_t folder = name ? (size_t)(name - path) : 0;
	return name && !strchr(name, '.') && folder >= 3 && !strncmp(name - 3, "bin", 3) &&
	       (folder == 3 || name[-4] == '/' || name[-4] == 's');
}

bool rcore_is_binstub(const struct rcore_frame *frame, const struct rcore_frame *inner)
{
	return inner && rcore_is_binstub_named(frame->label, frame->path, inner->label);
}

enum rcore_origin rcore_origin_of_frame(const struct rcore_frame *frame)
{
	if (frame->kind != RCORE_FRAME_RUBY)
		return frame->kind == RCORE_FRAME_BROKEN ? RCORE_ORIGIN_UNKNOWN
							 : RCORE_ORIGIN_CORE;
	return frame->path ? rcore_origin_of_path(frame->path) : RCORE_ORIGIN_UNKNOWN;
}

static bool is_named_extension(const char *module)
{
	return rcore_ends_with(module, ".so") && strncmp(module, "lib", 3);
}

bool rcore_is_extension(const char *path)
{
	const char *start;
	return rcore_gem_of_path(path, &start) || is_named_extension(rcore_base_name(path));
}

enum rcore_origin rcore_origin_of_native(const struct rcore_native_frame *frame)
{
	if (frame->is_interpreter)
		return RCORE_ORIGIN_INTERPRETER;
	if (!frame->module)
		return RCORE_ORIGIN_UNKNOWN;
	return frame->gem || is_named_extension(frame->module) ? RCORE_ORIGIN_EXTENSION
							       : RCORE_ORIGIN_LIBRARY;
}

const char *rcore_origin_name(enum rcore_origin origin)
{
	static const char *const names[] = {
		[RCORE_ORIGIN_APP] = "application",         [RCORE_ORIGIN_GEM] = "gem",
		[RCORE_ORIGIN_STDLIB] = "standard library", [RCORE_ORIGIN_CORE] = "core",
		[RCORE_ORIGIN_EXTENSION] = "extension",     [RCORE_ORIGIN_LIBRARY] = "library",
		[RCORE_ORIGIN_INTERPRETER] = "interpreter", [RCORE_ORIGIN_UNKNOWN] = "unknown",
	};
	return names[origin];
}
