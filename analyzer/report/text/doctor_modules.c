/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/text.h"
#include "report/text/doctor.h"

enum { NAMED = 5 };

static const char *base_name(const struct rcore_module_info *module)
{
	return module->path ? rcore_base_name(module->path) : "(no path)";
}

static void print_file(const struct rcore_pen *pen, const char *what, const char *file)
{
	if (!file)
		return;
	fprintf(pen->out, "  %-11s  %s", "", what);
	rcore_escape_write(pen->out, file);
	putc('\n', pen->out);
}

static void print_module(const struct rcore_pen *pen, const struct rcore_module_info *module)
{
	FILE *out = pen->out;
	bool good = !module->lost && !module->fix;
	fputs("  ", out);
	rcore_styled(pen, good ? RCORE_STYLE_GOOD : RCORE_STYLE_PROBLEM, "%-11s",
		     module->status ? module->status : "unknown");
	fputs("  ", out);
	rcore_styled_text(pen, module->is_ruby ? RCORE_STYLE_ID : RCORE_STYLE_PLAIN,
			  module->path ? module->path : "(no path)");
	if (module->is_ruby)
		fputs(" (Ruby)", out);
	if (module->build_id)
		fprintf(out, "  build-id %s", module->build_id);
	else
		fputs("  no build-id", out);
	if (module->file_build_id && !rcore_same_text(module->build_id, module->file_build_id))
		fprintf(out, ", the file here has %s", module->file_build_id);
	putc('\n', out);
	if (!rcore_same_text(module->file, module->path))
		print_file(pen, "file: ", module->file);
	print_file(pen, "debug file: ", module->debug_file);
}

static bool is_first_to_lose(const struct rcore_snapshot *snapshot, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (rcore_same_text(snapshot->modules[i].lost, snapshot->modules[index].lost))
			return false;
	return true;
}

static void print_lost(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot,
		       const char *lost)
{
	size_t count = 0;
	fputs("  ", pen->out);
	for (size_t i = 0; i < snapshot->module_count; i++) {
		if (!rcore_same_text(snapshot->modules[i].lost, lost) || count++ >= NAMED)
			continue;
		fputs(count > 1 ? ", " : "", pen->out);
		rcore_escape_write(pen->out, base_name(&snapshot->modules[i]));
	}
	if (count > NAMED)
		fprintf(pen->out, " and %zu more", count - NAMED);
	fputs(": ", pen->out);
	rcore_escape_write(pen->out, lost);
	putc('\n', pen->out);
}

/*
 * A name that a core claims becomes a word of a command: only if a shell takes
 * it as it is.
 */
static bool is_plain(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._+@:-";
	return path && path[0] == '/' && !path[strspn(path, plain)];
}

/* Whether it is to be copied from the machine that wrote the core. */
static bool is_copied(const struct rcore_module_info *module)
{
	return module->fix && is_plain(module->path) &&
	       (rcore_same_text(module->status, "missing") ||
		rcore_same_text(module->status, "wrong build"));
}

static size_t count_copied(const struct rcore_snapshot *snapshot)
{
	size_t count = 0;
	for (size_t i = 0; i < snapshot->module_count; i++)
		count += is_copied(&snapshot->modules[i]);
	return count;
}

/* One command for all of them. */
static void print_copy(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot,
		       size_t count)
{
	fprintf(pen->out,
		"  copy %zu file%s from the machine that wrote the core. There:\n\n"
		"    tar -chzf core-files.tar.gz",
		count, rcore_plural(count));
	for (size_t i = 0; i < snapshot->module_count; i++)
		if (is_copied(&snapshot->modules[i]))
			fprintf(pen->out, " \\\n      %s", snapshot->modules[i].path);
	fputs("\n\n  Here:\n\n"
	      "    mkdir core-files && tar -xzf core-files.tar.gz -C core-files\n\n"
	      "  Then pass --sysroot core-files\n\n"
	      "  If these are files of a container that is still on this machine, pass\n"
	      "  the folder that is its root instead: --sysroot DIR\n",
	      pen->out);
}

void rcore_doctor_modules(const struct rcore_pen *pen, const struct rcore_snapshot *snapshot)
{
	bool any_lost = false, any_fix = false;
	if (!snapshot->module_count)
		return;
	fputs("\nFiles that the process had mapped\n", pen->out);
	for (size_t i = 0; i < snapshot->module_count; i++) {
		print_module(pen, &snapshot->modules[i]);
		any_lost |= snapshot->modules[i].lost != NULL;
		any_fix |= snapshot->modules[i].fix != NULL;
	}
	if (any_lost)
		fputs("\nLost without them\n", pen->out);
	for (size_t i = 0; i < snapshot->module_count; i++)
		if (snapshot->modules[i].lost && is_first_to_lose(snapshot, i))
			print_lost(pen, snapshot, snapshot->modules[i].lost);
	if (any_fix)
		fputs("\nTo do\n", pen->out);
	size_t copied = count_copied(snapshot);
	if (copied > 1)
		print_copy(pen, snapshot, copied);
	for (size_t i = 0; i < snapshot->module_count; i++) {
		const struct rcore_module_info *module = &snapshot->modules[i];
		if (!module->fix || (copied > 1 && is_copied(module)))
			continue;
		fputs("  ", pen->out);
		rcore_escape_write(pen->out, snapshot->modules[i].fix);
		putc('\n', pen->out);
	}
}
