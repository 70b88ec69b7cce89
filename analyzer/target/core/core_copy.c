/* SPDX-License-Identifier: MIT */
#include "target/core/core_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "target/copy_range.h"
#include "target/core/core_extend.h"
#include "target/output/output.h"

/*
 *	original			copy
 *	ELF header			ELF header
 *	program headers			program headers, with other offsets
 *	notes				section headers, if they count the
 *					program headers
 *	memory ...			the same notes and the added ones
 *					memory ..., `shift` bytes further on
 *
 * Sections of the original (gdb writes one for each segment) say nothing that
 * the program headers do not say, and are left out. Memory moves as a whole, by
 * whole blocks, so that holes and shared blocks are preserved. The copy of a
 * truncated core is truncated at the same place.
 */
struct plan {
	const struct rcore_core_file *file;
	Elf64_Phdr *headers;
	size_t count;
	size_t notes; /* index of the PT_NOTE to be extended */
	struct rcore_note_bytes bytes;
	uint64_t section, notes_offset; /* in the copy */
	/* Of memory: its offset in the original, and how far it moves. */
	uint64_t start, shift;
};

/* No machine has larger pages, and no file system larger blocks. */
enum { ALIGN = 64 << 10 };

/*
 * Section 0 has the number of program headers; libelf adds an empty one after
 * it.
 */
enum { SECTIONS = 2 };

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

static struct rcore_error *find_notes(struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		plan->headers[i] = rcore_core_file_header(plan->file, i);
		if (plan->headers[i].p_type == PT_NOTE && plan->notes == plan->count)
			plan->notes = i;
	}
	if (plan->notes == plan->count)
		return rcore_error_create(
			RCORE_ERROR_FORMAT,
			"the core has no notes, so rcore cannot add threads; get a new core");
	return NULL;
}

static void place(struct plan *plan)
{
	uint64_t end = sizeof(Elf64_Ehdr) + plan->count * sizeof(Elf64_Phdr);
	if (plan->count >= PN_XNUM) {
		plan->section = end;
		end += SECTIONS * sizeof(Elf64_Shdr);
	}
	plan->notes_offset = end;
	end += plan->bytes.count;

	plan->start = plan->file->size;
	for (size_t i = 0; i < plan->count; i++)
		if (i != plan->notes && plan->headers[i].p_filesz &&
		    plan->headers[i].p_offset < plan->start)
			plan->start = plan->headers[i].p_offset;
	if (end > plan->start)
		plan->shift = round_up(end - plan->start, ALIGN);
	for (size_t i = 0; i < plan->count; i++)
		if (i != plan->notes && plan->headers[i].p_offset <= UINT64_MAX - plan->shift)
			plan->headers[i].p_offset += plan->shift;
	plan->headers[plan->notes].p_offset = plan->notes_offset;
	plan->headers[plan->notes].p_filesz = plan->bytes.count;
}

static struct rcore_error *elf_error(void)
{
	/* libelf only says that it cannot write; errno says why. */
	int code = elf_errno(), errnum = errno;
	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EIO || errnum == EFBIG)
		return rcore_error_os(errnum, "cannot write the ELF headers");
	return rcore_error_create(RCORE_ERROR_OS, "cannot write the ELF headers: %s",
				  elf_errmsg(code));
}

/*
 * libelf fills the space between the empty section and the section headers with
 * zeroes.
 */
static bool add_sections(Elf *elf, uint64_t offset)
{
	Elf64_Shdr *empty = elf64_getshdr(elf_newscn(elf));
	if (empty)
		empty->sh_offset = offset;
	return empty != NULL;
}

static bool fill_headers(Elf *elf, const struct plan *plan)
{
	Elf64_Ehdr old, *header = elf64_newehdr(elf);
	if (!header || (plan->section && !add_sections(elf, plan->section)))
		return false;
	Elf64_Phdr *program = elf64_newphdr(elf, plan->count);
	if (!program)
		return false;
	memcpy(&old, plan->file->bytes, sizeof(old));
	memcpy(header->e_ident, old.e_ident, EI_NIDENT);
	header->e_type = old.e_type;
	header->e_machine = old.e_machine;
	header->e_version = old.e_version;
	header->e_flags = old.e_flags;
	header->e_phoff = sizeof(*header);
	header->e_shoff = plan->section;
	memcpy(program, plan->headers, plan->count * sizeof(*program));
	elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT | ELF_F_DIRTY);
	elf_flagehdr(elf, ELF_C_SET, ELF_F_DIRTY);
	elf_flagphdr(elf, ELF_C_SET, ELF_F_DIRTY);
	return true;
}

static struct rcore_error *write_headers(const struct plan *plan, int to)
{
	errno = 0;
	Elf *elf = elf_begin(to, ELF_C_WRITE, NULL);
	if (!elf)
		return elf_error();
	struct rcore_error *err = NULL;
	if (!fill_headers(elf, plan) || elf_update(elf, ELF_C_WRITE) < 0)
		err = elf_error();
	elf_end(elf);
	return err;
}

static struct rcore_error *write_all(const struct plan *plan, int from, int to)
{
	struct rcore_error *err = write_headers(plan, to);
	if (err)
		return err;
	uint64_t size = plan->file->size + plan->shift;
	int errnum = ftruncate(to, (off_t)size) ? errno : 0;
	if (!errnum)
		errnum = rcore_write_at(to, plan->bytes.items, plan->bytes.count,
					plan->notes_offset);
	if (!errnum)
		errnum = rcore_copy_range(from, plan->start, plan->file->size, to, plan->shift);
	return errnum ? rcore_error_os(errnum, "cannot copy the core's memory") : NULL;
}

/*
 * Opens the file that is mapped, so that the copy can share its blocks. Returns
 * -1 if it was decompressed, came through a pipe, or was replaced meanwhile;
 * then the mapped bytes are copied.
 */
static int open_original(const char *path, const struct rcore_core_file *file)
{
	struct stat status;
	unsigned char ident[EI_NIDENT];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && !fstat(fd, &status) && (uint64_t)status.st_size == file->size &&
	    pread(fd, ident, sizeof(ident), 0) == sizeof(ident) &&
	    !memcmp(ident, file->bytes, sizeof(ident)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static struct rcore_error *write_file(const struct plan *plan, int from, const char *path,
				      const struct rcore_inputs *inputs)
{
	struct rcore_output out;
	char name[RCORE_OUTPUT_NAME_SIZE];
	struct rcore_error *err = rcore_output_open(path, RCORE_OUTPUT_PRIVATE, inputs, &out);
	if (err)
		return err;
	rcore_output_name(&out, name);
	err = rcore_error_wrap(write_all(plan, from, out.fd), "%s", name);
	if (!err)
		err = rcore_output_keep(&out);
	rcore_output_close(&out);
	return err;
}

struct rcore_error *rcore_core_copy(const struct rcore_core *core, const char *path,
				    const struct rcore_inputs *inputs,
				    const struct rcore_added_thread *threads, size_t count)
{
	const struct rcore_core_file *file = rcore_core_file(core);
	const char *source = rcore_core_process(core)->source;
	struct plan plan = {.file = file, .count = file->program_header_count};
	plan.notes = plan.count;
	plan.headers = calloc(plan.count, sizeof(*plan.headers));
	struct rcore_error *err = plan.headers ? NULL : rcore_error_no_memory();
	if (!err)
		err = find_notes(&plan);
	if (!err)
		err = rcore_core_extend_notes(file, &plan.headers[plan.notes], threads, count,
					      &plan.bytes);
	err = rcore_error_wrap(err, "%s", source);
	if (!err) {
		int from = open_original(source, file);
		place(&plan);
		err = write_file(&plan, from, path, inputs);
		if (from >= 0)
			close(from);
	}
	free(plan.headers);
	free(plan.bytes.items);
	return err;
}
