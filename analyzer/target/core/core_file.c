/* SPDX-License-Identifier: MIT */
#include "target/core/core_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/core/core_pages.h"
#include "target/core/read_ahead.h"
#include "target/core/spool.h"
#include "target/file_kind.h"

/* vm.max_map_count is 65,530 by default and rarely set above a million. */
enum { MAX_PROGRAM_HEADERS = 1 << 22 };

/* Whether the name of a file is the id of a process of this machine. */
static bool is_pid(const char *path)
{
	char folder[32];
	return path[0] && !path[strspn(path, "0123456789")] && strlen(path) < 12 &&
	       snprintf(folder, sizeof(folder), "/proc/%s", path) > 0 && !access(folder, F_OK);
}

static struct rcore_error *open_error(const char *path, int errnum)
{
	if (errnum == ENOENT && is_pid(path))
		return rcore_error_create(RCORE_ERROR_OS,
					  "%s: no such file; `-p %s` reads process %s", path,
					  path, path);
	if (errnum == ENOENT || errnum == ENOTDIR)
		return rcore_error_create(
			RCORE_ERROR_OS,
			"%s: no such file; `cat /proc/sys/kernel/core_pattern` shows where "
			"this machine puts core files",
			path);
	if (errnum == EACCES || errnum == EPERM)
		return rcore_error_create(
			RCORE_ERROR_OS,
			"%s: permission denied; only the user who ran the program can read its "
			"core: use sudo, or change the owner of the file",
			path);
	return rcore_error_os(errnum, "%s", path);
}

static struct rcore_error *not_a_file(const char *path, mode_t mode)
{
	const char *kind = S_ISDIR(mode)    ? "a directory"
			   : S_ISFIFO(mode) ? "a pipe"
			   : S_ISSOCK(mode) ? "a socket"
					    : "a device";
	return rcore_error_create(RCORE_ERROR_OS,
				  "%s: is %s, not a core file; name a core file", path, kind);
}

static struct rcore_error *check_magic(const char *path, const struct rcore_core_file *file)
{
	if (!file->size)
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "%s: is empty; raise `ulimit -c`, or make room on "
					  "the disk",
					  path);
	size_t size = file->size < SELFMAG ? file->size : SELFMAG;
	if (memcmp(file->bytes, ELFMAG, size)) {
		const char *kind = rcore_file_kind(file->bytes, file->size);
		return rcore_error_create(
			RCORE_ERROR_FORMAT, "%s: is %s", path,
			kind ? kind
			     : "not an ELF file; name a core file first, then the executable");
	}
	if (file->size < sizeof(Elf64_Ehdr))
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "%s: ends within the ELF header, after %" PRIu64
					  " bytes; copy the core again, or get a new one",
					  path, file->size);
	return NULL;
}

static struct rcore_error *check_header(const char *path, const uint8_t *bytes)
{
	Elf64_Ehdr header;
	memcpy(&header, bytes, sizeof(header));
	if (header.e_ident[EI_DATA] == ELFDATA2MSB)
		return rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"%s: is big-endian; rcore reads cores of x86-64 and aarch64", path);
	/* e_type and e_machine are at the same place in both classes. */
	if (header.e_type == ET_EXEC || header.e_type == ET_DYN)
		return rcore_error_create(
			RCORE_ERROR_FORMAT,
			"%s: is an executable or a shared library, not a core file; name the "
			"core file first, then the executable",
			path);
	if (header.e_type != ET_CORE)
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "%s: is an ELF file of type %u, not a core file; "
					  "name the core file first, then the executable",
					  path, header.e_type);
	if (header.e_ident[EI_CLASS] == ELFCLASS32)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "%s: comes from a 32-bit process; rcore reads cores "
					  "of x86-64 and aarch64",
					  path);
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_VERSION] != EV_CURRENT)
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "%s: has a damaged ELF header (class %u, version "
					  "%u); copy the core again, or get a new one",
					  path, header.e_ident[EI_CLASS],
					  header.e_ident[EI_VERSION]);
	if (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "%s: comes from another machine (ELF machine %u); "
					  "rcore reads cores of x86-64 and aarch64",
					  path, header.e_machine);
	return NULL;
}

/*
 * Returns how many program headers there are. A number greater than 65,534 is
 * in section 0, which is at the very end of a kernel's core and missing if the
 * file is truncated. As the notes follow the program headers, their offset
 * shows the number, too.
 */
static uint64_t count_program_headers(const struct rcore_core_file *file,
				      const Elf64_Ehdr *header)
{
	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	Elf64_Shdr section;
	if (header->e_shoff && file->size >= sizeof(section) &&
	    header->e_shoff <= file->size - sizeof(section)) {
		memcpy(&section, file->bytes + header->e_shoff, sizeof(section));
		return section.sh_info;
	}
	Elf64_Phdr first;
	if (file->size >= sizeof(first) && header->e_phoff <= file->size - sizeof(first)) {
		memcpy(&first, file->bytes + header->e_phoff, sizeof(first));
		if (first.p_type == PT_NOTE && first.p_offset > header->e_phoff)
			return (first.p_offset - header->e_phoff) / sizeof(first);
	}
	return PN_XNUM;
}

static struct rcore_error *find_program_headers(const char *path, struct rcore_core_file *file)
{
	Elf64_Ehdr header;
	memcpy(&header, file->bytes, sizeof(header));
	uint64_t count = count_program_headers(file, &header);
	if (!count || !header.e_phoff)
		return rcore_error_create(
			RCORE_ERROR_FORMAT,
			"%s: has no program headers, and so no memory; get a new core", path);
	if (header.e_phentsize != sizeof(Elf64_Phdr))
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "%s: the ELF header is damaged (program headers of "
					  "%u bytes); copy the core again, or get a new one",
					  path, header.e_phentsize);
	if (count > MAX_PROGRAM_HEADERS)
		return rcore_error_create(RCORE_ERROR_LIMIT,
					  "%s: %" PRIu64
					  " program headers, more than %d; the ELF header is "
					  "damaged: copy the core again, or get a new one",
					  path, count, MAX_PROGRAM_HEADERS);
	uint64_t size = count * sizeof(Elf64_Phdr);
	if (header.e_phoff > file->size || size > file->size - header.e_phoff)
		return rcore_error_create(
			RCORE_ERROR_FORMAT,
			"%s: is truncated at %" PRIu64
			" bytes, within its headers; copy the core again, or get a new one",
			path, file->size);
	file->program_headers = (const Elf64_Phdr *)(file->bytes + header.e_phoff);
	file->program_header_count = count;
	return NULL;
}

Elf64_Phdr rcore_core_file_header(const struct rcore_core_file *file, size_t index)
{
	Elf64_Phdr header;
	memcpy(&header, (const char *)file->program_headers + index * sizeof(header),
	       sizeof(header));
	return header;
}

/*
 * gdb writes a section for each segment, and libelf would allocate memory for
 * as many as the header claims. So libelf gets a header without sections: that
 * page is a private copy, and the file does not change.
 */
static struct rcore_error *open_elf(const char *path, struct rcore_core_file *file)
{
	long page = sysconf(_SC_PAGESIZE);
	size_t size = file->size < (uint64_t)page ? file->size : (size_t)page;
	Elf64_Ehdr *header = (Elf64_Ehdr *)file->bytes;
	if (mprotect(header, size, PROT_READ | PROT_WRITE))
		return rcore_error_os(errno, "%s: mprotect", path);
	header->e_shoff = 0;
	header->e_shnum = 0;
	header->e_shstrndx = 0;
	if (mprotect(header, size, PROT_READ))
		return rcore_error_os(errno, "%s: mprotect", path);
	elf_version(EV_CURRENT);
	errno = 0;
	file->elf = elf_memory((char *)file->bytes, file->size);
	if (!file->elf && rcore_lacks_memory())
		return rcore_error_no_memory();
	if (!file->elf)
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "%s: the ELF header is damaged (%s); copy the core "
					  "again, or get a new one",
					  path, elf_errmsg(-1));
	return NULL;
}

static struct rcore_error *spool(const char *path, int fd, struct rcore_core_file *file)
{
	rcore_unmap_file(&file->map);
	struct rcore_error *err = rcore_spool(fd, path, &file->map, &file->is_cut_off);
	if (err || !rcore_compression_of(file->map.bytes, file->map.size))
		return err;
	return rcore_error_create(RCORE_ERROR_FORMAT,
				  "%s: cannot be decompressed (damaged, or compressed twice); "
				  "copy the core again, or get a new one",
				  path);
}

/* The file at a path may not be the one that was mapped. */
static void start_reading(struct rcore_core_file *file, int fd)
{
	struct stat status;
	file->ahead = rcore_read_ahead_start(fd, &file->map);
	if (!fstat(fd, &status) && status.st_dev == file->map.device &&
	    status.st_ino == file->map.file && rcore_read_ahead_by_page(fd, &file->map))
		file->pages = rcore_core_pages_new(fd, file->map.size);
}

/* A pipe is copied to a file first. */
static struct rcore_error *map_input(struct rcore_core_file *file)
{
	if (!lseek(STDIN_FILENO, 0, SEEK_CUR) &&
	    !rcore_map_descriptor(STDIN_FILENO, false, &file->map) &&
	    !rcore_compression_of(file->map.bytes, file->map.size)) {
		start_reading(file, STDIN_FILENO);
		return NULL;
	}
	return spool("standard input", STDIN_FILENO, file);
}

static struct rcore_error *map(const char *path, struct rcore_core_file *file)
{
	if (!strcmp(path, "-"))
		return map_input(file);
	int errnum = rcore_map_file(path, false, &file->map);
	if (!errnum && rcore_compression_of(file->map.bytes, file->map.size)) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return open_error(path, errno);
		struct rcore_error *err = spool(path, fd, file);
		close(fd);
		return err;
	}
	if (!errnum) {
		int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0) {
			start_reading(file, fd);
			close(fd);
		}
		return NULL;
	}
	if (!file->map.mode)
		return open_error(path, errnum);
	if (!S_ISREG(file->map.mode))
		return not_a_file(path, file->map.mode);
	return errnum == ENOMEM ? rcore_error_no_memory()
				: rcore_error_os(errnum, "%s: cannot map the file", path);
}

struct rcore_error *rcore_core_file_open(const char *path, struct rcore_core_file *ret)
{
	struct rcore_core_file file = {0};
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct rcore_error *err = map(path, &file);
	file.bytes = file.map.bytes;
	file.size = file.map.size;
	if (!err)
		err = check_magic(name, &file);
	if (!err)
		err = check_header(name, file.bytes);
	if (!err)
		err = find_program_headers(name, &file);
	if (!err)
		err = open_elf(name, &file);
	if (err) {
		rcore_core_file_close(&file);
		return err;
	}
	*ret = file;
	return NULL;
}

void rcore_core_file_close(struct rcore_core_file *file)
{
	elf_end(file->elf);
	rcore_read_ahead_stop(file->ahead);
	rcore_core_pages_free(file->pages);
	rcore_unmap_file(&file->map);
	*file = (struct rcore_core_file){0};
}
