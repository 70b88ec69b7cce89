/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_modules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/order.h"
#include "image/elf/module_debug.h"
#include "image/symbolize/symbolize_dwarf.h"
#include "image/unwind/own_vdso.h"

static int find_elf(Dwfl_Module *dwfl, void **data, const char *name, Dwarf_Addr start,
		    char **file, Elf **elf)
{
	struct rcore_native_module *module = *data;
	struct rcore_module_entry *entry = module->entry;
	if (entry->module.elf) {
		*file = strdup(entry->module.file);
		*elf = elf_begin(-1, ELF_C_READ, entry->module.elf->elf);
		return -1;
	}
	if (entry == &module->all->vdso) {
		*elf = rcore_own_vdso(module->all->memory, entry->module.start);
		if (*elf)
			return -1;
	}
	/*
	 * Creates an image that only contains headers, by which libdwfl finds a
	 * debug file, and, for the vdso of another kernel, call frame
	 * information that was checked. libdwfl must not see anything else that
	 * the module may have in memory.
	 */
	struct rcore_module_debug *debug = rcore_module_debug(module->all->modules, entry);
	if (debug && debug->image)
		*elf = elf_memory(debug->image, debug->image_size);
	return -1;
}

/* Like module_debug.c; also finds the dwz file that libdwfl may ask for. */
static int find_debug_file(Dwfl_Module *dwfl, void **data, const char *name, Dwarf_Addr start,
			   const char *file, const char *link, GElf_Word crc, char **ret)
{
	struct rcore_native_module *module = *data;
	struct rcore_module_debug *debug =
		module->all->reads_debug_files
			? rcore_module_debug(module->all->modules, module->entry)
			: NULL;
	void *debug_data = debug;
	if (!debug)
		return -1;
	/*
	 * Belongs to the module's debug information; the same for all modules.
	 */
	module->all->folders = debug->folders;
	return debug->callbacks.find_debuginfo(dwfl, &debug_data, name, start, file, link, crc,
					       ret);
}

/* The start of the module from which libdwfl computes the right bias. */
static uint64_t low_address(const struct rcore_module_entry *entry)
{
	const struct rcore_elf_headers *headers = rcore_module_headers(entry);
	const GElf_Phdr *load = rcore_elf_headers_find(headers, PT_LOAD);
	if (!entry->bias_known || !load)
		return entry->module.start;
	return entry->module.bias + (load->p_vaddr & -load->p_align);
}

static bool report(struct rcore_native_modules *native, struct rcore_module_entry *entry,
		   uint64_t *previous_end)
{
	uint64_t low = low_address(entry);
	struct rcore_native_module *module = &native->items[native->count];
	/* libdwfl does not accept modules that overlap. */
	if (low < *previous_end || low >= entry->module.end)
		return true;
	module->all = native;
	module->entry = entry;
	module->dwfl =
		dwfl_report_module(native->dwfl, entry->module.path, low, entry->module.end);
	void **data;
	if (!module->dwfl ||
	    !dwfl_module_info(module->dwfl, &data, NULL, NULL, NULL, NULL, NULL, NULL))
		return false;
	*data = module;
	native->count++;
	*previous_end = entry->module.end;
	return true;
}

/*
 * Finds the kernel's own library, which has no file. A thread may be executing
 * it. Sets native->lacks_memory if it may exist, but memory is short.
 */
static bool find_vdso(struct rcore_native_modules *native)
{
	struct rcore_module_entry *entry = &native->vdso;
	struct rcore_module *module = &entry->module;
	uint64_t low;
	if (!rcore_process_auxv(native->modules->process, AT_SYSINFO_EHDR, &module->start) ||
	    rcore_modules_find(native->modules, module->start))
		return false;
	enum rcore_elf_outcome outcome = rcore_elf_headers_from_memory(
		native->memory, module->start, native->machine, &entry->headers);
	native->lacks_memory |= outcome == RCORE_ELF_NO_MEMORY;
	if (outcome != RCORE_ELF_READ)
		return false;
	if (!rcore_elf_headers_bias(&entry->headers, module->start, 0, &module->bias) ||
	    !rcore_elf_headers_extent(&entry->headers, &low, &module->end))
		return false;
	module->end += module->bias;
	module->path = "[vdso]";
	module->status = RCORE_MODULE_MISSING;
	entry->bias_known = true;
	errno = 0;
	if (!rcore_call_frames_read(native->memory, module->bias, &entry->headers,
				    &entry->frames))
		native->lacks_memory |= rcore_lacks_memory();
	return true;
}

static bool report_all(struct rcore_native_modules *native)
{
	size_t count = native->modules->list.count;
	uint64_t previous_end = 0;
	bool vdso = find_vdso(native), done = true;
	/* one more, for the vdso */
	native->items = calloc(count + 1, sizeof(*native->items));
	if (!native->items || native->lacks_memory)
		return false;
	dwfl_report_begin(native->dwfl);
	for (size_t i = 0; i <= count && done; i++) {
		struct rcore_module_entry *entry =
			i < count ? &native->modules->list.items[i] : NULL;
		if (vdso && (!entry || native->vdso.module.start < entry->module.start)) {
			done = report(native, &native->vdso, &previous_end);
			vdso = false;
		}
		if (entry && done)
			done = report(native, entry, &previous_end);
	}
	return !dwfl_report_end(native->dwfl, NULL, NULL) && done;
}

/* Creates a file that only has a header. */
static bool make_header(struct rcore_native_modules *native)
{
	native->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = (Elf64_Half)native->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
	};
	elf_version(EV_CURRENT);
	native->header_elf = elf_memory((char *)&native->header, sizeof(native->header));
	return native->header_elf;
}

/*
 * Lets libdwfl make the table that dwfl_addrmodule() searches. If memory is
 * short for it, that function later returns an undefined value, and dwfl_end()
 * frees parts of the table twice (insert() of libdwfl/segment.c), so what
 * libdwfl has allocated is lost.
 */
static bool make_table(struct rcore_native_modules *native)
{
	Dwfl_Module *module = NULL;
	errno = 0;
	dwfl_addrsegment(native->dwfl, 0, &module);
	if (errno != ENOMEM)
		return true;
	native->dwfl = NULL;
	return false;
}

struct rcore_error *rcore_native_modules_open(struct rcore_modules *modules,
					      struct rcore_memory *memory, unsigned machine,
					      struct rcore_native_modules **ret)
{
	struct rcore_native_modules *native = calloc(1, sizeof(*native));
	if (!native)
		return rcore_error_no_memory();
	native->modules = modules;
	native->memory = memory;
	native->machine = machine;
	native->callbacks.find_elf = find_elf;
	native->callbacks.find_debuginfo = find_debug_file;
	native->callbacks.debuginfo_path = &native->folders;
	native->dwfl = dwfl_begin(&native->callbacks);
	if (!native->dwfl || !make_header(native) || !report_all(native) ||
	    !make_table(native)) {
		rcore_native_modules_close(native);
		return rcore_error_no_memory();
	}
	*ret = native;
	return NULL;
}

void rcore_native_modules_close(struct rcore_native_modules *native)
{
	if (!native)
		return;
	for (size_t i = 0; native->items && i < native->count; i++) {
		rcore_address_map_deinit(&native->items[i].searched);
		free(native->items[i].jumps.items);
		rcore_symbols_free(native->items[i].symbols);
		rcore_units_free(native->items[i].units);
	}
	if (native->dwfl)
		dwfl_end(native->dwfl);
	elf_end(native->header_elf);
	rcore_module_debug_free(native->vdso.debug);
	rcore_elf_headers_deinit(&native->vdso.headers);
	free(native->vdso.frames.bytes);
	free(native->items);
	free(native);
}

struct rcore_native_module *rcore_native_module_at(struct rcore_native_modules *native,
						   uint64_t address)
{
	void **data;
	Dwfl_Module *dwfl = dwfl_addrmodule(native->dwfl, address);
	if (!dwfl || !dwfl_module_info(dwfl, &data, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	return *data;
}

/*
 * .eh_frame_hdr of the Linux Standard Base: version; encodings of the pointer
 * to .eh_frame, of the count and of the table; then these three. Linkers write
 * no other encodings.
 */
enum {
	HEADER_VERSION = 1,
	HEADER_SIZE = 12,
	ENCODED_PCREL = 0x1b,
	ENCODED_U32 = 0x03,
	ENCODED_TABLE = 0x3b
};

void rcore_native_module_check(struct rcore_native_module *module, const void *found)
{
	module->all->lacks_memory |= !found && rcore_lacks_memory();
}

static void find_table(struct rcore_native_module *module)
{
	Dwarf_Addr bias;
	errno = 0;
	Elf *elf = dwfl_module_getelf(module->dwfl, &bias);
	size_t count;
	module->looked_for_table = true;
	rcore_native_module_check(module, elf);
	if (!elf || elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr item;
		if (!gelf_getphdr(elf, (int)i, &item) || item.p_type != PT_GNU_EH_FRAME)
			continue;
		errno = 0;
		Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)item.p_offset,
						      item.p_filesz, ELF_T_BYTE);
		rcore_native_module_check(module, data);
		const uint8_t *bytes = data ? data->d_buf : NULL;
		uint32_t entries;
		if (!bytes || data->d_size < HEADER_SIZE || bytes[0] != HEADER_VERSION ||
		    bytes[1] != ENCODED_PCREL || bytes[2] != ENCODED_U32 ||
		    bytes[3] != ENCODED_TABLE || (uintptr_t)bytes % sizeof(int32_t))
			return;
		memcpy(&entries, bytes + 8, sizeof(entries));
		if (entries > (data->d_size - HEADER_SIZE) / sizeof(*module->table))
			return;
		module->table = (const void *)(bytes + HEADER_SIZE);
		module->table_size = entries;
		module->table_address = bias + item.p_vaddr;
		return;
	}
}

bool rcore_native_module_fde(struct rcore_native_module *module, uint64_t address,
			     uint64_t *start, uint64_t *end)
{
	if (!module->looked_for_table)
		find_table(module);
	int64_t wanted = (int64_t)(address - module->table_address);
	size_t low = RCORE_PARTITION_POINT(module->table_size, middle,
					   module->table[middle][0] <= wanted);
	if (!low)
		return false;
	*start = module->table_address + (uint64_t)(int64_t)module->table[low - 1][0];
	*end = low < module->table_size
		       ? module->table_address + (uint64_t)(int64_t)module->table[low][0]
		       : module->entry->module.end;
	return true;
}
