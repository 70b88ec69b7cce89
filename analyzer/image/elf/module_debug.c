/* SPDX-License-Identifier: MIT */
#include "image/elf/module_debug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/elf/headers_image.h"

/* libdwfl looks for build-ids only in absolute folders. */
static void add_folder(FILE *out, const char *folder, const char *below)
{
	char *absolute = realpath(folder, NULL);
	fprintf(out, ":%s%s", absolute ? absolute : folder, below);
	free(absolute);
}

/* "+": a file that .gnu_debuglink names is checked by its CRC. */
static char *debug_folders(const struct rcore_modules *modules)
{
	const struct rcore_module_options *options = &modules->options;
	const char *root = modules->process->root;
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	if (!out)
		return NULL;
	fputs("+:.debug", out);
	if (options->sysroot)
		add_folder(out, options->sysroot, "/usr/lib/debug");
	for (size_t i = 0; i < options->search_path_count; i++)
		add_folder(out, options->search_paths[i], "");
	/*
	 * Not add_folder(): its realpath() would resolve the link
	 * /proc/PID/root to a path of this machine.
	 */
	if (root)
		fprintf(out, ":%s/usr/lib/debug", root);
	fputs(":/usr/lib/debug", out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/*
 * libdwfl calls this for the file of a module. Passes the file that rcore has
 * opened, because the path may lead to another one by now.
 */
static int find_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start,
		     char **file, Elf **elf)
{
	struct rcore_module_debug *debug = *data;
	if (!debug)
		return -1;
	if (debug->found->elf) {
		*file = strdup(debug->found->file);
		*elf = elf_begin(-1, ELF_C_READ, debug->found->elf->elf);
	} else if (debug->image) {
		*elf = elf_memory(debug->image, debug->image_size);
	}
	return -1;
}

/*
 * Finds the debug file by .gnu_debuglink, through a module without a build-id.
 * For a module with a build-id, libdwfl would load libdebuginfod and all its
 * dependencies, which takes 5 ms, only to find that no server is set.
 */
static int find_by_link(struct rcore_module_debug *debug, const char *file, const char *link,
			GElf_Word crc, char **ret)
{
	int fd = -1;
	Dwfl *dwfl = dwfl_begin(&debug->callbacks);
	if (!dwfl)
		return -1;
	dwfl_report_begin(dwfl);
	Dwfl_Module *module = dwfl_report_module(dwfl, file, 1, 2);
	dwfl_report_end(dwfl, NULL, NULL);
	if (module)
		fd = dwfl_standard_find_debuginfo(module, NULL, file, 0, file, link, crc, ret);
	dwfl_end(dwfl);
	return fd;
}

static int find_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start,
			   const char *file, const char *link, GElf_Word crc, char **ret)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	/* Without a CRC, it is the file that dwz shares among debug files. */
	if ((servers && *servers) || (link && !crc))
		return dwfl_standard_find_debuginfo(module, data, name, start, file, link, crc,
						    ret);
	int fd = dwfl_build_id_find_debuginfo(module, data, name, start, file, link, crc, ret);
	if (fd >= 0 || !file || !link || !*data)
		return fd;
	return find_by_link(*data, file, link, crc, ret);
}

static Dwfl_Module *report(struct rcore_module_debug *debug,
			   const struct rcore_module_entry *entry, unsigned machine)
{
	const struct rcore_module *module = &entry->module;
	const struct rcore_elf_headers *headers = rcore_module_headers(entry);
	const GElf_Phdr *load = rcore_elf_headers_find(headers, PT_LOAD);
	uint64_t low, high;
	/* Without the file, only a build-id can find a debug file. */
	if (!load || (!module->elf && !headers->build_id_size) ||
	    !rcore_elf_headers_extent(headers, &low, &high))
		return NULL;
	if (!module->elf)
		debug->image = rcore_headers_image(headers, &entry->frames, machine,
						   &debug->image_size);
	/* libdwfl computes the bias from this address. */
	return module->elf || debug->image
		       ? dwfl_report_module(debug->dwfl, module->path,
					    load->p_vaddr & -load->p_align, high)
		       : NULL;
}

struct rcore_module_debug *rcore_module_debug(struct rcore_modules *modules,
					      struct rcore_module_entry *entry)
{
	if (entry->debug)
		return entry->debug;
	struct rcore_module_debug *debug = calloc(1, sizeof(*debug));
	if (!debug)
		return NULL;
	debug->folders = debug_folders(modules);
	if (!debug->folders) {
		free(debug);
		return NULL;
	}
	debug->found = &entry->module;
	debug->callbacks.find_elf = find_file;
	debug->callbacks.find_debuginfo = find_debug_file;
	debug->callbacks.debuginfo_path = &debug->folders;
	debug->dwfl = dwfl_begin(&debug->callbacks);
	if (debug->dwfl) {
		void **data;
		dwfl_report_begin(debug->dwfl);
		debug->module = report(debug, entry, modules->process->machine);
		dwfl_report_end(debug->dwfl, NULL, NULL);
		if (debug->module &&
		    dwfl_module_info(debug->module, &data, NULL, NULL, NULL, NULL, NULL, NULL))
			*data = debug;
	}
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
	free(debug->image);
	free(debug->folders);
	free(debug);
}
