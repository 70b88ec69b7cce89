/* SPDX-License-Identifier: MIT */
#include "target/core/process_notes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "target/prstatus.h"

static bool add(struct rcore_note_bytes *notes, const char *owner, uint32_t type,
		const void *body, size_t size)
{
	return rcore_note_add(notes, RCORE_PROCESS_NOTES_ALIGN, owner, type, body, size);
}

static bool add_thread(struct rcore_note_bytes *notes, unsigned machine,
		       const struct rcore_native_thread *thread)
{
	enum { FP_VALID_SIZE = 8 };
	uint8_t status[RCORE_PRSTATUS_MAX] = {0};
	size_t registers = sizeof(uint64_t) * (size_t)rcore_register_count(machine);
	int32_t tid = thread->tid;
	memcpy(status + RCORE_PRSTATUS_PID, &tid, sizeof(tid));
	memcpy(status + RCORE_PRSTATUS_REG, thread->registers, registers);
	if (!add(notes, "CORE", NT_PRSTATUS, status,
		 RCORE_PRSTATUS_REG + registers + FP_VALID_SIZE))
		return false;
	return machine != EM_AARCH64 || add(notes, "LINUX", NT_ARM_TLS, &thread->thread_pointer,
					    sizeof(thread->thread_pointer));
}

static void put_text(uint8_t *at, size_t size, const char *text)
{
	memcpy(at, text, strnlen(text, size - 1));
}

static bool add_process(struct rcore_note_bytes *notes, const struct rcore_process *process)
{
	uint8_t info[RCORE_PRPSINFO_SIZE] = {0};
	int32_t pid = process->pid;
	memcpy(info + RCORE_PRPSINFO_PID, &pid, sizeof(pid));
	if (process->executable)
		put_text(info + RCORE_PRPSINFO_FNAME,
			 RCORE_PRPSINFO_PSARGS - RCORE_PRPSINFO_FNAME, process->executable);
	if (process->arguments)
		put_text(info + RCORE_PRPSINFO_PSARGS,
			 RCORE_PRPSINFO_SIZE - RCORE_PRPSINFO_PSARGS, process->arguments);
	return add(notes, "CORE", NT_PRPSINFO, info, sizeof(info));
}

static bool add_auxv(struct rcore_note_bytes *notes, const struct rcore_process *process)
{
	static const uint64_t end[2] = {AT_NULL};
	struct rcore_note_bytes body = {0};
	bool done = rcore_note_append(&body, process->auxv,
				      process->auxv_pairs * 2 * sizeof(*process->auxv)) &&
		    rcore_note_append(&body, end, sizeof(end)) &&
		    add(notes, "CORE", NT_AUXV, body.items, body.count);
	free(body.items);
	return done;
}

/*
 * As read_file() of core_notes.c reads it. Files are mapped by whole pages of
 * at least this size.
 */
static bool add_files(struct rcore_note_bytes *notes, const struct rcore_process *process)
{
	enum { UNIT = 4096 };
	const uint64_t head[2] = {process->mapping_count, UNIT};
	struct rcore_note_bytes body = {0};
	bool done = rcore_note_append(&body, head, sizeof(head));
	for (size_t i = 0; i < process->mapping_count && done; i++) {
		const struct rcore_mapping *mapping = &process->mappings[i];
		const uint64_t row[3] = {mapping->start, mapping->end,
					 mapping->file_offset / UNIT};
		done = rcore_note_append(&body, row, sizeof(row));
	}
	for (size_t i = 0; i < process->mapping_count && done; i++) {
		const char *path = process->mappings[i].path;
		done = rcore_note_append(&body, path, strlen(path) + 1);
	}
	done = done && add(notes, "CORE", NT_FILE, body.items, body.count);
	free(body.items);
	return done;
}

bool rcore_process_notes(const struct rcore_process *process, struct rcore_note_bytes *ret)
{
	*ret = (struct rcore_note_bytes){0};
	for (size_t i = 0; i < process->thread_count; i++) {
		if (!add_thread(ret, process->machine, &process->threads[i]))
			return false;
		/* What is of the whole process follows the first thread. */
		if (i == 0 && !(add_process(ret, process) && add_auxv(ret, process) &&
				add_files(ret, process)))
			return false;
	}
	return true;
}
