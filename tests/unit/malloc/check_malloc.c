/* SPDX-License-Identifier: MIT */
/* Compares what rcore finds in a child with what the child knows of itself. */
#include <link.h>
#include <malloc.h>
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
#include "malloc/ptmalloc.h"
#include "random_heap.h"
#include "suite.h"

/* Sanitizers have an allocator of their own. */
#ifdef __SANITIZE_ADDRESS__
enum { HAS_OWN_ALLOCATOR = 1 };
#else
enum { HAS_OWN_ALLOCATOR = 0 };
#endif

enum { THREADS = 4, KEPT = 3000, ROUNDS = 20000, FREED = 500 };

/* What the child knows. */
static struct truth {
	volatile int is_ready;
	struct mallinfo2 info;
	struct known {
		uint64_t address, size; /* as malloc_usable_size() has it */
	} used[THREADS][KEPT], freed[THREADS][FREED];
} * truth;

static uint64_t seed;
static pthread_barrier_t done;

static size_t draw_size(uint64_t *own)
{
	switch (random_below(own, 40)) {
	case 0:
		return 130000 + random_below(own, 1500000); /* mmapped, until the limit rises */
	case 1:
		return 2000 + random_below(own, 60000);
	case 2:
	case 3:
		return random_below(own, 4000);
	default:
		return random_below(own, 200);
	}
}

static void *draw_chunk(uint64_t *own)
{
	size_t size = draw_size(own);
	void *memory = random_below(own, 20)
			       ? malloc(size)
			       : aligned_alloc((size_t)16 << random_below(own, 13), size);
	if (!memory)
		abort();
	memset(memory, 0xa5, size);
	return memory;
}

/* As in a program: allocates, reallocates and frees, and keeps KEPT chunks. */
static void *work(void *argument)
{
	int thread = (int)(intptr_t)argument;
	uint64_t own = seed + (uint64_t)thread;
	void **kept = calloc(KEPT, sizeof(*kept)), *freed[FREED];
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t place = random_below(&own, KEPT);
		if (kept[place] && random_below(&own, 8) == 0) {
			kept[place] = realloc(kept[place], draw_size(&own) + 1);
		} else {
			free(kept[place]);
			kept[place] = draw_chunk(&own);
		}
	}
	for (int i = 0; i < FREED; i++)
		freed[i] = malloc(1 + (size_t)i % 200);
	for (int i = 0; i < FREED; i++) {
		truth->freed[thread][i].address = (uintptr_t)freed[i];
		free(freed[i]);
	}
	for (int i = 0; i < KEPT; i++)
		if (kept[i])
			truth->used[thread][i] =
				(struct known){(uintptr_t)kept[i], malloc_usable_size(kept[i])};
	pthread_barrier_wait(&done);
	for (;;)
		pause();
	return NULL;
}

/*
 * Allocates a chunk for ever. Returns how many bytes its arena's heap can have
 * after it.
 */
static uint64_t keep(int thread, int *count, size_t size)
{
	char *chunk = malloc(size);
	if (!chunk || *count == KEPT)
		abort();
	truth->used[thread][(*count)++] =
		(struct known){(uintptr_t)chunk, malloc_usable_size(chunk)};
	uint64_t end = (uintptr_t)chunk + malloc_usable_size(chunk) - 8;
	return RCORE_PT_HEAP_SIZE - end % RCORE_PT_HEAP_SIZE;
}

/*
 * Fills a heap of an arena and begins another one. Each thread leaves another
 * number of bytes at the end, so that glibc has room for one or two fenceposts.
 */
static void *fill(void *argument)
{
	enum { LEAST = 32, CHUNK = 60000 };
	int thread = (int)(intptr_t)argument, count = 0;
	uint64_t left = LEAST + 16 * (uint64_t)thread, room;
	do
		room = keep(thread, &count, CHUNK);
	while (room > (uint64_t)2 * CHUNK);
	if (keep(thread, &count, room - left - 8) != left ||
	    keep(thread, &count, CHUNK) == left)
		abort();
	pthread_barrier_wait(&done);
	for (;;)
		pause();
	return NULL;
}

static void run_child(void *(*body)(void *))
{
	pthread_t thread;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_barrier_init(&done, NULL, THREADS + 1);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, body, (void *)i);
	pthread_barrier_wait(&done);
	truth->info = mallinfo2();
	truth->is_ready = 1;
	for (;;)
		pause();
}

/* The child's memory. */
struct child_memory {
	struct rcore_memory base;
	pid_t pid;
};

static enum rcore_fault read_child(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct child_memory *child = (struct child_memory *)memory;
	struct iovec local = {buffer, size}, remote = {(void *)(uintptr_t)address, size};
	return process_vm_readv(child->pid, &local, 1, &remote, 1, 0) == (ssize_t)size
		       ? RCORE_FAULT_NONE
		       : RCORE_FAULT_UNMAPPED;
}

enum { MOST_RANGES = 2000 };

static struct rcore_segment segments[MOST_RANGES];
static struct rcore_mapping mappings[MOST_RANGES];
static struct rcore_malloc_range data[4];

/* What is mapped, as a core says it. */
static void read_maps(pid_t pid, struct rcore_malloc_source *source)
{
	char name[64], line[1000];
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	FILE *file = fopen(name, "r");
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		unsigned long start, end;
		char mode[5];
		int path = 0;
		ck_assert_int_eq(
			sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &start, &end, mode, &path),
			3);
		ck_assert_uint_lt(source->segment_count, MOST_RANGES);
		segments[source->segment_count++] =
			(struct rcore_segment){.start = start,
					       .size = end - start,
					       .saved = mode[0] == 'r' ? end - start : 0,
					       .readable = mode[0] == 'r',
					       .writable = mode[1] == 'w',
					       .executable = mode[2] == 'x'};
		if (line[path] == '/')
			mappings[source->mapping_count++] =
				(struct rcore_mapping){.start = start, .end = end};
	}
	fclose(file);
	source->segments = segments;
	source->mappings = mappings;
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	struct rcore_malloc_source *source = context;
	for (int i = 0; strstr(info->dlpi_name, "libc.so") && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_W))
			continue;
		uint64_t start = info->dlpi_addr + header->p_vaddr;
		data[source->data_count++] =
			(struct rcore_malloc_range){start, start + header->p_memsz};
	}
	source->data = data;
	return 0;
}

static struct child_memory child;
static struct rcore_malloc_source source;
static struct rcore_malloc heap;

static void begin(void *(*body)(void *))
{
	seed = random_seed();
	truth = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ck_assert_ptr_ne(truth, MAP_FAILED);
	child = (struct child_memory){.base.read = read_child, .pid = fork()};
	ck_assert_int_ge(child.pid, 0);
	if (!child.pid)
		run_child(body);
	while (!truth->is_ready) {
		ck_assert_int_eq(waitpid(child.pid, NULL, WNOHANG), 0);
		usleep(1000);
	}
	source = (struct rcore_malloc_source){.memory = &child.base};
	read_maps(child.pid, &source);
	dl_iterate_phdr(find_libc, &source);
	ck_assert_ptr_null(rcore_malloc_init(&source, &heap));
}

static void end(void)
{
	rcore_malloc_deinit(&heap);
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
}

static uint64_t bytes(enum rcore_chunk_state state)
{
	return heap.sums[state].bytes;
}

static void find_each(void)
{
	struct rcore_chunk chunk;
	uint64_t known = 0;
	ck_assert(heap.is_known);
	ck_assert_str_eq(heap.problem, "");
	for (int thread = 0; thread < THREADS; thread++) {
		for (int i = 0; i < KEPT; i++) {
			const struct known *used = &truth->used[thread][i];
			if (!used->address)
				continue;
			ck_assert(rcore_malloc_find(&heap, used->address, false, &chunk));
			ck_assert_uint_eq(chunk.size, used->size);
			ck_assert(rcore_malloc_find(&heap, used->address + used->size / 2, true,
						    &chunk));
			ck_assert_uint_eq(chunk.address, used->address);
			ck_assert(!rcore_malloc_find(&heap, used->address + 8, false, &chunk));
			known += chunk.bytes;
		}
		for (int i = 0; i < FREED && truth->freed[thread][i].address; i++)
			ck_assert(!rcore_malloc_find(&heap, truth->freed[thread][i].address,
						     false, &chunk));
	}
	/* The rest is what the C library and Check themselves have. */
	ck_assert_uint_le(known, bytes(RCORE_CHUNK_USED));
	ck_assert_uint_le(bytes(RCORE_CHUNK_USED) - known, 400000);
}

START_TEST(each_chunk_is_found)
{
	if (HAS_OWN_ALLOCATOR)
		return;
	begin(work);
	find_each();
	end();
}
END_TEST

START_TEST(each_chunk_of_a_full_heap_is_found)
{
	if (HAS_OWN_ALLOCATOR)
		return;
	begin(fill);
	find_each();
	ck_assert_uint_ge(heap.region_count, 2 * THREADS);
	/* What thread 1 leaves is no chunk. */
	for (size_t i = 0; i < heap.region_count; i++) {
		const struct rcore_chunk_region *region = &heap.regions[i];
		struct rcore_chunk last;
		if (region->kind != RCORE_CHUNK_REGION_ARENA || !region->count)
			continue;
		rcore_malloc_chunk(&heap, region, region->first + region->count - 1, &last);
		ck_assert(last.state != RCORE_CHUNK_USED || last.bytes > RCORE_CHUNK_MIN);
	}
	end();
}
END_TEST

/* Damage makes the rest of a thread's old top reach to the empty fencepost. */
START_TEST(an_empty_fencepost_hides_no_chunk)
{
	enum { REST = 48, LONGER = REST + 16 };
	uint64_t size = LONGER | RCORE_CHUNK_PREVIOUS_USED;
	struct rcore_malloc other;
	size_t damaged = 0;
	if (HAS_OWN_ALLOCATOR)
		return;
	begin(fill);
	for (size_t i = 0; i < heap.region_count && !damaged; i++) {
		const struct rcore_chunk_region *region = &heap.regions[i];
		struct rcore_chunk last;
		if (region->kind != RCORE_CHUNK_REGION_ARENA || !region->count)
			continue;
		rcore_malloc_chunk(&heap, region, region->first + region->count - 1, &last);
		struct iovec local = {&size, 8},
			     remote = {(void *)(uintptr_t)(last.address - 8), 8};
		if (last.bytes == REST)
			damaged =
				(size_t)process_vm_writev(child.pid, &local, 1, &remote, 1, 0);
	}
	ck_assert_uint_eq(damaged, 8);
	ck_assert_ptr_null(rcore_malloc_init(&source, &other));
	ck_assert_ptr_nonnull(strstr(other.problem, "is corrupt at"));
	ck_assert_uint_eq(other.chunk_count, heap.chunk_count);
	rcore_malloc_deinit(&other);
	end();
}
END_TEST

START_TEST(sums_are_those_of_mallinfo)
{
	if (HAS_OWN_ALLOCATOR)
		return;
	begin(work);
	const struct mallinfo2 *info = &truth->info;
	ck_assert_uint_eq(heap.system_bytes, info->arena);
	ck_assert_uint_eq(heap.mmapped.count, info->hblks);
	ck_assert_uint_eq(bytes(RCORE_CHUNK_FAST), info->fsmblks);
	ck_assert_uint_eq(heap.sums[RCORE_CHUNK_FAST].count, info->smblks);
	uint64_t available =
		bytes(RCORE_CHUNK_FREE) + bytes(RCORE_CHUNK_FAST) + bytes(RCORE_CHUNK_TOP);
	ck_assert_uint_eq(available, info->fordblks);
	ck_assert_uint_eq(heap.sums[RCORE_CHUNK_FREE].count + heap.sums[RCORE_CHUNK_TOP].count,
			  info->ordblks);
	ck_assert_uint_ge(heap.sums[RCORE_CHUNK_CACHED].count, THREADS * 100);
	/* What is neither: a header for each heap. */
	uint64_t all = available + bytes(RCORE_CHUNK_USED) - heap.mmapped.bytes +
		       bytes(RCORE_CHUNK_CACHED);
	ck_assert_uint_le(all, info->arena);
	ck_assert_uint_le(info->arena - all, heap.arena_count * 2300 + heap.region_count * 64);
	/* Alignment comes before a chunk. */
	ck_assert_uint_le(heap.mmapped.bytes, info->hblkhd);
	ck_assert_uint_le(info->hblkhd - heap.mmapped.bytes, heap.mmapped.count * 65536);
	end();
}
END_TEST

/* Any word of the allocator's own data may be wrong. */
START_TEST(a_corrupt_heap_is_survived)
{
	enum { FLIPS = 60 };
	struct rcore_malloc other;
	if (HAS_OWN_ALLOCATOR)
		return;
	begin(work);
	for (int i = 0; i < FLIPS; i++) {
		static const uint64_t words[] = {0,          1,      UINT64_C(1) << 60,
						 UINT64_MAX, 0x10,   0x21,
						 0x7ffffff8, 0xfff0, UINT64_C(1) << 47};
		const struct rcore_chunk_region *region =
			&heap.regions[random_below(&seed, (uint32_t)heap.region_count)];
		const struct rcore_malloc_range *range = &data[0];
		bool in_data = random_below(&seed, 2) && range->end - range->start < UINT32_MAX;
		uint64_t at =
			in_data ? range->start + random_below(&seed, (uint32_t)(range->end -
										range->start)) /
							 8 * 8
				: region->start + heap.offset[region->first] * UINT64_C(16) +
					  8 * random_below(&seed, 400);
		uint64_t old, word = words[random_below(&seed, RCORE_COUNT(words))];
		if (random_below(&seed, 3) == 0)
			word = region->start + 16 * random_below(&seed, 2000);
		struct iovec local = {&old, 8}, remote = {(void *)(uintptr_t)at, 8};
		if (process_vm_readv(child.pid, &local, 1, &remote, 1, 0) != 8)
			continue;
		local.iov_base = &word;
		if (process_vm_writev(child.pid, &local, 1, &remote, 1, 0) != 8)
			continue;
		ck_assert_ptr_null(rcore_malloc_init(&source, &other));
		rcore_malloc_deinit(&other);
		local.iov_base = &old;
		ck_assert_int_eq(process_vm_writev(child.pid, &local, 1, &remote, 1, 0), 8);
	}
	ck_assert_ptr_null(rcore_malloc_init(&source, &other));
	ck_assert_uint_eq(other.chunk_count, heap.chunk_count);
	rcore_malloc_deinit(&other);
	end();
}
END_TEST

START_TEST(another_allocator_is_unknown)
{
	static uint8_t zeroes[1 << 16];
	const struct rcore_malloc_range none = {(uintptr_t)zeroes,
						(uintptr_t)zeroes + sizeof(zeroes)};
	child = (struct child_memory){.base.read = read_child, .pid = getpid()};
	source = (struct rcore_malloc_source){
		.memory = &child.base, .data = &none, .data_count = 1};
	ck_assert_ptr_null(rcore_malloc_init(&source, &heap));
	ck_assert(!heap.is_known);
	ck_assert_str_ne(heap.problem, "");
	ck_assert_uint_eq(heap.chunk_count, 0);
	rcore_malloc_deinit(&heap);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {each_chunk_is_found,
				      each_chunk_of_a_full_heap_is_found,
				      an_empty_fencepost_hides_no_chunk,
				      sums_are_those_of_mallinfo,
				      a_corrupt_heap_is_survived,
				      another_allocator_is_unknown};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "malloc", .tests = tests, .count = RCORE_COUNT(tests), .timeout = 120});
}
