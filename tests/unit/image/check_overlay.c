/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "core_builder.h"
#include "image/elf/modules.h"
#include "target/core/core.h"
#include "suite.h"

/*
 * A library of 0x2388 bytes: a page to read, then data that ends within its
 * second page.
 *
 *	file		memory
 *	0	1000	BASE		headers, text
 *	1000	1388	BASE + 2000	.data, two pages, zero after the file's end
 *			BASE + 4000	a page of the mapping past the file's end
 *			BASE + 5000	.bss without a file
 */
enum { FILE_SIZE = 0x2388, NOTE_AT = 0x200 };
static const uint64_t BASE = 0x7f0000000000, STACK = 0x7ffe00000000;

static unsigned char byte_of_file(size_t offset)
{
	return (unsigned char)(offset * 7 + offset / 256 + 1);
}

static void make_library(unsigned char *file)
{
	for (size_t i = 0; i < FILE_SIZE; i++)
		file[i] = byte_of_file(i);
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
	};
	Elf64_Phdr items[] = {
		{PT_LOAD, PF_R | PF_X, 0, 0, 0, 0x1000, 0x1000, 0x1000},
		{PT_LOAD, PF_R | PF_W, 0x1000, 0x2000, 0x2000, 0x1388, 0x4000, 0x1000},
		{PT_NOTE, PF_R, NOTE_AT, NOTE_AT, NOTE_AT, 24, 24, 4},
	};
	struct {
		Elf64_Nhdr header;
		char owner[4], build_id[8];
	} note = {{4, 8, NT_GNU_BUILD_ID}, "GNU", "12345678"};
	memcpy(file, &header, sizeof(header));
	memcpy(file + sizeof(header), items, sizeof(items));
	memcpy(file + NOTE_AT, &note, sizeof(note));
}

struct target {
	struct core_builder builder;
	unsigned char file[FILE_SIZE];
	struct rcore_core *core;
	struct rcore_modules *modules;
	struct rcore_memory *memory;
};

/* Saved bytes of text, data and stack. */
static void make(struct target *target, uint64_t text, uint64_t data, uint64_t stack)
{
	*target = (struct target){0};
	make_library(target->file);
	const char *path = write_file("library.so", target->file, FILE_SIZE);
	struct core_mapping rows[] = {{BASE, BASE + 0x1000, 0, path},
				      {BASE + 0x2000, BASE + 0x5000, 0x1000, path}};
	unsigned char written[0x3000];
	memset(written, 'w', sizeof(written));
	core_note_status(&target->builder, 1, SIGABRT, BASE, STACK, 0);
	core_note_files(&target->builder, rows, 2);
	core_load(&target->builder, STACK, NULL, stack, 0x1000, PF_R | PF_W);
	core_load(&target->builder, BASE + 0x5000, NULL, 0, 0x1000, PF_R | PF_W);
	core_load(&target->builder, BASE, target->file, text, 0x1000, PF_R | PF_X);
	core_load(&target->builder, BASE + 0x2000, written, data, 0x3000, PF_R | PF_W);
}

static void open_target(struct target *target, size_t cut)
{
	size_t size;
	unsigned char *file = core_build(&target->builder, &size);
	const char *path = write_file("core", file, size - cut);
	free(file);
	struct rcore_error *err = rcore_core_open(path, &target->core);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	struct rcore_memory *below = rcore_core_memory(target->core);
	err = rcore_modules_open(rcore_core_process(target->core), below, NULL,
				 &target->modules);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	ck_assert_uint_eq(rcore_modules_count(target->modules), 1);
	target->memory = rcore_modules_overlay(target->modules, below);
}

static void end(struct target *target)
{
	rcore_modules_close(target->modules);
	rcore_core_close(target->core);
	core_deinit(&target->builder);
}

static void has_file_bytes(struct target *target, uint64_t address, size_t size, size_t offset)
{
	unsigned char bytes[0x3000];
	ck_assert_int_eq(rcore_read(target->memory, address, bytes, size), 0);
	for (size_t i = 0; i < size; i++)
		ck_assert_uint_eq(bytes[i],
				  offset + i < FILE_SIZE ? target->file[offset + i] : 0);
}

static void faults(struct target *target, uint64_t address, size_t size, enum rcore_fault fault)
{
	unsigned char bytes[0x3000];
	ck_assert_int_eq(rcore_read(target->memory, address, bytes, size), fault);
}

START_TEST(fills_by_file_offset)
{
	struct target target;
	make(&target, 0x1000, 0, 0x1000);
	open_target(&target, 0);
	struct rcore_module *module = rcore_modules_get(target.modules, 0);
	ck_assert_int_eq(module->status, RCORE_MODULE_FOUND);
	ck_assert_uint_eq(module->build_id_size, 8);
	ck_assert_uint_eq(module->bias, BASE);
	ck_assert_uint_eq(module->end, BASE + 0x6000);
	has_file_bytes(&target, BASE, 0x1000, 0);
	has_file_bytes(&target, BASE + 0x2000, 0x2000, 0x1000);
	has_file_bytes(&target, BASE + 0x3380, 32, 0x2380);
	has_file_bytes(&target, BASE + 0x3ffc, 4, 0x2ffc);
	faults(&target, BASE + 0x3ffc, 8, RCORE_FAULT_NOT_SAVED);
	faults(&target, BASE + 0x4000, 1, RCORE_FAULT_NOT_SAVED);
	faults(&target, BASE + 0x5000, 1, RCORE_FAULT_NOT_SAVED);
	faults(&target, BASE + 0xff8, 16, RCORE_FAULT_UNMAPPED);
	faults(&target, BASE + 0x6000, 1, RCORE_FAULT_UNMAPPED);
	faults(&target, UINT64_MAX - 3, 8, RCORE_FAULT_UNMAPPED);
	uint64_t start, finish;
	ck_assert(rcore_module_writable(target.modules, module, 0, &start, &finish));
	ck_assert_uint_eq(start, BASE + 0x2000);
	ck_assert_uint_eq(finish, BASE + 0x6000);
	ck_assert(!rcore_module_writable(target.modules, module, 1, &start, &finish));
	end(&target);
}

START_TEST(saved_pages_win)
{
	struct target target;
	make(&target, 0x1000, 0x1000, 0x1000);
	open_target(&target, 0);
	unsigned char bytes[16];
	ck_assert_int_eq(rcore_read(target.memory, BASE + 0x2ff8, bytes, 16), 0);
	ck_assert_int_eq(memcmp(bytes, "wwwwwwww", 8), 0);
	ck_assert_int_eq(memcmp(bytes + 8, target.file + 0x2000, 8), 0);
	end(&target);
}

/* Between two edges, all bytes can be read, or none. */
START_TEST(edges)
{
	static const struct {
		uint64_t text, data;
	} saved[] = {{0x1000, 0x1000}, {0x123, 0x1801}, {0, 0}, {0xfff, 0x2fff}};
	struct target target;
	size_t count = 0;
	make(&target, saved[_i].text, saved[_i].data, 0x1000);
	open_target(&target, 0);
	for (uint64_t at = BASE - 0x800, next; at < BASE + 0x6800; at = next) {
		unsigned char bytes[0x3000];
		uint64_t of_core = rcore_core_edge(target.core, at);
		next = rcore_modules_edge(target.modules, at);
		next = of_core < next ? of_core : next;
		ck_assert(next > at && next - at <= 0x1000);
		bool can = !rcore_read(target.memory, at, bytes, next - at);
		for (uint64_t byte = at; byte < next; byte++)
			ck_assert(can == !rcore_read(target.memory, byte, bytes, 1));
		count++;
	}
	ck_assert_uint_le(count, 16);
	ck_assert_uint_eq(rcore_core_edge(target.core, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(rcore_modules_edge(target.modules, UINT64_MAX), UINT64_MAX);
	end(&target);
}

/*
 * If a core has no anonymous memory, a missing page of data may have been
 * written.
 */
START_TEST(core_without_anonymous_memory)
{
	struct target target;
	make(&target, 0x1000, 0, 0);
	open_target(&target, 0);
	faults(&target, BASE + 0x2000, 8, RCORE_FAULT_NOT_SAVED);
	has_file_bytes(&target, BASE, 0x1000, 0);
	end(&target);
}

START_TEST(truncated_core)
{
	struct target target;
	make(&target, 0x1000, 0x1000, 0x1000);
	open_target(&target, 0x1800);
	/*
	 * The headers are half gone, so the build-id is; text is the file's,
	 * data is lost.
	 */
	has_file_bytes(&target, BASE + 0x800, 0x800, 0x800);
	faults(&target, BASE + 0x2000, 8, RCORE_FAULT_TRUNCATED);
	has_file_bytes(&target, BASE + 0x3000, 0x1000, 0x2000);
	end(&target);
}

/*
 * gdb leaves out a segment that it does not save. The mapping of its file is
 * still known.
 */
START_TEST(no_segment)
{
	struct target target;
	make(&target, 0x1000, 0x1000, 0x1000);
	target.builder.loads[3].header.p_type = PT_NULL;
	open_target(&target, 0);
	faults(&target, BASE + 0x2000, 8, RCORE_FAULT_NOT_SAVED);
	faults(&target, BASE + 0x1000, 8, RCORE_FAULT_UNMAPPED);
	has_file_bytes(&target, BASE, 0x1000, 0);
	target.builder.loads[2].header.p_type = PT_NULL;
	rcore_modules_close(target.modules);
	rcore_core_close(target.core);
	open_target(&target, 0);
	ck_assert_int_eq(rcore_modules_get(target.modules, 0)->status, RCORE_MODULE_UNVERIFIED);
	has_file_bytes(&target, BASE, 0x1000, 0);
	end(&target);
}

START_TEST(file_gone)
{
	struct target target;
	make(&target, 0x1000, 0x1000, 0x1000);
	ck_assert_int_eq(unlink(temporary_path("library.so")), 0);
	open_target(&target, 0);
	ck_assert_int_eq(rcore_modules_get(target.modules, 0)->status, RCORE_MODULE_MISSING);
	has_file_bytes(&target, BASE, 0x1000, 0);
	faults(&target, BASE + 0x3000, 8, RCORE_FAULT_FILE_MISSING);
	faults(&target, BASE + 0x5000, 8, RCORE_FAULT_NOT_SAVED);
	end(&target);
}

int main(void)
{
	const TTest *const tests[] = {
		fills_by_file_offset, saved_pages_win, core_without_anonymous_memory,
		truncated_core,       no_segment,      file_gone};
	const struct rcore_test_loop loops[] = {{edges, 4}};
	const struct rcore_test_suite suite = {
		.name = "overlay",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
