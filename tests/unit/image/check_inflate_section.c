/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/count.h"
#include "image/symbolize/inflate_section.h"
#include "suite.h"

/* Inflates compressed sections of files that libelf writes. */

enum { SIZE = 100000 };

static char plain[SIZE];

static void fill_plain(void)
{
	for (size_t i = 0; i < SIZE; i++)
		plain[i] = (char)(i * i / 7);
}

/* Returns a file with one section, in memory. */
static int write_file(bool compress)
{
	int fd = memfd_create("section", MFD_CLOEXEC);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	ck_assert_ptr_nonnull(elf);
	Elf64_Ehdr *file = elf64_newehdr(elf);
	file->e_ident[EI_DATA] = ELFDATA2LSB;
	file->e_type = ET_DYN;
	file->e_machine = EM_X86_64;
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	*data = (Elf_Data){.d_buf = plain,
			   .d_size = SIZE,
			   .d_align = 1,
			   .d_type = ELF_T_BYTE,
			   .d_version = EV_CURRENT};
	Elf64_Shdr *header = elf64_getshdr(section);
	header->sh_type = SHT_PROGBITS;
	header->sh_addralign = 1;
	ck_assert_int_ge(elf_update(elf, ELF_C_NULL), 0);
	if (compress)
		ck_assert_int_eq(elf_compress(section, ELFCOMPRESS_ZLIB, ELF_CHF_FORCE), 1);
	ck_assert_int_gt(elf_update(elf, ELF_C_WRITE), 0);
	elf_end(elf);
	return fd;
}

static Elf *open_file(int fd, Elf_Scn **section)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	*section = elf_getscn(elf, 1);
	ck_assert_ptr_nonnull(*section);
	return elf;
}

static bool is_compressed(Elf_Scn *section)
{
	GElf_Shdr header;
	ck_assert_ptr_nonnull(gelf_getshdr(section, &header));
	return header.sh_flags & SHF_COMPRESSED;
}

static void check_plain(Elf_Scn *section)
{
	Elf_Data *data[] = {elf_rawdata(section, NULL), elf_getdata(section, NULL)};
	for (size_t i = 0; i < 2; i++) {
		ck_assert_uint_eq(data[i]->d_size, SIZE);
		ck_assert_mem_eq(data[i]->d_buf, plain, SIZE);
	}
}

START_TEST(compressed)
{
	Elf_Scn *section;
	int fd = write_file(true);
	Elf *elf = open_file(fd, &section);
	ck_assert(is_compressed(section));
	rcore_inflate_section(elf, section);
#ifdef RCORE_DEFLATE
	ck_assert(!is_compressed(section));
	check_plain(section);
#else
	ck_assert(is_compressed(section));
#endif
	elf_end(elf);
	close(fd);
}
END_TEST

START_TEST(not_compressed)
{
	Elf_Scn *section;
	int fd = write_file(false);
	Elf *elf = open_file(fd, &section);
	rcore_inflate_section(elf, section);
	check_plain(section);
	elf_end(elf);
	close(fd);
}
END_TEST

/* The section stays as it is, for libdw to refuse. */
START_TEST(damaged)
{
	static const struct {
		size_t offset; /* of the section */
		uint64_t value;
	} damages[] = {
		{offsetof(Elf64_Chdr, ch_size), SIZE - 1},
		{offsetof(Elf64_Chdr, ch_size), SIZE + 1},
		{offsetof(Elf64_Chdr, ch_size), UINT64_MAX},
		{offsetof(Elf64_Chdr, ch_size), 0},
		{offsetof(Elf64_Chdr, ch_type), 99},
		{sizeof(Elf64_Chdr), UINT64_MAX},
		{sizeof(Elf64_Chdr) + 1000, UINT64_MAX},
	};
	Elf_Scn *section;
	GElf_Shdr header;
	int fd = write_file(true);
	Elf *elf = open_file(fd, &section);
	gelf_getshdr(section, &header);
	elf_end(elf);
	ck_assert_int_eq(pwrite(fd, &damages[_i].value, sizeof(damages[_i].value),
				(off_t)(header.sh_offset + damages[_i].offset)),
			 sizeof(damages[_i].value));
	elf = open_file(fd, &section);
	rcore_inflate_section(elf, section);
	ck_assert(is_compressed(section));
	ck_assert_uint_eq(elf_rawdata(section, NULL)->d_size, header.sh_size);
	elf_end(elf);
	close(fd);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {compressed, not_compressed};
	const struct rcore_test_loop loops[] = {{damaged, 7}};
	const struct rcore_test_suite suite = {
		.name = "inflate section",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	fill_plain();
	return rcore_test_suite_run(&suite);
}
