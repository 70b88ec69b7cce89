/* SPDX-License-Identifier: MIT */
#include "target/core/core_extend.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "target/prstatus.h"

/* A note of the original, and its place in the segment's data. */
struct note {
	uint32_t type;
	size_t offset, size; /* of all of it, with its header */
	size_t body, body_size;
};

/* The notes of a kernel thread: from its NT_PRSTATUS to the next one. */
struct group {
	int tid;
	struct note status;
	size_t first, count; /* in `shared` */
};

struct original {
	const uint8_t *bytes;
	size_t align;
	size_t kept; /* bytes up to the last whole note */
	struct note process;
	struct {
		struct group *items;
		size_t count, capacity;
	} groups;
	struct {
		struct note *items;
		size_t count, capacity;
	} shared;
	size_t last; /* the group that was found last */
};

#ifndef NT_ARM_TAGGED_ADDR_CTRL /* glibc 2.31 */
#define NT_ARM_TAGGED_ADDR_CTRL 0x409
#endif

/* Notes that each thread has, and that a fiber shares with its thread. */
static bool is_shared(uint32_t type)
{
	return type == NT_ARM_TLS || type == NT_ARM_PAC_MASK || type == NT_ARM_TAGGED_ADDR_CTRL;
}

static bool add_group(struct original *original, const struct note *note)
{
	int32_t tid = 0;
	if (note->body_size >= RCORE_PRSTATUS_PID + sizeof(tid))
		memcpy(&tid, original->bytes + note->body + RCORE_PRSTATUS_PID, sizeof(tid));
	struct group *group = rcore_push(&original->groups);
	if (!group)
		return false;
	*group = (struct group){.tid = tid, .status = *note, .first = original->shared.count};
	return true;
}

static bool add_shared(struct original *original, const struct note *note)
{
	struct note *shared = original->groups.count ? rcore_push(&original->shared) : NULL;
	if (!shared)
		return !original->groups.count;
	*shared = *note;
	original->groups.items[original->groups.count - 1].count++;
	return true;
}

static bool see(struct original *original, const char *owner, const struct note *note)
{
	if (!strcmp(owner, "CORE") && note->type == NT_PRSTATUS)
		return add_group(original, note);
	if (!strcmp(owner, "CORE") && note->type == NT_PRPSINFO &&
	    note->body_size >= RCORE_PRPSINFO_SIZE)
		original->process = *note;
	if (!strcmp(owner, "LINUX") && is_shared(note->type))
		return add_shared(original, note);
	return true;
}

static bool survey(const Elf_Data *segment, struct original *original)
{
	Elf_Data *data = (Elf_Data *)segment;
	size_t offset = 0;
	while (offset < data->d_size) {
		GElf_Nhdr header;
		char owner[8] = "";
		size_t name, body, next = gelf_getnote(data, offset, &header, &name, &body);
		if (!next)
			break;
		if (header.n_namesz < sizeof(owner))
			memcpy(owner, original->bytes + name, header.n_namesz);
		if (!strcmp(owner, RCORE_NOTE_OWNER) && header.n_type == RCORE_NOTE_ADDED)
			break;
		struct note note = {header.n_type, offset, next - offset, body,
				    header.n_descsz};
		if (!see(original, owner, &note))
			return false;
		offset = original->kept = next;
	}
	return true;
}

static bool put_note(struct rcore_note_bytes *out, const struct original *original,
		     const char *owner, uint32_t type, const void *body, size_t size)
{
	return rcore_note_add(out, original->align, owner, type, body, size);
}

static const struct group *find_group(struct original *original, int tid)
{
	for (size_t i = 0; i < original->groups.count; i++) {
		size_t index = (original->last + i) % original->groups.count;
		if (original->groups.items[index].tid == tid) {
			original->last = index;
			return &original->groups.items[index];
		}
	}
	return NULL;
}

/*
 * The ids of process, group and session, and the signal mask, are the owner's.
 * The owner's signal and times are not the fiber's.
 */
static bool put_status(struct rcore_note_bytes *out, const struct original *original,
		       unsigned machine, const struct group *group,
		       const struct rcore_added_thread *thread)
{
	uint8_t status[RCORE_PRSTATUS_MAX] = {0};
	size_t registers = 8 * (size_t)rcore_register_count(machine);
	size_t size = RCORE_PRSTATUS_REG + registers + 8;
	int32_t tid = thread->tid;
	if (group && group->status.body_size >= size)
		memcpy(status, original->bytes + group->status.body, size);
	memset(status, 0, RCORE_PRSTATUS_SIGPEND);
	memcpy(status + RCORE_PRSTATUS_PID, &tid, sizeof(tid));
	memset(status + RCORE_PRSTATUS_TIMES, 0, RCORE_PRSTATUS_REG - RCORE_PRSTATUS_TIMES);
	memcpy(status + RCORE_PRSTATUS_REG, thread->registers, registers);
	memset(status + RCORE_PRSTATUS_REG + registers, 0, 8);
	return put_note(out, original, "CORE", NT_PRSTATUS, status, size);
}

static bool put_name(struct rcore_note_bytes *out, const struct original *original,
		     const struct rcore_added_thread *thread)
{
	uint8_t process[RCORE_PRPSINFO_SIZE];
	if (!original->process.size)
		return true;
	memcpy(process, original->bytes + original->process.body, sizeof(process));
	memcpy(process + RCORE_PRPSINFO_FNAME, thread->name, sizeof(thread->name));
	return put_note(out, original, "CORE", NT_PRPSINFO, process, sizeof(process));
}

static bool put_thread(struct rcore_note_bytes *out, struct original *original,
		       unsigned machine, const struct rcore_added_thread *thread)
{
	const struct group *group = find_group(original, thread->owner);
	if (!put_status(out, original, machine, group, thread))
		return false;
	for (size_t i = 0; group && i < group->count; i++) {
		const struct note *note = &original->shared.items[group->first + i];
		if (!put_note(out, original, "LINUX", note->type, original->bytes + note->body,
			      note->body_size))
			return false;
	}
	return put_name(out, original, thread);
}

/*
 * gdb and rcore use the last NT_PRPSINFO for the process, so its own is
 * repeated at the end.
 */
static bool put_process(struct rcore_note_bytes *out, const struct original *original)
{
	const struct note *process = &original->process;
	return !process->size || put_note(out, original, "CORE", NT_PRPSINFO,
					  original->bytes + process->body, process->body_size);
}

static bool extend(struct original *original, unsigned machine,
		   const struct rcore_added_thread *threads, size_t count,
		   struct rcore_note_bytes *out)
{
	if (!rcore_note_append(out, original->bytes, original->kept))
		return false;
	if (!count)
		return true;
	if (!put_note(out, original, RCORE_NOTE_OWNER, RCORE_NOTE_ADDED, NULL, 0))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!put_thread(out, original, machine, &threads[i]))
			return false;
	return put_process(out, original);
}

struct rcore_error *rcore_core_extend_notes(const struct rcore_core_file *file,
					    const Elf64_Phdr *header,
					    const struct rcore_added_thread *threads,
					    size_t count, struct rcore_note_bytes *ret)
{
	Elf64_Ehdr elf;
	uint64_t left = header->p_offset < file->size ? file->size - header->p_offset : 0;
	uint64_t size = header->p_filesz < left ? header->p_filesz : left;
	Elf_Data *data = elf_getdata_rawchunk(file->elf, (int64_t)header->p_offset, size,
					      header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	if (!size || !data)
		return rcore_error_create(
			RCORE_ERROR_FORMAT,
			"the notes of the core cannot be read, so rcore cannot add threads; "
			"copy the core again, or get a new one");
	struct original original = {.bytes = data->d_buf,
				    .align = header->p_align == 8 ? 8 : 4};
	struct rcore_note_bytes out = {0};
	memcpy(&elf, file->bytes, sizeof(elf));
	bool done = survey(data, &original) &&
		    extend(&original, elf.e_machine, threads, count, &out);
	free(original.groups.items);
	free(original.shared.items);
	if (!done) {
		free(out.items);
		return rcore_error_no_memory();
	}
	*ret = out;
	return NULL;
}
