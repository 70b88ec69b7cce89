/* SPDX-License-Identifier: MIT */
/* Writes packs with ranges, and opens them as cores. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "core_builder.h"
#include "suite.h"
#include "target/core/core_file.h"
#include "target/core/foreign_core.h"
#include "target/pack/core_pack.h"
#include "target/pack/pack_plan.h"

enum { PAGE = RCORE_RECORDER_PAGE, BLOCK = RCORE_RECORDER_BLOCK };

/*
 * Addresses of the program's memory, in blocks: two mappings without a gap that
 * are written, a long one that nobody has written, short zeroes in one that is
 * written, a part of a page alone, and a page at the end of the address space.
 */
#define AT(block) (UINT64_C(0x7f0000000000) + (uint64_t)(block)*BLOCK)
enum {
	FIRST = 0,
	SECOND = 5,
	UNUSED = 20, /* as gcore writes what was never used: zeroes */
	UNUSED_END = 30,
	LONG = 70, /* more than what is written at once */
	LONG_END = 70 + 600,
	LAST = 700,
	ZEROES = 702,
	ZEROES_END = 704,
	LAST_END = 706,
	ALONE = 800,
	ALONE_AT = 100, /* bytes of the page, and how many */
	ALONE_SIZE = 50,
};
#define TOP (UINT64_MAX - PAGE + 1)

static const struct rcore_recorded_range ranges[] = {
	{AT(FIRST), AT(LONG), false},          {AT(LONG), AT(LONG_END), true},
	{AT(LAST), AT(ZEROES), false},         {AT(ZEROES), AT(ZEROES_END), true},
	{AT(ZEROES_END), AT(LAST_END), false},
};
static const struct rcore_segment segments[] = {
	{.start = AT(FIRST), .size = SECOND * BLOCK, .readable = true},
	{.start = AT(SECOND),
	 .size = (uint64_t)(LONG_END - SECOND) * BLOCK,
	 .readable = true,
	 .writable = true},
	{.start = AT(ALONE), .size = BLOCK, .readable = true, .executable = true},
};

struct program {
	struct rcore_memory memory;
	uint64_t gone; /* the address of a byte that cannot be read; or 0 */
};

/* Every third block is zero. */
static uint8_t byte_of(uint64_t address)
{
	uint64_t block = (address - AT(0)) / BLOCK;
	bool is_unused = block >= UNUSED && block < UNUSED_END;
	return is_unused || block % 3 == 2 ? 0 : (uint8_t)(address * 7 + block + 1);
}

static enum rcore_fault read_program(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	const struct program *program = (struct program *)memory;
	for (size_t i = 0; i < RCORE_COUNT(ranges); i++)
		ck_assert_msg(!ranges[i].is_zero || address + size <= ranges[i].start ||
				      address >= ranges[i].end,
			      "zeroes at 0x%llx were read", (unsigned long long)address);
	if (program->gone && program->gone - address < size)
		return RCORE_FAULT_IO;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buffer)[i] = byte_of(address + i);
	return RCORE_FAULT_NONE;
}

static struct rcore_recorder *record(struct program *program)
{
	struct rcore_recorder *recorder = rcore_recorder_new(&program->memory);
	ck_assert_ptr_nonnull(recorder);
	/* One page lies in a range that is added later. */
	rcore_recorder_add(recorder, AT(SECOND) + 10, 10);
	rcore_recorder_add(recorder, TOP, PAGE);
	for (size_t i = 0; i < RCORE_COUNT(ranges); i++)
		rcore_recorder_add_range(recorder, &ranges[i]);
	rcore_recorder_add(recorder, AT(ALONE) + ALONE_AT, ALONE_SIZE);
	return recorder;
}

/* Frees the recorder. */
static struct rcore_error *write_recorded(struct rcore_recorder *recorder, const char *path)
{
	const struct rcore_process process = {.machine = EM_X86_64};
	const struct rcore_note_bytes notes = {0};
	struct rcore_pack_source source;
	struct rcore_output output;
	uint64_t size;
	rcore_pack_source_process(&process, &notes, segments, RCORE_COUNT(segments), &source);
	ck_assert_ptr_null(rcore_output_open(path, RCORE_OUTPUT_PRIVATE, NULL, &output));
	struct rcore_error *err = rcore_pack_write(&source, rcore_recorder_memory(recorder),
						   recorder, "{}", 2, NULL, &output, &size);
	if (!err) {
		struct stat status;
		ck_assert_ptr_null(rcore_output_keep(&output));
		ck_assert_int_eq(stat(path, &status), 0);
		ck_assert_uint_eq(size, (uint64_t)status.st_size);
	}
	rcore_output_close(&output);
	rcore_recorder_free(recorder);
	return err;
}

static struct rcore_error *write_pack(struct program *program, const char *path)
{
	return write_recorded(record(program), path);
}

static const char *packed(void)
{
	struct program program = {.memory = {.read = read_program}};
	const char *path = temporary_path("pack.core");
	struct rcore_error *err = write_pack(&program, path);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	return path;
}

/* Whether the pack must have the byte, and which one it is. */
static bool is_saved(uint64_t address, uint8_t *byte)
{
	*byte = byte_of(address);
	for (size_t i = 0; i < RCORE_COUNT(ranges); i++) {
		if (address < ranges[i].start || address >= ranges[i].end)
			continue;
		*byte = ranges[i].is_zero ? 0 : *byte;
		return true;
	}
	return address >= TOP || address - (AT(ALONE) + ALONE_AT) < ALONE_SIZE;
}

static enum rcore_fault compare(struct rcore_core *core, uint64_t address)
{
	uint8_t wanted, byte;
	enum rcore_fault fault = rcore_read(rcore_core_memory(core), address, &byte, 1);
	bool saved = is_saved(address, &wanted);
	if (fault != RCORE_FAULT_TRUNCATED)
		ck_assert_msg((fault == RCORE_FAULT_NONE) == saved,
			      "0x%llx: fault %d, saved: %d", (unsigned long long)address, fault,
			      saved);
	if (!fault)
		ck_assert_msg(byte == wanted, "0x%llx: %d instead of %d",
			      (unsigned long long)address, byte, wanted);
	return fault;
}

/* Returns how many bytes are lost because the file is truncated. */
static size_t compare_all(struct rcore_core *core, uint64_t step)
{
	size_t lost = 0;
	for (uint64_t at = AT(FIRST); at < AT(ALONE + 1); at += step)
		lost += compare(core, at) == RCORE_FAULT_TRUNCATED;
	return lost + (compare(core, TOP + 5) == RCORE_FAULT_TRUNCATED);
}

START_TEST(has_every_byte)
{
	struct rcore_core *core = core_opened(packed());
	ck_assert_uint_eq(compare_all(core, 1), 0);
	rcore_core_close(core);
}
END_TEST

START_TEST(lists_what_is_saved)
{
	struct rcore_core *core = core_opened(packed());
	const struct {
		uint64_t start, end;
	} wanted[] = {{AT(FIRST), AT(LONG_END)},
		      {AT(LAST), AT(LAST_END)},
		      {AT(ALONE) + ALONE_AT, AT(ALONE) + ALONE_AT + ALONE_SIZE}};
	uint64_t at = 0, start, end, more, more_end;
	bool is_zero;
	for (size_t i = 0; i < RCORE_COUNT(wanted); i++, at = end) {
		ck_assert(rcore_core_saved(core, at, &start, &end, &is_zero));
		ck_assert_uint_eq(start, wanted[i].start);
		/* Shared zeroes are a range of their own. */
		for (; rcore_core_saved(core, end, &more, &more_end, &is_zero) && more == end;
		     end = more_end)
			;
		ck_assert_uint_eq(end, wanted[i].end);
	}
	ck_assert(rcore_core_saved(core, AT(SECOND) + 3, &start, &end, &is_zero));
	ck_assert_uint_eq(start, AT(SECOND) + 3);
	ck_assert(!rcore_core_saved(core, UINT64_MAX, &start, &end, &is_zero));
	rcore_core_close(core);
}
END_TEST

/* gdb needs the flags of each mapping, also of those without a gap. */
START_TEST(keeps_segments_apart)
{
	struct rcore_core *core = core_opened(packed());
	struct rcore_segment segment;
	for (size_t i = 0; rcore_core_segment(core, i, &segment); i++) {
		bool first = segment.start < AT(SECOND);
		ck_assert(!first || segment.start + segment.size <= AT(SECOND));
		ck_assert_int_eq(segment.writable,
				 segment.start >= AT(SECOND) && segment.start < AT(LAST));
	}
	rcore_core_close(core);
}
END_TEST

/*
 * Of the zeroes, 610 blocks share 256. Other blocks of zeroes take no room on
 * the disk.
 */
START_TEST(is_small)
{
	struct stat status;
	ck_assert_int_eq(stat(packed(), &status), 0);
	const size_t written = UNUSED - FIRST + LONG - UNUSED_END + LAST_END - LAST;
	const size_t shared = 256, other = 8;
	ck_assert_uint_le((size_t)status.st_size, (written + shared + other) * BLOCK);
	ck_assert_uint_le((size_t)status.st_blocks * 512, (written * 2 / 3 + other) * BLOCK);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
}
END_TEST

START_TEST(survives_truncation)
{
	const char *path = packed();
	struct stat status;
	ck_assert_int_eq(stat(path, &status), 0);
	off_t size = status.st_size;
	for (size_t lost = 0, before = 0; size > (300 << 10); size -= 3000, before = lost) {
		ck_assert_int_eq(truncate(path, size), 0);
		struct rcore_core *core = core_opened(path);
		lost = compare_all(core, 512);
		ck_assert_uint_ge(lost, before);
		ck_assert_int_eq(rcore_core_is_truncated(core), size < status.st_size);
		ck_assert(!lost || rcore_core_process(core)->note);
		rcore_core_close(core);
	}
}
END_TEST

START_TEST(fails_if_memory_is_gone)
{
	struct program program = {.memory = {.read = read_program}, .gone = AT(LONG - 1)};
	const char *path = temporary_path("pack.core");
	struct rcore_error *err = write_pack(&program, path);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_FAULT);
	ck_assert_int_ne(access(path, F_OK), 0);
	rcore_error_free(err);
}
END_TEST

/* A pack of gigabytes takes no memory for each of its pages. */
START_TEST(marks_nothing_in_ranges)
{
	struct program program = {.memory = {.read = read_program}};
	struct rcore_recorder *recorder = rcore_recorder_new(&program.memory);
	const struct rcore_recorded_range near = {AT(2), AT(3), false},
					  next = {AT(3), AT(4), false};
	size_t count;
	rcore_recorder_add_range(recorder, &near);
	rcore_recorder_add_range(recorder, &next);
	ck_assert_uint_eq(rcore_recorder_ranges(recorder, &count)[0].end, AT(4));
	ck_assert_uint_eq(count, 1);
	static uint8_t bytes[4 * BLOCK];
	rcore_read(rcore_recorder_memory(recorder), AT(2), bytes, BLOCK);
	rcore_recorder_mark(recorder, RCORE_RECORDED_TEXT, AT(3), 7);
	rcore_recorder_pages(recorder, &count);
	ck_assert_uint_eq(count, 0);
	rcore_read(rcore_recorder_memory(recorder), AT(2) - 1, bytes, 2 * BLOCK + 2);
	const struct rcore_recorded_page *const *pages = rcore_recorder_pages(recorder, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(pages[0]->start, AT(2) - PAGE);
	ck_assert(rcore_recorded_is(pages[0], RCORE_RECORDED_ASKED, PAGE - 1));
	ck_assert(!rcore_recorded_is(pages[0], RCORE_RECORDED_ASKED, PAGE - 2));
	ck_assert_uint_eq(pages[1]->start, AT(4));
	ck_assert(rcore_recorded_is(pages[1], RCORE_RECORDED_ASKED, 0));
	ck_assert(!rcore_recorded_is(pages[1], RCORE_RECORDED_ASKED, 1));
	rcore_recorder_free(recorder);
}
END_TEST

/* Each MiB has a header of its own: section 0 has their number. */
START_TEST(has_many_headers)
{
	enum { COUNT = 70000 };
	const struct rcore_recorded_range unused = {AT(0), AT(0) + ((uint64_t)COUNT << 20),
						    true};
	struct program program = {.memory = {.read = read_program}};
	struct rcore_recorder *recorder = rcore_recorder_new(&program.memory);
	rcore_recorder_add_range(recorder, &unused);
	const char *path = temporary_path("many.core");
	ck_assert_ptr_null(write_recorded(recorder, path));
	struct rcore_core *core = core_opened(path);
	uint64_t start, end;
	bool is_zero;
	uint8_t byte = 1;
	ck_assert_uint_ge(rcore_core_file(core)->program_header_count, COUNT);
	ck_assert(rcore_core_saved(core, 0, &start, &end, &is_zero));
	ck_assert_uint_eq(start, unused.start);
	ck_assert_uint_eq(end, unused.end);
	ck_assert(is_zero);
	/* Segments of a pack share zeroes, so these are not too many. */
	ck_assert(!rcore_core_process(core)->note ||
		  !strstr(rcore_core_process(core)->note, "left out"));
	ck_assert_int_eq(rcore_read(rcore_core_memory(core), end - 1, &byte, 1), 0);
	ck_assert_uint_eq(byte, 0);
	ck_assert(!rcore_is_foreign_core(path));
	rcore_core_close(core);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {has_every_byte,          lists_what_is_saved,
				      keeps_segments_apart,    is_small,
				      survives_truncation,     fails_if_memory_is_gone,
				      marks_nothing_in_ranges, has_many_headers};
	const struct rcore_test_suite suite = {
		.name = "ranges of packs",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.timeout = 60,
	};
	return rcore_test_suite_run(&suite);
}
