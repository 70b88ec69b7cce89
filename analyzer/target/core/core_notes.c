/* SPDX-License-Identifier: MIT */
#include "target/core/core_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "target/core/core_extend.h"
#include "target/prstatus.h"
#include "target/pack/core_pack.h"
#include "target/pack/pack_known.h"

enum {
	MAX_NOTE_SEGMENTS = 16, /* the kernel, gdb and qemu write one */
	MAX_NOTES = 1 << 22,    /* the kernel writes up to eight per thread */
	MAX_MAPPINGS = 1 << 22, /* as program headers */
	MAX_AUXV_PAIRS = 256,   /* the kernel writes about 20 */
};

struct reader {
	struct rcore_arena *arena;
	struct rcore_process *process;
	struct {
		struct rcore_native_thread *items;
		size_t count, capacity;
	} threads;
	int signalled, signo; /* the first thread that has a signal, or 0 */
	uint32_t first_types[3];
	size_t seen, damaged;
	bool gdb_note, no_memory;
	bool added; /* rcore_core_copy() added the following notes */
};

static uint64_t word(const uint8_t *bytes, size_t index)
{
	uint64_t value;
	memcpy(&value, bytes + 8 * index, sizeof(value));
	return value;
}

static int32_t int_at(const uint8_t *bytes, size_t offset)
{
	int32_t value;
	memcpy(&value, bytes + offset, sizeof(value));
	return value;
}

static bool read_prstatus(struct reader *reader, const uint8_t *bytes, size_t size)
{
	int count = rcore_register_count(reader->process->machine);
	if (size < RCORE_PRSTATUS_REG + 8 * (size_t)count)
		return false;
	struct rcore_native_thread *thread = rcore_push(&reader->threads);
	if (!thread) {
		reader->no_memory = true;
		return true;
	}
	thread->tid = int_at(bytes, RCORE_PRSTATUS_PID);
	thread->has_registers = true;
	thread->register_count = count;
	memcpy(thread->registers, bytes + RCORE_PRSTATUS_REG, 8 * (size_t)count);
	if (reader->process->machine == EM_X86_64)
		thread->thread_pointer = thread->registers[21];
	int16_t signo;
	memcpy(&signo, bytes + RCORE_PRSTATUS_CURSIG, sizeof(signo));
	if (reader->threads.count == 1)
		reader->process->signo = signo;
	if (!reader->signalled && signo) {
		reader->signalled = thread->tid;
		reader->signo = signo;
	}
	return true;
}

static bool read_arm_tls(struct reader *reader, const uint8_t *bytes, size_t size)
{
	if (size < 8 || !reader->threads.count)
		return false;
	reader->threads.items[reader->threads.count - 1].thread_pointer = word(bytes, 0);
	return true;
}

static const char *fixed_text(struct reader *reader, const uint8_t *bytes, size_t size)
{
	const char *text = (const char *)bytes;
	size_t length = strnlen(text, size);
	while (length && text[length - 1] == ' ')
		length--;
	if (!length)
		return NULL;
	const char *copy = rcore_arena_strndup(reader->arena, text, length);
	reader->no_memory |= !copy;
	return copy;
}

static bool read_prpsinfo(struct reader *reader, const uint8_t *bytes, size_t size)
{
	if (size < RCORE_PRPSINFO_SIZE)
		return false;
	reader->process->pid = int_at(bytes, RCORE_PRPSINFO_PID);
	reader->process->executable = fixed_text(reader, bytes + RCORE_PRPSINFO_FNAME, 16);
	reader->process->arguments = fixed_text(reader, bytes + RCORE_PRPSINFO_PSARGS, 80);
	return true;
}

static bool read_siginfo(struct reader *reader, const uint8_t *bytes, size_t size)
{
	struct rcore_siginfo *info = &reader->process->siginfo;
	if (size < RCORE_SIGINFO_SIZE)
		return false;
	/*
	 * gdb writes one after each thread's status. The first one belongs to
	 * the signalled thread.
	 */
	if (!info->present && reader->threads.count <= 1)
		rcore_siginfo_parse(bytes, info);
	return true;
}

static bool read_auxv(struct reader *reader, const uint8_t *bytes, size_t size)
{
	struct rcore_process *process = reader->process;
	if (process->auxv)
		return true;
	size_t pairs = 0;
	while (pairs < size / 16 && word(bytes, 2 * pairs) != AT_NULL)
		if (++pairs > MAX_AUXV_PAIRS)
			return false;
	process->auxv = rcore_arena_alloc(reader->arena, 16 * pairs);
	if (!process->auxv) {
		reader->no_memory = true;
		return true;
	}
	memcpy(process->auxv, bytes, 16 * pairs);
	process->auxv_pairs = pairs;
	return true;
}

/*
 * fill_files_note() of the kernel's fs/binfmt_elf.c: count, page size; then
 * start, end and file offset in pages of each mapping; then their names.
 */
static bool read_file(struct reader *reader, const uint8_t *bytes, size_t size)
{
	struct rcore_process *process = reader->process;
	if (process->mappings)
		return true;
	if (size < 16)
		return false;
	uint64_t count = word(bytes, 0), unit = word(bytes, 1);
	if (count > MAX_MAPPINGS || count > (size - 16) / 24)
		return false;
	process->mappings =
		rcore_arena_alloc(reader->arena, count * sizeof(*process->mappings));
	if (!process->mappings) {
		reader->no_memory = true;
		return true;
	}
	const char *name = (const char *)bytes + 16 + 24 * count;
	const char *end = (const char *)bytes + size;
	bool whole = true;
	for (size_t i = 0; i < count; i++) {
		size_t length = strnlen(name, (size_t)(end - name));
		if (name + length == end) {
			whole = false;
			break;
		}
		struct rcore_mapping mapping = {.start = word(bytes, 2 + 3 * i),
						.end = word(bytes, 3 + 3 * i),
						.path = name};
		name += length + 1;
		if (mapping.start >= mapping.end ||
		    __builtin_mul_overflow(word(bytes, 4 + 3 * i), unit,
					   &mapping.file_offset)) {
			whole = false;
			continue;
		}
		process->mappings[process->mapping_count++] = mapping;
	}
	return rcore_process_order_mappings(process) && whole;
}

static bool read_added(struct reader *reader, const uint8_t *bytes, size_t size)
{
	reader->added = true;
	return true;
}

static bool read_pack(struct reader *reader, const uint8_t *bytes, size_t size)
{
	reader->process->pack_note = (const char *)bytes;
	reader->process->pack_note_size = size;
	return true;
}

static bool read_known(struct reader *reader, const uint8_t *bytes, size_t size)
{
	reader->process->pack_known = bytes;
	reader->process->pack_known_size = size;
	return true;
}

/* To read another note, add its row. */
static const struct {
	const char *owner;
	uint32_t type;
	bool (*read)(struct reader *reader, const uint8_t *bytes, size_t size);
} handlers[] = {
	{"CORE", NT_PRSTATUS, read_prstatus},
	{"CORE", NT_PRPSINFO, read_prpsinfo},
	{"CORE", NT_SIGINFO, read_siginfo},
	{"CORE", NT_AUXV, read_auxv},
	{"CORE", NT_FILE, read_file},
	{"LINUX", NT_ARM_TLS, read_arm_tls},
	{RCORE_NOTE_OWNER, RCORE_NOTE_ADDED, read_added},
	{RCORE_PACK_OWNER, RCORE_PACK_NOTE, read_pack},
	{RCORE_PACK_OWNER, RCORE_PACK_KNOWN_NOTE, read_known},
};

static void read_note(struct reader *reader, const char *owner, size_t owner_size,
		      uint32_t type, const uint8_t *bytes, size_t size)
{
	if (reader->seen < 3)
		reader->first_types[reader->seen] = type;
	reader->seen++;
	owner_size = strnlen(owner, owner_size);
	reader->gdb_note |= owner_size == 3 && !memcmp(owner, "GDB", 3);
	for (size_t i = 0; i < RCORE_COUNT(handlers); i++) {
		if (handlers[i].type == type && strlen(handlers[i].owner) == owner_size &&
		    !memcmp(handlers[i].owner, owner, owner_size)) {
			if (!handlers[i].read(reader, bytes, size))
				reader->damaged++;
			return;
		}
	}
}

static void read_segment(struct reader *reader, const struct rcore_core_file *file,
			 const Elf64_Phdr *header)
{
	if (header->p_offset >= file->size || header->p_offset % 4) {
		reader->damaged++;
		return;
	}
	uint64_t size = header->p_filesz;
	if (size > file->size - header->p_offset)
		size = file->size - header->p_offset;
	Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)header->p_offset, size,
					      header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t offset = 0;
	reader->added = false;
	while (data && offset < data->d_size && reader->seen < MAX_NOTES && !reader->added) {
		GElf_Nhdr note;
		size_t name, desc;
		size_t next = gelf_getnote(data, offset, &note, &name, &desc);
		if (!next) {
			reader->damaged++;
			return;
		}
		const char *bytes = data->d_buf;
		read_note(reader, bytes + name, note.n_namesz, note.n_type,
			  (const uint8_t *)bytes + desc, note.n_descsz);
		offset = next;
	}
}

/*
 * The order of the notes shows who wrote them. The kernel begins with status,
 * process, signal (fill_note_info()), gdb with the process
 * (linux_make_corefile_notes()); since version 12, gdb adds a note of its own.
 * gcore is gdb.
 */
static const char *producer(const struct reader *reader)
{
	static const uint32_t kernel[3] = {NT_PRSTATUS, NT_PRPSINFO, NT_SIGINFO};
	if (reader->gdb_note)
		return "gdb";
	if (reader->seen < 3)
		return NULL;
	if (!memcmp(reader->first_types, kernel, sizeof(kernel)))
		return "kernel";
	if (reader->first_types[0] == NT_PRPSINFO && reader->first_types[1] == NT_PRSTATUS)
		return "gdb";
	return NULL;
}

static struct rcore_error *finish(struct reader *reader)
{
	struct rcore_process *process = reader->process;
	size_t size = reader->threads.count * sizeof(*process->threads);
	process->threads = rcore_arena_alloc(reader->arena, size);
	if (reader->no_memory || !process->threads)
		return rcore_error_no_memory();
	if (size)
		memcpy(process->threads, reader->threads.items, size);
	process->thread_count = reader->threads.count;
	process->producer = producer(reader);
	bool by_gdb = process->producer && !strcmp(process->producer, "gdb");
	/*
	 * The kernel and gdb write the thread that died first. QEMU 10, which
	 * emulates a process, writes it anywhere; it is the only one with a
	 * signal.
	 */
	if (!process->signo && !by_gdb) {
		process->signo = reader->signo;
		process->crashed_tid = reader->signalled;
	}
	rcore_process_settle_signal(process, by_gdb);
	return NULL;
}

struct rcore_error *rcore_core_notes_read(const struct rcore_core_file *file,
					  struct rcore_arena *arena,
					  struct rcore_process *process, size_t *damaged)
{
	struct reader reader = {.arena = arena, .process = process};
	size_t segments = 0;
	for (size_t i = 0; i < file->program_header_count && segments < MAX_NOTE_SEGMENTS;
	     i++) {
		Elf64_Phdr header = rcore_core_file_header(file, i);
		if (header.p_type != PT_NOTE)
			continue;
		segments++;
		read_segment(&reader, file, &header);
	}
	struct rcore_error *err = finish(&reader);
	free(reader.threads.items);
	*damaged = reader.damaged;
	return err;
}
