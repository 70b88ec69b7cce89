/* SPDX-License-Identifier: MIT */
/* Flips words of jemalloc's own data in a child that runs with it. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "fake_target.h"
#include "malloc/jemalloc.h"
#include "malloc/malloc.h"
#include "random_heap.h"
#include "suite.h"

/* Sanitizers have an allocator of their own, which they must load first. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_OWN_ALLOCATOR = 1 };
#else
enum { HAS_OWN_ALLOCATOR = 0 };
#endif

enum { THREADS = 3, KEPT = 2000, FREED = 300, MOST_RANGES = 2000 };

static const char *const libraries[] = {
	"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2",
	"/usr/lib/aarch64-linux-gnu/libjemalloc.so.2",
	"/usr/lib/libjemalloc.so.2",
	"/usr/lib64/libjemalloc.so.2",
};

/* What the child knows; it gets the file of this as its standard input. */
static struct truth {
	volatile int is_ready;
	uint64_t used[THREADS][KEPT], freed[THREADS][FREED];
} * truth;

static pthread_barrier_t done;

static void *work(void *argument)
{
	int thread = (int)(intptr_t)argument;
	for (int i = 0; i < KEPT; i++)
		truth->used[thread][i] = (uintptr_t)malloc(1 + (size_t)i * 37 % 9000);
	for (int i = 0; i < FREED; i++)
		truth->freed[thread][i] = (uintptr_t)malloc(1 + (size_t)i % 200);
	/* Into the thread's cache. */
	for (int i = 0; i < FREED; i++)
		free((void *)(uintptr_t)truth->freed[thread][i]);
	pthread_barrier_wait(&done);
	for (;;)
		pause();
	return NULL;
}

static void map_truth(int fd)
{
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (truth == MAP_FAILED)
		abort();
}

static void run_child(void)
{
	pthread_t thread;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	map_truth(STDIN_FILENO);
	pthread_barrier_init(&done, NULL, THREADS + 1);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, work, (void *)i);
	pthread_barrier_wait(&done);
	truth->is_ready = 1;
	for (;;)
		pause();
}

static pid_t child;

static enum rcore_fault read_child(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct iovec local = {buffer, size}, remote = {(void *)(uintptr_t)address, size};
	(void)memory;
	return process_vm_readv(child, &local, 1, &remote, 1, 0) == (ssize_t)size
		       ? RCORE_FAULT_NONE
		       : RCORE_FAULT_UNMAPPED;
}

static bool write_child(uint64_t address, uint64_t word)
{
	struct iovec local = {&word, 8}, remote = {(void *)(uintptr_t)address, 8};
	return process_vm_writev(child, &local, 1, &remote, 1, 0) == 8;
}

static struct rcore_memory memory = {.read = read_child};
static struct rcore_malloc_range data[8];
static struct rcore_malloc_source source;
static struct rcore_malloc heap;
static uint64_t seed;

/* The writable data of the library, and the bss that follows it. */
static void find_data(void)
{
	char name[64], line[1000];
	uint64_t last = 0;
	snprintf(name, sizeof(name), "/proc/%d/maps", child);
	FILE *file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	source = (struct rcore_malloc_source){.memory = &memory, .data = data};
	while (fgets(line, sizeof(line), file)) {
		unsigned long start, end;
		char mode[5];
		int path = 0;
		ck_assert_int_eq(
			sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &start, &end, mode, &path),
			3);
		bool is_bss = start == last && !strchr(line + path, '/');
		last = 0;
		if (!is_bss && !strstr(line + path, "libjemalloc"))
			continue;
		last = end;
		if (mode[1] != 'w')
			continue;
		ck_assert_uint_lt(source.data_count, RCORE_COUNT(data));
		data[source.data_count++] = (struct rcore_malloc_range){start, end};
	}
	fclose(file);
}

static void begin(void)
{
	const char *library = NULL;
	for (size_t i = 0; i < RCORE_COUNT(libraries) && !library; i++)
		if (!access(libraries[i], R_OK))
			library = libraries[i];
	ck_assert_msg(library != NULL, "no libjemalloc: `make setup-tests` installs it");
	int fd = memfd_create("truth", 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, sizeof(*truth)), 0);
	map_truth(fd);
	seed = random_seed();
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		dup2(fd, STDIN_FILENO);
		setenv("LD_PRELOAD", library, 1);
		execl("/proc/self/exe", "check_jemalloc", "child", NULL);
		_exit(1);
	}
	close(fd);
	while (!truth->is_ready) {
		ck_assert_int_eq(waitpid(child, NULL, WNOHANG), 0);
		usleep(1000);
	}
	find_data();
	ck_assert_ptr_null(rcore_jemalloc_init(&source, &heap));
	ck_assert(heap.is_known);
	ck_assert_str_eq(heap.problem, "");
}

static void end(void)
{
	rcore_malloc_deinit(&heap);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static bool is_used(const struct rcore_malloc *in, uint64_t address)
{
	struct rcore_chunk chunk;
	return rcore_malloc_find(in, address, false, &chunk) &&
	       in->state[chunk.index] == RCORE_CHUNK_USED;
}

START_TEST(each_region_is_found)
{
	size_t cached = 0;
	if (HAS_OWN_ALLOCATOR)
		return;
	begin();
	for (int thread = 0; thread < THREADS; thread++) {
		for (int i = 0; i < KEPT; i++)
			ck_assert(is_used(&heap, truth->used[thread][i]));
		for (int i = 0; i < FREED; i++)
			ck_assert(!is_used(&heap, truth->freed[thread][i]));
	}
	cached = heap.sums[RCORE_CHUNK_CACHED].count;
	ck_assert_uint_ge(cached, THREADS * 100);
	end();
}
END_TEST

/*
 * The pages that a thread is returning to the kernel have the state of an
 * extent in use, but no size class. They are neither in use nor corrupt.
 */
START_TEST(pages_on_their_way_are_free)
{
	enum { PAGE = 4096, SLAB = 1 << 12, SMALLEST = 0 };
	const struct rcore_je_shape shape = {.lg_page = 12,
					     .lg_address = 48,
					     .levels = 2,
					     .bits = {18, 18},
					     .leaf_entry = 8};
	const struct rcore_je_release release = {
		.state = 17, .state_width = 3, .size_class = 20, .free_count = 28};
	struct fake_target target;
	fake_target_init(&target);
	const struct rcore_malloc_source from = {.memory = &target.memory};
	struct rcore_je je = {.source = &from, .shape = &shape, .release = &release};
	struct rcore_je_extent extent;
	rcore_je_set_sizes(&je);
	const uint64_t at = fake_alloc(&target, 128, 64);
	fake_put(&target, at + 8, 16 * PAGE);
	fake_put(&target, at + 16, 2 * PAGE);
	for (uint64_t slab = 0; slab <= SLAB; slab += SLAB) {
		fake_put(&target, at, slab | (uint64_t)RCORE_JE_CLASSES << 20);
		ck_assert_int_eq(rcore_je_read_extent(&je, at, &extent), RCORE_JE_UNUSED);
		ck_assert_uint_eq(extent.end - extent.start, 2 * PAGE);
		fake_put(&target, at, slab | (uint64_t)(RCORE_JE_CLASSES + 1) << 20);
		ck_assert_int_eq(rcore_je_read_extent(&je, at, &extent), RCORE_JE_WRONG);
	}
	fake_put(&target, at, SLAB | (uint64_t)SMALLEST << 20);
	ck_assert_int_eq(rcore_je_read_extent(&je, at, &extent), RCORE_JE_WRONG);
	fake_target_deinit(&target);
}
END_TEST

/* Whatever is in the allocator's data: it is read to an end. */
START_TEST(corrupt_data_is_survived)
{
	enum { FLIPS = 40 };
	struct rcore_malloc other;
	if (HAS_OWN_ALLOCATOR)
		return;
	begin();
	for (int i = 0; i < FLIPS; i++) {
		static const uint64_t words[] = {0,          1,      UINT64_C(1) << 60,
						 UINT64_MAX, 0x40,   0x21,
						 0x7ffffff8, 0xfff0, UINT64_C(1) << 47};
		const struct rcore_malloc_range *range =
			&data[random_below(&seed, (uint32_t)source.data_count)];
		uint64_t old, word = words[random_below(&seed, RCORE_COUNT(words))];
		uint64_t at =
			range->start +
			random_below(&seed, (uint32_t)(range->end - range->start)) / 8 * 8;
		/* Half of the words that are no zeroes. */
		for (int n = 0; n < 4096 && random_below(&seed, 4096); n++, at += 8)
			if (at + 8 > range->end || rcore_read_u64(&memory, at, &old) || old)
				break;
		if (random_below(&seed, 3) == 0)
			word = range->start + 64 * random_below(&seed, 2000);
		if (at + 8 > range->end || rcore_read_u64(&memory, at, &old) ||
		    !write_child(at, word))
			continue;
		ck_assert_ptr_null(rcore_jemalloc_init(&source, &other));
		rcore_malloc_deinit(&other);
		ck_assert(write_child(at, old));
	}
	ck_assert_ptr_null(rcore_jemalloc_init(&source, &other));
	ck_assert_uint_eq(other.chunk_count, heap.chunk_count);
	rcore_malloc_deinit(&other);
	end();
}
END_TEST

/*
 * Replaces a word with one that is no region, if that is `wanted`. Returns
 * whether the word is one of a cache: then only its bin is lost, which is said.
 */
static bool is_reported(uint64_t at, uint64_t wanted)
{
	struct rcore_malloc other;
	const struct rcore_chunk_sum *before = &heap.sums[RCORE_CHUNK_CACHED];
	ck_assert(write_child(at, wanted + 8));
	ck_assert_ptr_null(rcore_jemalloc_init(&source, &other));
	const struct rcore_chunk_sum after = other.sums[RCORE_CHUNK_CACHED];
	bool is_said = strstr(other.problem, "1 bin of jemalloc's caches is corrupt");
	rcore_malloc_deinit(&other);
	ck_assert(write_child(at, wanted));
	ck_assert(is_said == (after.count < before->count));
	ck_assert_uint_ge(after.count, before->count / 2);
	return is_said;
}

START_TEST(a_corrupt_bin_is_reported)
{
	char name[64], line[1000];
	bool found = false;
	if (HAS_OWN_ALLOCATOR)
		return;
	begin();
	const uint64_t wanted = truth->freed[0][FREED - 1];
	snprintf(name, sizeof(name), "/proc/%d/maps", child);
	FILE *file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	while (!found && fgets(line, sizeof(line), file)) {
		uint64_t words[512];
		unsigned long start, end;
		char mode[5];
		ck_assert_int_eq(sscanf(line, "%lx-%lx %4s", &start, &end, mode), 3);
		if (mode[1] != 'w' || strstr(line, "memfd"))
			continue;
		for (uint64_t at = start; at < end && !found; at += sizeof(words)) {
			if (read_child(&memory, at, words, sizeof(words)))
				continue;
			for (size_t i = 0; i < RCORE_COUNT(words) && !found; i++)
				found = words[i] == wanted && is_reported(at + i * 8, wanted);
		}
	}
	fclose(file);
	ck_assert(found);
	end();
}
END_TEST

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		run_child();
	const TTest *const tests[] = {each_region_is_found, pages_on_their_way_are_free,
				      corrupt_data_is_survived, a_corrupt_bin_is_reported};
	return rcore_test_suite_run(&(struct rcore_test_suite){.name = "jemalloc",
							       .tests = tests,
							       .count = RCORE_COUNT(tests),
							       .timeout = 120});
}
