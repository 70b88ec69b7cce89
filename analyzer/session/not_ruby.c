/* SPDX-License-Identifier: MIT */
#include "session/layout/identify.h"

#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "layout/layout.h"

/*
 * Other implementations of Ruby, with a file that they map or a function that
 * they export.
 */
static const struct {
	const char *file, *symbol, *name;
} implementations[] = {
	{"libtruffleruby", NULL, "TruffleRuby"},
	{"librubyvm.so", NULL, "TruffleRuby"},
	{"libjvm.so", NULL, "a Java VM (JRuby?)"},
	{NULL, "mrb_open", "mruby"},
};

static bool is_of(const struct rcore_target *target, struct rcore_module *module, size_t i)
{
	const char *name = rcore_base_name(module->path);
	const char *file = implementations[i].file, *wanted = implementations[i].symbol;
	struct rcore_symbol symbol;
	return file ? !strncmp(name, file, strlen(file))
		    : rcore_module_symbol(target->modules, module, wanted, &symbol);
}

static struct rcore_error *other_implementation(const struct rcore_target *target,
						const char *what)
{
	for (size_t i = 0; i < RCORE_COUNT(implementations); i++)
		for (size_t j = 0; j < rcore_modules_count(target->modules); j++)
			if (is_of(target, rcore_modules_get(target->modules, j), i))
				return rcore_error_create(RCORE_ERROR_NOT_RUBY,
							  "not a CRuby process: \"%s\" runs "
							  "%s; rcore decodes CRuby "
							  "alone",
							  what, implementations[i].name);
	return NULL;
}

/*
 * Reads the series from "/usr/lib/ruby/2.1.0/x86_64-linux/enc/encdb.so", which
 * every Ruby up to 2.7 and many later ones load, or from "libruby.so.2.1".
 */
static bool series_of_path(const char *path, unsigned version[3])
{
	const char *name = rcore_base_name(path);
	const char *so = strncmp(name, "libruby", 7) ? NULL : strstr(name, ".so.");
	if (so && sscanf(so, ".so.%u.%u", &version[0], &version[1]) == 2)
		return true;
	for (const char *at = path; (at = strstr(at, "/ruby/")); at++)
		if (sscanf(at, "/ruby/%u.%u.%u/", &version[0], &version[1], &version[2]) == 3)
			return true;
	return false;
}

/*
 * Finds the series in the paths of Ruby's own files, which works even if the
 * files are missing.
 */
static struct rcore_error *by_paths(const struct rcore_target *target, size_t missing)
{
	unsigned version[3];
	size_t count = rcore_modules_count(target->modules);
	for (size_t i = 0; i < count; i++) {
		const char *path = rcore_modules_get(target->modules, i)->path;
		char name[128];
		if (!series_of_path(path, version))
			continue;
		snprintf(name, sizeof(name), "Ruby %u.%u (it has mapped %.80s)", version[0],
			 version[1], path);
		struct rcore_error *err =
			rcore_layout_unsupported(version, target->process->machine, name);
		if (err || !missing)
			return err;
		return rcore_error_create(RCORE_ERROR_NOT_RUBY,
					  "no Ruby found, but it seems to be %s: %zu of its "
					  "%zu file%s %s missing "
					  "here; pass --sysroot DIR or --lib-search-path DIR",
					  name, missing, count, rcore_plural(count),
					  rcore_are(missing));
	}
	return NULL;
}

struct rcore_error *rcore_session_not_ruby(const struct rcore_target *target)
{
	size_t missing = 0, count = rcore_modules_count(target->modules);
	for (size_t i = 0; i < count; i++) {
		enum rcore_module_status status = rcore_modules_get(target->modules, i)->status;
		missing += status == RCORE_MODULE_MISSING || status == RCORE_MODULE_WRONG;
	}
	const char *what = target->process->arguments ? target->process->arguments : "unknown";
	struct rcore_error *err = other_implementation(target, what);
	if (!err)
		err = by_paths(target, missing);
	if (err)
		return err;
	/* A damaged core does not show whether the process ran Ruby. */
	if (!count)
		return rcore_error_create(target->process->note ? RCORE_ERROR_FORMAT
								: RCORE_ERROR_NOT_RUBY,
					  "no Ruby found: the core (of \"%s\") lists no files; "
					  "name the executable, as in rcore analyze CORE EXE",
					  what);
	if (missing)
		return rcore_error_create(
			RCORE_ERROR_NOT_RUBY,
			"no Ruby found in \"%s\"; %zu of its %zu file%s %s missing "
			"here; pass --sysroot DIR or --lib-search-path DIR",
			what, missing, count, rcore_plural(count), rcore_are(missing));
	return rcore_error_create(RCORE_ERROR_NOT_RUBY,
				  "not a Ruby process: \"%s\"; none of its %zu files defines "
				  "ruby_version",
				  what, count);
}
