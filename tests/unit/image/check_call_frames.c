/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_target.h"
#include "image/unwind/call_frames.h"
#include "suite.h"

/*
 * .eh_frame_hdr and .eh_frame of one function, after the headers of a library
 * with one segment.
 */
enum {
	HEADER = 0x100,
	FRAMES = HEADER + 16,
	COMMON = 24, /* bytes of the CIE */
	BEFORE = 17, /* bytes of the FDE before its instructions */
	INSTRUCTIONS = 24,
	SIZE = 0x400,
};

static struct fake_target target;
static uint64_t module;

static void put(uint64_t offset, const void *bytes, size_t size)
{
	fake_write(&target, module + offset, bytes, size);
}

static void put_u32(uint64_t offset, uint32_t value)
{
	put(offset, &value, sizeof(value));
}

static void set_up(void)
{
	static const uint8_t common[COMMON] = {
		20, 0, 0,    0,  0, 0,    0,    0, 1, 'z',  'R',
		0,  1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,
	};
	fake_target_init(&target);
	module = fake_alloc(&target, SIZE, 4096);
	put(HEADER, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
	put_u32(HEADER + 4, FRAMES - (HEADER + 4));
	put_u32(HEADER + 8, 1);
	put(FRAMES, common, sizeof(common));
	put_u32(FRAMES + COMMON, BEFORE - 4 + INSTRUCTIONS);
	put_u32(FRAMES + COMMON + 4, COMMON + 4);
	put_u32(FRAMES + COMMON + 12, 0x40);
}

static void tear_down(void)
{
	fake_target_deinit(&target);
}

static bool is_taken(size_t *size)
{
	GElf_Phdr items[] = {
		{.p_type = PT_LOAD, .p_memsz = SIZE, .p_filesz = SIZE, .p_align = 4096},
		{.p_type = PT_GNU_EH_FRAME, .p_vaddr = HEADER, .p_filesz = 12, .p_memsz = 12},
	};
	const struct rcore_elf_headers headers = {.items = items, .count = 2};
	struct rcore_call_frames frames;
	bool is_taken = rcore_call_frames_read(&target.memory, module, &headers, &frames);
	ck_assert(is_taken == (frames.bytes != NULL));
	ck_assert(!is_taken || frames.address == FRAMES);
	*size = frames.size;
	free(frames.bytes);
	return is_taken;
}

/* The comments say what libdw would do with each. */
static const struct {
	bool is_sound;
	uint8_t code[INSTRUCTIONS];
} instructions[] = {
	{true, {0}},
	{true,
	 {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x80, 0x0a, 0xc6, 0x0c, 7, 8, 0x0b}},
	{true, {0x2d, 0x2e, 0x10, 0x12, 7, 0x78, 0x13, 0x78, 0x11, 3, 0x7f, 0x09, 3, 4}},
	{false, {0x0d, 0xff, 0xff, 0xff, 0xff, 0x0f}},       /* allocates 64 GB */
	{false, {0x0c, 0xff, 0xff, 0x03, 8}},                /* allocates 1 MB */
	{false, {0x07, 0x80, 0x01}},                         /* register 128 */
	{false, {0x09, 3, 0x80, 0x01}},                      /* in register 128 */
	{false, {0x0d, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01}}, /* a number of more than 32 bits */
	{false, {0x0f, 3, 0x2f, 0xfd, 0xff}},                /* never ends */
	{false, {0x10, 6, 3, 0x2f, 0xfd, 0xff}},             /* never ends */
	{false, {0x16, 6, 3, 0x2f, 0xfd, 0xff}},             /* never ends */
	{false, {0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a}}, /* a copy each */
	{false, {0x0a, 0x0b, 0x0b}},
	{false, {0x01, 0x10}}, /* DW_CFA_set_loc: no compiler writes it */
	{false, {0x3f}},
	{false, {[INSTRUCTIONS - 1] = 0x0e}}, /* without its operand */
};

START_TEST(known)
{
	size_t size;
	set_up();
	put(FRAMES + COMMON + BEFORE, instructions[_i].code, INSTRUCTIONS);
	ck_assert_int_eq(is_taken(&size), instructions[_i].is_sound);
	ck_assert_uint_eq(size, instructions[_i].is_sound ? COMMON + BEFORE + INSTRUCTIONS : 0);
	tear_down();
}
END_TEST

static const struct {
	uint32_t offset, value;
} lies[] = {
	{HEADER, 0x3b031b02},               /* an unknown version */
	{HEADER, 0x3b041b01},               /* its count in 8 bytes */
	{HEADER + 4, 0x7fffffff},           /* .eh_frame far outside */
	{HEADER + 4, 0x80000000},           /* .eh_frame before the module */
	{HEADER + 8, 0},                    /* no descriptions */
	{HEADER + 8, 2},                    /* fewer than that */
	{HEADER + 8, 0xffffffff},           /* very many */
	{FRAMES, 0xffffffff},               /* the 64-bit format */
	{FRAMES, 3},                        /* a length without room for what it is */
	{FRAMES + 8, 0x00527a04},           /* an unknown version */
	{FRAMES + 8, 0x00507a01},           /* "zP": a personality */
	{FRAMES + 16, 0x08070c00},          /* absolute addresses */
	{FRAMES + COMMON, 0x7ffffff0},      /* longer than the memory */
	{FRAMES + COMMON + 4, COMMON + 3},  /* belongs to no CIE */
	{FRAMES + COMMON + 4, 0x80000000},  /* belongs to no CIE */
	{FRAMES + COMMON + 16, 0x00000001}, /* data that its CIE does not announce */
};

START_TEST(refused)
{
	size_t size;
	set_up();
	put_u32(lies[_i].offset, lies[_i].value);
	ck_assert(!is_taken(&size));
	tear_down();
}
END_TEST

/*
 * Each byte gets each value: nothing is read outside, and reading always ends.
 */
START_TEST(flipped)
{
	size_t size;
	set_up();
	for (uint64_t at = HEADER; at < FRAMES + COMMON + BEFORE + INSTRUCTIONS; at++) {
		uint8_t was;
		ck_assert(!rcore_read(&target.memory, module + at, &was, 1));
		for (unsigned value = 0; value <= UINT8_MAX; value++) {
			put(at, &(uint8_t){(uint8_t)value}, 1);
			is_taken(&size);
			ck_assert_uint_le(size, SIZE - FRAMES);
		}
		put(at, &was, 1);
	}
	tear_down();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {flipped};
	const struct rcore_test_loop loops[] = {{known, RCORE_COUNT(instructions)},
						{refused, RCORE_COUNT(lies)}};
	const struct rcore_test_suite suite = {
		.name = "call frames",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
