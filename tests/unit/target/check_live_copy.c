/* SPDX-License-Identifier: MIT */
/* Tests copies of all memory of a process, on children of this program. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "live_child.h"
#include "target/live/live_private.h"
#include "suite.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { PAGE = RCORE_LIVE_PAGE };

static const size_t reserved = (size_t)1 << 42; /* bytes: 2^30 pages */

static void copied(struct rcore_live *live)
{
	struct rcore_live_pause pause;
	size_t bytes;
	struct rcore_live_part part;
	rcore_live_limit(live, RCORE_STOP_LIMIT_MS);
	ck_assert(!rcore_live_copied(live, 0, &part));
	struct rcore_error *err = rcore_live_prepare_copy(live);
	if (!err)
		err = rcore_live_copy_all(live, &bytes, &pause);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	ck_assert_uint_gt(bytes, 0);
}

static int byte_at(struct rcore_live *live, const uint8_t *address)
{
	uint8_t byte;
	enum rcore_fault fault =
		rcore_read(rcore_live_memory(live), address_of(address), &byte, 1);
	return fault ? -(int)fault : byte;
}

static void read_score(char score[16])
{
	FILE *file = fopen("/proc/self/oom_score_adj", "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(score, 16, file));
	fclose(file);
}

/* The copy includes pages that the child has protected, as GC.compact does. */
START_TEST(copies_all)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	char before[16], during[16], after[16];
	read_score(before);
	copied(live);
	read_score(during);
	ck_assert_str_eq(during, "1000\n");
	kill(child.pid, SIGKILL);
	ck_assert_int_eq(waitpid(child.pid, NULL, 0), child.pid);
	child_check_memory(rcore_live_memory(live), &child);
	ck_assert_int_eq(byte_at(live, child.shared->taken), 7);
	/* A constant: the reader may take it from the file. */
	ck_assert_int_eq(byte_at(live, (const uint8_t *)&reserved), -RCORE_FAULT_NOT_COPIED);
	rcore_live_close(live);
	read_score(after);
	ck_assert_str_eq(after, before);
	child_stop(&child);
}
END_TEST

/* Writes three pages at `mapped`; the second becomes a guard page if the kernel knows these. */
static void child_guards(struct child_shared *shared, const void *argument)
{
	shared->mapped = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(shared->mapped, 5, 3 * PAGE);
	shared->failures = madvise(shared->mapped + PAGE, PAGE, MADV_GUARD_INSTALL) != 0;
	shared->is_ready = 1;
	for (;;)
		pause();
}

/* Every page of the mapping is in a part as reads return it, or in none. */
static void check_parts(struct rcore_live *live, const uint8_t *mapped)
{
	uint64_t before = 0;
	struct rcore_live_part part;
	int found[4] = {-1, -1, -1, -1};
	for (uint64_t at = 0; rcore_live_copied(live, at, &part); at = part.end) {
		ck_assert(part.start >= before && part.start < part.end);
		before = part.end;
		for (int i = 0; i < 4; i++)
			if (address_of(mapped + i * PAGE) - part.start < part.end - part.start)
				found[i] = part.is_zero;
	}
	for (int i = 0; i < 4; i++) {
		int byte = byte_at(live, mapped + i * PAGE);
		ck_assert_int_eq(found[i], byte < 0 ? -1 : !byte);
	}
	/* From the middle of a page on. */
	ck_assert(rcore_live_copied(live, address_of(mapped + 3 * PAGE + 5), &part));
	ck_assert_uint_eq(part.start, address_of(mapped + 3 * PAGE + 5));
	ck_assert(part.is_zero);
	ck_assert(!rcore_live_copied(live, UINT64_MAX, &part));
}

START_TEST(invents_no_zeroes)
{
	struct child child = child_start(child_guards, NULL);
	struct rcore_live *live = live_opened(child.pid);
	const uint8_t *mapped = child.shared->mapped;
	copied(live);
	ck_assert_int_eq(byte_at(live, mapped + PAGE - 1), 5);
	ck_assert_int_eq(byte_at(live, mapped + PAGE),
			 child.shared->failures ? 5 : -RCORE_FAULT_NOT_COPIED);
	ck_assert_int_eq(byte_at(live, mapped + 2 * PAGE - 1),
			 child.shared->failures ? 5 : -RCORE_FAULT_NOT_COPIED);
	ck_assert_int_eq(byte_at(live, mapped + 2 * PAGE), 5);
	ck_assert_int_eq(byte_at(live, mapped + 3 * PAGE), 0);
	check_parts(live, mapped);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

static void child_reserves(struct child_shared *shared, const void *argument)
{
	const int *protection = argument;
	shared->mapped = mmap(NULL, reserved, *protection,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	shared->failures = shared->mapped == MAP_FAILED;
	shared->is_ready = 1;
	for (;;)
		pause();
}

START_TEST(skips_what_is_reserved)
{
	const int protection = PROT_NONE;
	struct child child = child_start(child_reserves, &protection);
	struct rcore_live *live = live_opened(child.pid);
	ck_assert_int_eq(child.shared->failures, 0);
	copied(live);
	ck_assert_uint_lt(live->copy.looked_at, reserved / PAGE);
	ck_assert_int_eq(byte_at(live, child.shared->mapped), -RCORE_FAULT_NOT_COPIED);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

static const size_t untouched = 64 << 20; /* bytes */

/*
 * Maps memory for the kernel's pages of zeroes, and writes the last page. The
 * first quarter is reserved, like the rest of one of malloc's arenas.
 */
static void child_maps_zeroes(struct child_shared *shared, const void *argument)
{
	const int *advice = argument;
	shared->mapped = mmap(NULL, untouched, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(shared->mapped, untouched, *advice);
	shared->failures = mprotect(shared->mapped, untouched / 4, PROT_NONE) != 0;
	shared->mapped[untouched - 1] = 5;
	shared->is_ready = 1;
	for (;;)
		pause();
}

/* As gcore does. */
static void read_all(const struct child *child)
{
	static uint8_t buffer[1 << 20];
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/mem", child->pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(file, 0);
	for (size_t at = 0; at < untouched; at += sizeof(buffer)) {
		off_t address = (off_t)(address_of(child->shared->mapped) + at);
		ck_assert_int_eq(pread(file, buffer, sizeof(buffer), address), sizeof(buffer));
	}
	close(file);
}

static void check_zeroes(int advice)
{
	struct child child = child_start(child_maps_zeroes, &advice);
	struct rcore_live *live = live_opened(child.pid);
	const uint8_t *mapped = child.shared->mapped;
	read_all(&child);
	copied(live);
	ck_assert_int_eq(child.shared->failures, 0);
	/* Without privileges, or a kernel without a page of zeroes. */
	if (rcore_live_zero_frame()) {
		ck_assert_uint_lt(live->copy.size, untouched / 4);
		ck_assert_int_eq(byte_at(live, mapped), -RCORE_FAULT_NOT_COPIED);
	}
	ck_assert_int_eq(byte_at(live, mapped + untouched / 4), 0);
	ck_assert_int_eq(byte_at(live, mapped + untouched / 2), 0);
	ck_assert_int_eq(byte_at(live, mapped + untouched - PAGE), 0);
	ck_assert_int_eq(byte_at(live, mapped + untouched - 1), 5);
	rcore_live_close(live);
	child_stop(&child);
}

/*
 * A frame counts as that of zeroes only if several pages share it: otherwise it
 * could be any page of the process.
 */
START_TEST(knows_only_a_shared_frame)
{
	enum { PAGES = 8 };
	uint64_t entries[PAGES], frame = rcore_live_zero_frame();
	volatile uint8_t *pages =
		mmap(NULL, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne((void *)pages, MAP_FAILED);
	madvise((void *)pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		ck_assert_uint_eq(pages[i * PAGE], 0);
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(pagemap, 0);
	off_t at = (off_t)((uintptr_t)pages / PAGE * sizeof(*entries));
	ck_assert_int_eq(pread(pagemap, entries, sizeof(entries), at), sizeof(entries));
	for (size_t i = 0; i < PAGES && frame; i++)
		ck_assert_uint_eq(entries[i] << 9 >> 9, frame);
	close(pagemap);
	munmap((void *)pages, PAGES * PAGE);
}
END_TEST

START_TEST(copies_no_page_of_zeroes)
{
	check_zeroes(MADV_NOHUGEPAGE);
}
END_TEST

START_TEST(copies_no_huge_page_of_zeroes)
{
	check_zeroes(MADV_HUGEPAGE);
}
END_TEST

START_TEST(refuses_to_search_too_much)
{
	const int protection = PROT_READ;
	struct child child = child_start(child_reserves, &protection);
	struct rcore_live *live = live_opened(child.pid);
	if (!child.shared->failures)
		says(rcore_live_prepare_copy(live), RCORE_ERROR_LIMIT, "too many to search");
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(notices_the_end)
{
	struct child child = child_start(child_sleeps, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_live_pause pause;
	size_t bytes;
	if (_i)
		ck_assert_ptr_null(rcore_live_prepare_copy(live));
	kill(child.pid, SIGKILL);
	ck_assert_int_eq(waitpid(child.pid, NULL, 0), child.pid);
	says(_i ? rcore_live_copy_all(live, &bytes, &pause) : rcore_live_prepare_copy(live),
	     RCORE_ERROR_OS, "ended while it was being read");
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {copies_all,
				      invents_no_zeroes,
				      skips_what_is_reserved,
				      knows_only_a_shared_frame,
				      copies_no_page_of_zeroes,
				      copies_no_huge_page_of_zeroes,
				      refuses_to_search_too_much};
	const struct rcore_test_loop looped[] = {{notices_the_end, 2}};
	const struct rcore_test_suite suite = {
		.name = "live, all of it",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = looped,
		.looped_count = RCORE_COUNT(looped),
		.timeout = 120,
	};
	return rcore_test_suite_run(&suite);
}
