/* SPDX-License-Identifier: MIT */
#include "image/elf/tls.h"

#include <elf.h>
#include <inttypes.h>

#include "image/elf/module_dynamic.h"

enum {
	RELOCATION_LIMIT = 1 << 20,
	MODULE_LIMIT = 1 << 16,
	/* Bytes of static thread-local data, with glibc's surplus. */
	STATIC_LIMIT = 1 << 24,
	DTV_ENTRY = 16,
};

enum kind { OTHER, MODULE_NUMBER, DESCRIPTOR, THREAD_OFFSET };

static enum kind kind_of(unsigned machine, uint64_t type)
{
	bool arm = machine == EM_AARCH64;
	if (type == (arm ? R_AARCH64_TLS_DTPMOD : R_X86_64_DTPMOD64))
		return MODULE_NUMBER;
	if (type == (arm ? R_AARCH64_TLSDESC : R_X86_64_TLSDESC))
		return DESCRIPTOR;
	if (type == (arm ? R_AARCH64_TLS_TPREL : R_X86_64_TPOFF64))
		return THREAD_OFFSET;
	return OTHER;
}

struct search {
	struct rcore_modules *modules;
	struct rcore_module *module;
	GElf_Sym symbol;
	uint32_t index; /* of the symbol */
	struct rcore_tls_variable *ret;
};

/* An offset is small and may be negative, unlike an address. */
static bool is_offset(uint64_t value)
{
	int64_t offset = (int64_t)value;
	return offset > -STATIC_LIMIT && offset < STATIC_LIMIT;
}

/*
 * The argument of a dynamic descriptor (tlsdesc_dynamic_arg) begins with a
 * tls_index. A descriptor that is not resolved yet has another argument.
 */
static bool read_descriptor(const struct search *search, uint64_t slot)
{
	uint64_t argument, index[2];
	struct rcore_memory *memory = &search->modules->overlay;
	if (rcore_read_u64(memory, slot + 8, &argument) || !argument)
		return false;
	if (is_offset(argument)) {
		*search->ret =
			(struct rcore_tls_variable){.is_static = true, .offset = argument};
		return true;
	}
	if (rcore_read(memory, argument, index, sizeof(index)) || !index[0] ||
	    index[0] > MODULE_LIMIT || index[1] != search->symbol.st_value)
		return false;
	*search->ret = (struct rcore_tls_variable){.module = index[0], .offset = index[1]};
	return true;
}

/*
 * Reads what the dynamic linker wrote to the place of this relocation. Returns
 * false if it shows nothing.
 */
static bool read_slot(const struct search *search, const Elf64_Rela *relocation)
{
	uint32_t symbol = (uint32_t)ELF64_R_SYM(relocation->r_info);
	enum kind kind =
		kind_of(search->modules->process->machine, ELF64_R_TYPE(relocation->r_info));
	uint64_t slot = relocation->r_offset + search->module->bias, value;
	/* If no symbol is named, it is for the module itself. */
	bool is_ours = symbol == search->index ||
		       (!symbol && (kind == MODULE_NUMBER ||
				    (uint64_t)relocation->r_addend == search->symbol.st_value));
	if (kind == OTHER || !is_ours)
		return false;
	if (kind == DESCRIPTOR)
		return read_descriptor(search, slot);
	if (rcore_read_u64(&search->modules->overlay, slot, &value))
		return false;
	if (kind == THREAD_OFFSET) {
		*search->ret = (struct rcore_tls_variable){.is_static = true, .offset = value};
		return value && is_offset(value);
	}
	*search->ret =
		(struct rcore_tls_variable){.module = value, .offset = search->symbol.st_value};
	return value && value <= MODULE_LIMIT;
}

static bool search_table(const struct search *search, const struct rcore_dynamic *dynamic,
			 uint64_t table, uint64_t size)
{
	enum { CHUNK = 64 };
	Elf64_Rela chunk[CHUNK];
	uint64_t count = size / sizeof(*chunk);
	for (uint64_t i = 0; table && i < count && i < RELOCATION_LIMIT; i += CHUNK) {
		uint64_t some = count - i < CHUNK ? count - i : CHUNK;
		if (rcore_read(dynamic->memory, table + i * sizeof(*chunk), chunk,
			       some * sizeof(*chunk)))
			return false;
		for (uint64_t j = 0; j < some; j++)
			if (read_slot(search, &chunk[j]))
				return true;
	}
	return false;
}

bool rcore_tls_find(struct rcore_modules *modules, struct rcore_module *module,
		    const char *name, struct rcore_tls_variable *ret)
{
	struct rcore_module_dynamic of;
	struct search search = {.modules = modules, .module = module, .ret = ret};
	if (!rcore_module_dynamic(modules, (struct rcore_module_entry *)module, &of) ||
	    !rcore_dynamic_thread_local(&of.dynamic, name, &search.symbol, &search.index))
		return false;
	const struct rcore_dynamic *dynamic = &of.dynamic;
	return search_table(&search, dynamic, dynamic->relocations,
			    dynamic->relocations_size) ||
	       search_table(&search, dynamic, dynamic->plt_relocations,
			    dynamic->plt_relocations_size);
}

/*
 * Reads the vector of a thread. On x86-64, the thread's header also points to
 * itself twice.
 */
static struct rcore_error *read_vector(struct rcore_memory *memory, unsigned machine,
				       uint64_t thread_pointer, uint64_t *ret)
{
	uint64_t head[3];
	size_t size = machine == EM_AARCH64 ? sizeof(*head) : sizeof(head);
	enum rcore_fault fault = rcore_read(memory, thread_pointer, head, size);
	if (fault)
		return rcore_fault_error(fault, "thread control block", thread_pointer, size);
	if (machine != EM_AARCH64 && (head[0] != thread_pointer || head[2] != thread_pointer))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "0x%" PRIx64 " is not a thread pointer of glibc",
					  thread_pointer);
	*ret = head[machine == EM_AARCH64 ? 0 : 1];
	return NULL;
}

struct rcore_error *rcore_tls_address(struct rcore_memory *memory, unsigned machine,
				      uint64_t thread_pointer,
				      const struct rcore_tls_variable *variable, uint64_t *ret)
{
	uint64_t vector = 0, length, block;
	struct rcore_error *err = read_vector(memory, machine, thread_pointer, &vector);
	if (err)
		return err;
	if (variable->is_static) {
		*ret = thread_pointer + variable->offset;
		return NULL;
	}
	enum rcore_fault fault = rcore_read_u64(memory, vector - DTV_ENTRY, &length);
	if (fault)
		return rcore_fault_error(fault, "dtv of a thread", vector - DTV_ENTRY, 8);
	if (!length || length > MODULE_LIMIT)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "no dtv of glibc at 0x%" PRIx64,
					  vector);
	*ret = 0;
	if (variable->module > length)
		return NULL;
	uint64_t entry = vector + variable->module * DTV_ENTRY;
	fault = rcore_read_u64(memory, entry, &block);
	if (fault)
		return rcore_fault_error(fault, "dtv of a thread", entry, sizeof(block));
	if (block && block != UINT64_MAX) /* TLS_DTV_UNALLOCATED */
		*ret = block + variable->offset;
	return NULL;
}

bool rcore_tls_static_offset(struct rcore_memory *memory, unsigned machine,
			     uint64_t thread_pointer, uint64_t module, int64_t *ret)
{
	/* Static blocks are at most this far from the thread pointer. */
	const int64_t most = 1 << 20;
	const struct rcore_tls_variable start = {.module = module};
	uint64_t vector = 0, block = 0, to_free = 0;
	rcore_auto_error err =
		rcore_tls_address(memory, machine, thread_pointer, &start, &block);
	if (err || !block)
		return false;
	rcore_auto_error failure = read_vector(memory, machine, thread_pointer, &vector);
	if (failure || rcore_read_u64(memory, vector + module * DTV_ENTRY + 8, &to_free))
		return false;
	*ret = (int64_t)(block - thread_pointer);
	return !to_free && *ret > -most && *ret < most;
}
