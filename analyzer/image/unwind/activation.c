/* SPDX-License-Identifier: MIT */
#include "image/unwind/activation.h"

#include <errno.h>

#include "image/unwind/cold_part.h"
#include "image/unwind/unwind_machine.h"
#include "image/unwind/unwind_site.h"

enum {
	CODE_LIMIT = 256 << 20, /* of one module */
	/*
	 * rb_vm_exec has at least as many callers, vm_exec_core has half of
	 * them.
	 */
	MANY = 6,
};

/*
 * Functions that lead to another one, each once. More than MANY show nothing
 * more.
 */
struct callers {
	uint64_t starts[MANY];
	/* It calls, and not only jumps there as a tail call. */
	bool calls[MANY];
	size_t count;
};

static void add(struct callers *callers, uint64_t start, bool is_call)
{
	size_t i = 0;
	while (i < callers->count && callers->starts[i] != start)
		i++;
	if (i == callers->count) {
		callers->starts[callers->count++] = start;
		callers->calls[i] = false;
	}
	callers->calls[i] |= is_call;
}

static void search(struct rcore_sites *sites, struct rcore_native_module *module,
		   const uint8_t *code, size_t size, uint64_t address, uint64_t target,
		   struct callers *callers)
{
	const struct rcore_unwind_machine *machine =
		rcore_unwind_machine(sites->native->machine);
	bool is_call;
	size_t at = 0;
	for (; callers->count < MANY; at += machine->code_step) {
		uint64_t start, end;
		at = machine->find_branch(code, size, address, at, target, &is_call);
		if (at >= size)
			return;
		/* A function that calls itself is not a caller. */
		if (rcore_native_module_fde(module, address + at, &start, &end) &&
		    start != target)
			add(callers, start, is_call);
	}
}

/*
 * Finds all code of a module that calls or jumps to the function at `target`.
 * Reads the file, as it does for call frame information, because a pack keeps
 * what is read of the target's memory.
 */
static void find_callers(struct rcore_sites *sites, struct rcore_native_module *module,
			 uint64_t target, struct callers *ret)
{
	Dwarf_Addr bias;
	errno = 0;
	Elf *elf = dwfl_module_getelf(module->dwfl, &bias);
	uint64_t left = CODE_LIMIT;
	size_t count;
	ret->count = 0;
	rcore_native_module_check(module, elf);
	if (!elf || elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && ret->count < MANY; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X) || header.p_filesz > left)
			continue;
		errno = 0;
		Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
						      header.p_filesz, ELF_T_BYTE);
		rcore_native_module_check(module, data);
		left -= header.p_filesz;
		if (data && data->d_buf)
			search(sites, module, data->d_buf, data->d_size, bias + header.p_vaddr,
			       target, ret);
	}
}

/*
 * Returns the function that contains most of the instructions, because a
 * compiler may have moved rarely executed ones out of it.
 */
static struct rcore_native_module *
find_core(struct rcore_sites *sites, const struct rcore_interpreter *interpreter, uint64_t *ret)
{
	struct rcore_native_module *module = NULL;
	size_t votes = 0, count = 0;
	uint64_t start, end;
	for (size_t i = 0; i < interpreter->count; i++) {
		uint64_t address = interpreter->instructions[i];
		struct rcore_native_module *at = rcore_native_module_at(sites->native, address);
		if (!at || !rcore_native_module_fde(at, address, &start, &end))
			continue;
		/* The majority vote of Boyer and Moore. */
		if (!votes) {
			module = at;
			*ret = start;
		}
		votes += *ret == start ? 1 : -1;
	}
	for (size_t i = 0; votes && i < interpreter->count; i++)
		count += rcore_native_module_fde(module, interpreter->instructions[i], &start,
						 &end) &&
			 start == *ret;
	return count > interpreter->count / 2 ? module : NULL;
}

uint64_t rcore_activation_core(struct rcore_sites *sites,
			       const struct rcore_interpreter *interpreter)
{
	uint64_t core;
	return find_core(sites, interpreter, &core) ? core : 0;
}

uint64_t rcore_activation_find(struct rcore_sites *sites,
			       const struct rcore_interpreter *interpreter)
{
	uint64_t core, found = 0;
	struct callers callers, others;
	size_t calls = 0;
	struct rcore_native_module *module = find_core(sites, interpreter, &core);
	if (!module)
		return 0;
	find_callers(sites, module, core, &callers);
	if (callers.count >= MANY)
		return core;
	for (size_t i = 0; i < callers.count; i++) {
		if (callers.calls[i] && rcore_can_be_called(sites, callers.starts[i])) {
			found = callers.starts[i];
			calls++;
		}
	}
	if (calls == 1)
		return found;
	found = 0;
	for (size_t i = 0; i < callers.count; i++) {
		if (!callers.calls[i] || !rcore_can_be_called(sites, callers.starts[i]))
			continue;
		find_callers(sites, module, callers.starts[i], &others);
		if (others.count < MANY)
			continue;
		if (found)
			return 0;
		found = callers.starts[i];
	}
	return found;
}
