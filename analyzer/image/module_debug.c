/* SPDX-License-Identifier: MIT */
#include "image/module_debug.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "+" has a file that .gnu_debuglink names checked by its CRC. */
static char *debug_folders(const struct rcore_module_options *options)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fputs("+:.debug", out);
	if (options->sysroot)
		fprintf(out, ":%s/usr/lib/debug", options->sysroot);
	for (size_t i = 0; i < options->search_path_count; i++)
		fprintf(out, ":%s", options->search_paths[i]);
	fputs(":/usr/lib/debug", out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* libdwfl asks this for a module that was reported without a file. */
static int no_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start,
		   char **file, Elf **elf)
{
	return -1;
}

/* Where the module's file is not here, its debug file may be: found by build-id, it then
 * stands for both. */
static int find_by_build_id(struct rcore_module_debug *debug, const struct rcore_module *module,
			    char **path)
{
	int fd = -1;
	Dwfl *dwfl = dwfl_begin(&debug->callbacks);
	if (!dwfl)
		return -1;
	dwfl_report_begin(dwfl);
	Dwfl_Module *reported =
		dwfl_report_module(dwfl, module->path, module->start, module->end);
	if (reported && !dwfl_module_report_build_id(reported, module->build_id,
						     module->build_id_size, 0)) {
		dwfl_report_end(dwfl, NULL, NULL);
		fd = dwfl_standard_find_debuginfo(reported, NULL, module->path, module->start,
						  NULL, NULL, 0, path);
	}
	dwfl_end(dwfl);
	return fd;
}

static void report(struct rcore_module_debug *debug, const struct rcore_module *module)
{
	char *path = NULL;
	int fd = -1;
	if (!module->elf) {
		if (!module->build_id_size)
			return;
		fd = find_by_build_id(debug, module, &path);
		if (fd < 0 || !path) {
			free(path);
			return;
		}
	}
	debug->dwfl = dwfl_begin(&debug->callbacks);
	if (debug->dwfl) {
		dwfl_report_begin(debug->dwfl);
		debug->module = dwfl_report_elf(debug->dwfl, module->path,
						module->elf ? module->file : path, fd, 0, true);
		dwfl_report_end(debug->dwfl, NULL, NULL);
	}
	if (!debug->module && fd >= 0)
		close(fd);
	free(path);
}

struct rcore_module_debug *rcore_module_debug(struct rcore_modules *modules,
					      struct rcore_module_entry *entry)
{
	if (entry->debug)
		return entry->debug;
	struct rcore_module_debug *debug = calloc(1, sizeof(*debug));
	if (!debug)
		return NULL;
	debug->folders = debug_folders(&modules->options);
	if (!debug->folders) {
		free(debug);
		return NULL;
	}
	debug->callbacks.find_elf = no_file;
	debug->callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
	debug->callbacks.debuginfo_path = &debug->folders;
	report(debug, &entry->module);
	entry->debug = debug;
	return debug;
}

void rcore_module_debug_free(struct rcore_module_debug *debug)
{
	if (!debug)
		return;
	rcore_symbol_index_free(debug->variables);
	if (debug->dwfl)
		dwfl_end(debug->dwfl);
	free(debug->folders);
	free(debug);
}
