/* SPDX-License-Identifier: MIT */
#include "core_builder.h"

#include <err.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static void *grow(void *array, size_t size)
{
	void *grown = realloc(array, size ? size : 1);
	if (!grown)
		err(2, "realloc");
	return grown;
}

void core_deinit(struct core_builder *builder)
{
	for (size_t i = 0; i < builder->load_count; i++)
		free(builder->loads[i].bytes);
	free(builder->loads);
	free(builder->notes);
	*builder = (struct core_builder){0};
}

void core_load(struct core_builder *builder, uint64_t address, const void *bytes,
	       uint64_t file_size, uint64_t memory_size, uint32_t flags)
{
	if (!(builder->load_count & (builder->load_count - 1)))
		builder->loads = grow(builder->loads,
				      (2 * builder->load_count + 1) * sizeof(*builder->loads));
	struct core_load *load = &builder->loads[builder->load_count++];
	load->header = (Elf64_Phdr){.p_type = PT_LOAD,
				    .p_flags = flags,
				    .p_vaddr = address,
				    .p_filesz = file_size,
				    .p_memsz = memory_size,
				    .p_align = PAGE};
	load->bytes = grow(NULL, file_size);
	if (bytes)
		memcpy(load->bytes, bytes, file_size);
	else
		memset(load->bytes, 0, file_size);
}

static void append(struct core_builder *builder, const void *bytes, size_t size)
{
	size_t padded = (size + 3) & ~(size_t)3;
	builder->notes = grow(builder->notes, builder->notes_size + padded);
	memset(builder->notes + builder->notes_size, 0, padded);
	if (size)
		memcpy(builder->notes + builder->notes_size, bytes, size);
	builder->notes_size += padded;
}

void core_note(struct core_builder *builder, const char *owner, uint32_t type,
	       const void *bytes, size_t size)
{
	Elf64_Nhdr header = {(uint32_t)strlen(owner) + 1, (uint32_t)size, type};
	append(builder, &header, sizeof(header));
	append(builder, owner, header.n_namesz);
	append(builder, bytes, size);
}

void core_note_status(struct core_builder *builder, int tid, int signo, uint64_t pc,
		      uint64_t sp, uint64_t thread_pointer)
{
	bool arm = builder->machine == EM_AARCH64;
	unsigned char status[392] = {0};
	int16_t signal = (int16_t)signo;
	memcpy(status + 12, &signal, sizeof(signal));
	memcpy(status + 32, &tid, sizeof(tid));
	memcpy(status + 112 + 8 * (arm ? 32 : 16), &pc, sizeof(pc));
	memcpy(status + 112 + 8 * (arm ? 31 : 19), &sp, sizeof(sp));
	if (!arm)
		memcpy(status + 112 + 8 * 21, &thread_pointer, sizeof(thread_pointer));
	core_note(builder, "CORE", NT_PRSTATUS, status, arm ? 392 : 336);
	if (arm)
		core_note(builder, "LINUX", NT_ARM_TLS, &thread_pointer,
			  sizeof(thread_pointer));
}

void core_note_process(struct core_builder *builder, int pid, const char *name,
		       const char *arguments)
{
	unsigned char info[136] = {0};
	memcpy(info + 24, &pid, sizeof(pid));
	memcpy(info + 40, name, strnlen(name, 16));
	memcpy(info + 56, arguments, strnlen(arguments, 80));
	core_note(builder, "CORE", NT_PRPSINFO, info, sizeof(info));
}

void core_note_siginfo(struct core_builder *builder, int signo, int code, uint64_t address)
{
	unsigned char info[128] = {0};
	memcpy(info, &signo, sizeof(signo));
	memcpy(info + 8, &code, sizeof(code));
	memcpy(info + 16, &address, sizeof(address));
	core_note(builder, "CORE", NT_SIGINFO, info, sizeof(info));
}

void core_note_files(struct core_builder *builder, const struct core_mapping *mappings,
		     size_t count)
{
	size_t size = 16 + 24 * count;
	for (size_t i = 0; i < count; i++)
		size += strlen(mappings[i].path) + 1;
	unsigned char *note = grow(NULL, size);
	uint64_t head[2] = {count, PAGE};
	memcpy(note, head, sizeof(head));
	char *name = (char *)note + 16 + 24 * count;
	for (size_t i = 0; i < count; i++) {
		uint64_t row[3] = {mappings[i].start, mappings[i].end,
				   mappings[i].offset / PAGE};
		memcpy(note + 16 + 24 * i, row, sizeof(row));
		name = stpcpy(name, mappings[i].path) + 1;
	}
	core_note(builder, "CORE", NT_FILE, note, size);
	free(note);
}

static size_t put(unsigned char *file, size_t offset, const void *bytes, size_t size)
{
	if (size)
		memcpy(file + offset, bytes, size);
	return offset + size;
}

unsigned char *core_build(const struct core_builder *builder, size_t *size)
{
	size_t count = builder->load_count + 1;
	size_t notes = sizeof(Elf64_Ehdr) + count * sizeof(Elf64_Phdr);
	size_t data = (notes + builder->notes_size + PAGE - 1) & ~(size_t)(PAGE - 1);
	size_t end = data;
	for (size_t i = 0; i < builder->load_count; i++)
		end += builder->loads[i].header.p_filesz;
	*size = end + (builder->many ? sizeof(Elf64_Shdr) : 0);
	unsigned char *file = grow(NULL, *size);
	memset(file, 0, *size);

	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = (uint16_t)(builder->machine ? builder->machine : EM_X86_64),
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)count,
	};
	if (builder->many) {
		Elf64_Shdr section = {.sh_info = (uint32_t)count, .sh_size = 1};
		header.e_phnum = PN_XNUM;
		header.e_shoff = end;
		header.e_shnum = 1;
		header.e_shentsize = sizeof(section);
		put(file, end, &section, sizeof(section));
	}
	size_t at = put(file, 0, &header, sizeof(header));
	Elf64_Phdr note = {.p_type = PT_NOTE,
			   .p_offset = notes,
			   .p_filesz = builder->notes_size,
			   .p_align = 4};
	at = put(file, at, &note, sizeof(note));
	for (size_t i = 0; i < builder->load_count; i++) {
		Elf64_Phdr load = builder->loads[i].header;
		load.p_offset = data;
		at = put(file, at, &load, sizeof(load));
		data = put(file, data, builder->loads[i].bytes, load.p_filesz);
	}
	put(file, notes, builder->notes, builder->notes_size);
	return file;
}

static char folder[64];

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
	return remove(path);
}

static void remove_folder(void)
{
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *temporary_path(const char *name)
{
	static char paths[8][192];
	static unsigned next;
	static pid_t owner;
	char *path = paths[next++ % 8];
	if (!*folder || owner != getpid()) {
		snprintf(folder, sizeof(folder), "/tmp/rcore-check-XXXXXX");
		if (!mkdtemp(folder))
			err(2, "mkdtemp");
		if (!owner)
			atexit(remove_folder);
		owner = getpid();
	}
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

const char *write_file(const char *name, const void *bytes, size_t size)
{
	const char *path = temporary_path(name);
	FILE *file = fopen(path, "w");
	if (!file || (size && fwrite(bytes, size, 1, file) != 1) || fclose(file))
		err(2, "%s", path);
	return path;
}

struct rcore_core *core_opened(const char *path)
{
	struct rcore_core *core = NULL;
	struct rcore_error *error = rcore_core_open(path, &core);
	if (error)
		errx(2, "%s: %s", path, error->message);
	return core;
}
