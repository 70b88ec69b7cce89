/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "core_builder.h"
#include "rcore.h"
#include "target/cache.h"
#include "target/core/core.h"
#include "target/live/syscall.h"
#include "target/segments.h"
#include "suite.h"

static struct rcore_core *open_built(const struct core_builder *builder)
{
	size_t size;
	unsigned char *file = core_build(builder, &size);
	struct rcore_core *core = core_opened(write_file("core", file, size));
	free(file);
	return core;
}

static void refuses(const char *path, enum rcore_error_code code, const char *words)
{
	struct rcore_core *core = NULL;
	struct rcore_error *err = rcore_core_open(path, &core);
	ck_assert_ptr_nonnull(err);
	ck_assert_ptr_null(core);
	ck_assert_msg(err->code == code, "code %d: %s", err->code, err->message);
	ck_assert_msg(strstr(err->message, words) != NULL, "%s", err->message);
	ck_assert_msg(!strncmp(err->message, path, strlen(path)), "%s", err->message);
	ck_assert_ptr_null(strchr(err->message, '\n'));
	rcore_error_free(err);
}

/* A thread and two pages of pattern, small enough to truncate at each byte. */
static void small_core(struct core_builder *builder)
{
	unsigned char pattern[64];
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (unsigned char)(i + 1);
	static const struct core_mapping files[] = {
		{0x10000, 0x11000, 0, "/usr/bin/ruby"},
		{0x11000, 0x12000, 0x1000, "/usr/bin/ruby"},
		{0x20000, 0x23000, 0, "/usr/lib/libruby.so"},
	};
	static const uint64_t auxv[] = {AT_PAGESZ, 4096, AT_ENTRY, 0x10040, AT_NULL, 0};
	core_note_status(builder, 101, SIGSEGV, 0x10010, 0x30000, 0x7000);
	core_note_process(builder, 100, "ruby", "ruby app.rb  ");
	core_note_siginfo(builder, SIGSEGV, 1, 0x28);
	core_note(builder, "CORE", NT_AUXV, auxv, sizeof(auxv));
	core_note_files(builder, files, 3);
	core_note_status(builder, 102, SIGSEGV, 0x10020, 0x31000, 0x7100);
	core_load(builder, 0x30000, pattern, sizeof(pattern), sizeof(pattern), PF_R | PF_W);
	core_load(builder, 0x10000, pattern, 16, 0x1000, PF_R | PF_X);
}

START_TEST(reads_a_core)
{
	struct core_builder builder = {0};
	small_core(&builder);
	struct rcore_core *core = open_built(&builder);
	const struct rcore_process *process = rcore_core_process(core);
	ck_assert_str_eq(process->producer, "kernel");
	ck_assert_uint_eq(process->machine, EM_X86_64);
	ck_assert_int_eq(process->pid, 100);
	ck_assert_int_eq(process->signo, SIGSEGV);
	ck_assert_int_eq(process->crashed_tid, 101);
	ck_assert_str_eq(process->executable, "ruby");
	ck_assert_str_eq(process->arguments, "ruby app.rb");
	ck_assert(process->siginfo.present);
	ck_assert_int_eq(process->siginfo.code, 1);
	ck_assert_uint_eq(process->siginfo.address, 0x28);
	ck_assert_ptr_null(process->note);

	ck_assert_uint_eq(process->thread_count, 2);
	const struct rcore_native_thread *thread = &process->threads[1];
	ck_assert_int_eq(thread->tid, 102);
	ck_assert_uint_eq(thread->registers[rcore_register_pc(EM_X86_64)], 0x10020);
	ck_assert_uint_eq(thread->registers[rcore_register_sp(EM_X86_64)], 0x31000);
	ck_assert_uint_eq(thread->thread_pointer, 0x7100);

	uint64_t value;
	ck_assert(rcore_process_auxv(process, AT_ENTRY, &value));
	ck_assert_uint_eq(value, 0x10040);
	ck_assert(!rcore_process_auxv(process, AT_PHDR, &value));
	const struct rcore_mapping *mapping = rcore_process_mapping(process, 0x11fff);
	ck_assert_uint_eq(mapping->file_offset, 0x1000);
	ck_assert_str_eq(mapping->path, "/usr/bin/ruby");
	ck_assert_ptr_null(rcore_process_mapping(process, 0x12000));
	ck_assert_ptr_null(rcore_process_mapping(process, 0xffff));

	struct rcore_segment segment;
	ck_assert(rcore_core_segment(core, 0, &segment));
	ck_assert_uint_eq(segment.start, 0x10000);
	ck_assert_uint_eq(segment.saved, 16);
	ck_assert(segment.executable && !segment.writable);
	ck_assert(rcore_core_segment(core, 1, &segment));
	ck_assert(!rcore_core_segment(core, 2, &segment));

	struct rcore_memory *memory = rcore_core_memory(core);
	ck_assert_int_eq(rcore_read_u64(memory, 0x10000, &value), RCORE_FAULT_NONE);
	ck_assert_uint_eq(value, 0x0807060504030201);
	ck_assert_int_eq(rcore_read_u64(memory, 0x1000c, &value), RCORE_FAULT_NOT_SAVED);
	ck_assert_int_eq(rcore_read_u64(memory, 0x30040, &value), RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read_u64(memory, UINT64_MAX - 3, &value), RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, 0x10000, &value, 0), RCORE_FAULT_NONE);
	rcore_core_close(core);
	core_deinit(&builder);
}

START_TEST(reads_aarch64)
{
	struct core_builder builder = {.machine = EM_AARCH64};
	core_note_status(&builder, 7, SIGABRT, 0x1000, 0x2000, 0x3000);
	core_note_status(&builder, 8, SIGABRT, 0x1100, 0x2100, 0x3100);
	core_load(&builder, 0x1000, NULL, 8, 8, PF_R);
	struct rcore_core *core = open_built(&builder);
	const struct rcore_process *process = rcore_core_process(core);
	ck_assert_uint_eq(process->machine, EM_AARCH64);
	ck_assert_uint_eq(process->thread_count, 2);
	ck_assert_int_eq(process->threads[0].register_count, 34);
	ck_assert_uint_eq(process->threads[0].thread_pointer, 0x3000);
	ck_assert_uint_eq(process->threads[1].thread_pointer, 0x3100);
	ck_assert_uint_eq(process->threads[1].registers[rcore_register_pc(EM_AARCH64)], 0x1100);
	ck_assert_uint_eq(process->threads[1].registers[rcore_register_sp(EM_AARCH64)], 0x2100);
	ck_assert_ptr_null(process->producer);
	rcore_core_close(core);
	core_deinit(&builder);
}

static const struct {
	int signo, expected;
} gdb_stops[] = {{SIGSEGV, SIGSEGV}, {SIGTRAP, 0}, {SIGSTOP, 0}, {SIGINT, 0}, {0, 0}};

START_TEST(knows_gdb)
{
	struct core_builder builder = {0};
	core_note_process(&builder, 5, "ruby", "ruby");
	core_note_status(&builder, 5, gdb_stops[_i].signo, 1, 2, 3);
	core_note_siginfo(&builder, gdb_stops[_i].signo, 1, 4);
	core_note_status(&builder, 6, gdb_stops[_i].signo, 1, 2, 3);
	core_note_siginfo(&builder, SIGSTOP, 0, 0);
	core_load(&builder, 0x1000, NULL, 8, 8, PF_R);
	struct rcore_core *core = open_built(&builder);
	const struct rcore_process *process = rcore_core_process(core);
	ck_assert_str_eq(process->producer, "gdb");
	ck_assert_int_eq(process->signo, gdb_stops[_i].expected);
	ck_assert_int_eq(process->crashed_tid, gdb_stops[_i].expected ? 5 : 0);
	ck_assert(process->siginfo.present == (gdb_stops[_i].expected != 0));
	rcore_core_close(core);
	core_deinit(&builder);
}

enum { HIT = 5, OTHER = 6, OWN_PID = 5, FUTEX = 202, KILL = 62, TGKILL = 234 };

/* What the thread that was hit does, and another one. */
static const struct {
	int code, sender, hit, other, argument, expected;
} killers[] = {
	{SI_USER, OWN_PID, KILL, FUTEX, SIGABRT, HIT},
	{SI_USER, OWN_PID, KILL, KILL, SIGABRT, HIT},
	{SI_USER, OWN_PID, FUTEX, KILL, SIGABRT, OTHER},
	/* It has sent another signal, or returned from the call. */
	{SI_USER, OWN_PID, FUTEX, KILL, SIGUSR1, 0},
	{SI_USER, OWN_PID, FUTEX, FUTEX, SIGABRT, 0},
	/* Of another process; of abort(), to the thread itself; a fault. */
	{SI_USER, 99, FUTEX, KILL, SIGABRT, HIT},
	{SI_TKILL, OWN_PID, TGKILL, KILL, SIGABRT, HIT},
	{1, 0, FUTEX, KILL, SIGABRT, HIT},
};

START_TEST(killer)
{
	enum { ORIG_RAX = 15, RSI = 13, COUNT = 27 };
	struct rcore_native_thread threads[] = {
		{.tid = HIT, .has_registers = true, .register_count = COUNT},
		{.tid = OTHER, .has_registers = true, .register_count = COUNT},
	};
	struct rcore_process process = {.machine = EM_X86_64,
					.pid = OWN_PID,
					.signo = SIGABRT,
					.threads = threads,
					.thread_count = RCORE_COUNT(threads),
					.crashed_tid = HIT,
					.siginfo = {.present = true,
						    .signo = SIGABRT,
						    .code = killers[_i].code,
						    .sender_pid = killers[_i].sender}};
	threads[0].registers[ORIG_RAX] = (uint64_t)killers[_i].hit;
	threads[1].registers[ORIG_RAX] = (uint64_t)killers[_i].other;
	threads[0].registers[RSI] = threads[1].registers[RSI] = (uint64_t)killers[_i].argument;
	rcore_syscall_find_killer(&process, NULL);
	ck_assert_int_eq(process.crashed_tid, killers[_i].expected);
}

/* Like a core of QEMU 10: the thread that died need not be the first. */
START_TEST(signal_of_a_later_thread)
{
	struct core_builder builder = {0};
	core_note_status(&builder, 5, 0, 1, 2, 3);
	core_note_status(&builder, 6, SIGSEGV, 1, 2, 3);
	core_note_process(&builder, 5, "ruby", "ruby");
	core_load(&builder, 0x1000, NULL, 8, 8, PF_R);
	struct rcore_core *core = open_built(&builder);
	const struct rcore_process *process = rcore_core_process(core);
	ck_assert_int_eq(process->signo, SIGSEGV);
	ck_assert_int_eq(process->crashed_tid, 6);
	rcore_core_close(core);
	core_deinit(&builder);
}

START_TEST(overlaps)
{
	struct core_builder builder = {0};
	unsigned char a[64], b[64];
	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	core_load(&builder, 0x1040, a, 64, 64, PF_R);
	core_load(&builder, 0x1060, b, 64, 128, PF_R);
	core_load(&builder, 0x1000, NULL, 0, 64, PF_R);
	core_load(&builder, 0x1020, b, 64, 64, PF_R);
	core_load(&builder, UINT64_MAX - 15, b, 64, 64, PF_R);
	struct rcore_core *core = open_built(&builder);
	struct rcore_memory *memory = rcore_core_memory(core);
	char text[129] = "";
	ck_assert_int_eq(rcore_read(memory, 0x1020, text, 128), RCORE_FAULT_NONE);
	for (int i = 0; i < 128; i++)
		ck_assert_msg(text[i] == (i >= 32 && i < 96 ? 'a' : 'b'), "%d: %c", i, text[i]);
	ck_assert_int_eq(rcore_read(memory, 0x101f, text, 2), RCORE_FAULT_NOT_SAVED);
	ck_assert_int_eq(rcore_read(memory, 0x10a0, text, 1), RCORE_FAULT_NOT_SAVED);
	ck_assert_int_eq(rcore_read(memory, 0x10e0, text, 1), RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, UINT64_MAX - 15, text, 15), RCORE_FAULT_NONE);
	rcore_core_close(core);
	core_deinit(&builder);
}

/* The result equals that of looking at each piece in turn. */
START_TEST(overlaps_at_random)
{
	enum { SPACE = 300, PIECES = 40 };
	static uint8_t bytes[PIECES][SPACE];
	srand((unsigned)_i);
	struct rcore_segments segments = {0};
	struct rcore_piece pieces[PIECES];
	for (int i = 0; i < PIECES; i++) {
		memset(bytes[i], i + 1, SPACE);
		uint64_t start = (uint64_t)rand() % SPACE, size = (uint64_t)rand() % 40;
		pieces[i] =
			(struct rcore_piece){start, start + size, rand() % 3 ? bytes[i] : NULL,
					     RCORE_FAULT_TRUNCATED, 0};
		ck_assert(rcore_segments_add(&segments, start, size, pieces[i].bytes,
					     RCORE_FAULT_TRUNCATED));
	}
	ck_assert(rcore_segments_ready(&segments));
	for (uint64_t at = 0; at < SPACE + 50; at++) {
		uint8_t expected = 0, found;
		enum rcore_fault fault = RCORE_FAULT_UNMAPPED;
		for (int i = PIECES - 1; i >= 0; i--) {
			if (at < pieces[i].start || at >= pieces[i].end)
				continue;
			if (pieces[i].bytes) {
				expected = pieces[i].bytes[0];
				fault = RCORE_FAULT_NONE;
			} else if (fault == RCORE_FAULT_UNMAPPED) {
				fault = RCORE_FAULT_TRUNCATED;
			}
		}
		ck_assert_int_eq(rcore_segments_read(&segments, at, &found, 1), fault);
		if (!fault)
			ck_assert_uint_eq(found, expected);
	}
	rcore_segments_deinit(&segments);
}

/* Opens the file at `path` and reads everything in it. */
static void exercise(const char *path)
{
	struct rcore_core *core;
	struct rcore_error *err = rcore_core_open(path, &core);
	if (err) {
		ck_assert_ptr_null(strchr(err->message, '\n'));
		rcore_error_free(err);
		return;
	}
	const struct rcore_process *process = rcore_core_process(core);
	for (size_t i = 0; i < process->mapping_count; i++)
		ck_assert_uint_gt(strlen(process->mappings[i].path) + 1, 0);
	struct rcore_segment segment;
	for (size_t i = 0; rcore_core_segment(core, i, &segment); i++) {
		char buffer[64];
		for (uint64_t at = 0; at < segment.size && at < 4096; at += sizeof(buffer))
			rcore_read(rcore_core_memory(core), segment.start + at, buffer,
				   sizeof(buffer));
	}
	rcore_core_close(core);
}

START_TEST(truncated_anywhere)
{
	struct core_builder builder = {0};
	small_core(&builder);
	size_t size, loads = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr);
	unsigned char *file = core_build(&builder, &size);
	uint64_t expected = 0x0807060504030201, value;
	const char *path = write_file("core", file, size);
	for (size_t length = size; length--;) {
		ck_assert_int_eq(truncate(path, (off_t)length), 0);
		if (length < loads) {
			refuses(path, RCORE_ERROR_FORMAT,
				!length                       ? "empty"
				: length < 4                  ? "ELF header"
				: length < sizeof(Elf64_Ehdr) ? "ELF header"
							      : "truncated");
			continue;
		}
		struct rcore_core *core = core_opened(path);
		const struct rcore_process *process = rcore_core_process(core);
		ck_assert_ptr_nonnull(process->note);
		ck_assert_ptr_nonnull(strstr(process->note, "truncated"));
		enum rcore_fault fault =
			rcore_read_u64(rcore_core_memory(core), 0x30000, &value);
		if (length >= 4096 + 8) {
			ck_assert_int_eq(fault, RCORE_FAULT_NONE);
			ck_assert_uint_eq(value, expected);
			ck_assert_uint_eq(process->thread_count, 2);
		} else {
			ck_assert_int_eq(fault, RCORE_FAULT_TRUNCATED);
		}
		rcore_core_close(core);
	}
	free(file);
	core_deinit(&builder);
}

START_TEST(words_flipped)
{
	struct core_builder builder = {0};
	small_core(&builder);
	size_t size;
	unsigned char *file = core_build(&builder, &size);
	unsigned char *damaged = malloc(size);
	ck_assert_ptr_nonnull(damaged);
	size_t head = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) + builder.notes_size;
	static const uint64_t values[] = {0,          1,         7,    0x7fffffff, 0xffffffff,
					  UINT64_MAX, INT64_MAX, 4096, 0x30000};
	srand((unsigned)_i);
	for (int round = 0; round < 200; round++) {
		memcpy(damaged, file, size);
		for (int flips = 1 + rand() % 3; flips--;) {
			size_t width = rand() % 2 ? 4 : 8;
			size_t at = 4 + (size_t)rand() % (head - 12);
			uint64_t value = values[(size_t)rand() % (sizeof(values) / 8)];
			if (rand() % 3 == 0)
				value = (uint64_t)rand() << 32 | (uint64_t)rand();
			memcpy(damaged + at, &value, width);
		}
		exercise(write_file("core", damaged, size));
	}
	free(damaged);
	free(file);
	core_deinit(&builder);
}

START_TEST(many_segments)
{
	enum { COUNT = 66000 };
	struct core_builder builder = {.many = true};
	core_note_status(&builder, 1, SIGABRT, 1, 2, 3);
	for (uint64_t i = 0; i < COUNT; i++)
		core_load(&builder, 0x100000 + i * 0x2000, i == COUNT - 1 ? "12345678" : NULL,
			  i == COUNT - 1 ? 8 : 0, 0x1000, PF_R);
	size_t size;
	unsigned char *file = core_build(&builder, &size);
	const char *path = write_file("core", file, size);
	/*
	 * If section 0, at the end, is missing, the place of the notes shows
	 * the number.
	 */
	for (int cut = 0; cut < 2; cut++) {
		struct rcore_core *core = core_opened(path);
		struct rcore_segment segment;
		ck_assert(rcore_core_segment(core, COUNT - 1, &segment));
		ck_assert(!rcore_core_segment(core, COUNT, &segment));
		ck_assert_uint_eq(rcore_core_process(core)->thread_count, 1);
		uint64_t value;
		ck_assert(!rcore_read_u64(rcore_core_memory(core), segment.start, &value));
		ck_assert_int_eq(memcmp(&value, "12345678", 8), 0);
		rcore_core_close(core);
		ck_assert_int_eq(truncate(path, (off_t)(size - sizeof(Elf64_Shdr))), 0);
	}
	free(file);
	core_deinit(&builder);
}

/* Each of these must be refused or truncated, never trusted. */
static const struct {
	const char *name;
	uint64_t words[8];
	size_t size; /* bytes */
	size_t mappings;
} file_notes[] = {
	{"count past the note", {1 << 20, 4096, 0x1000, 0x2000, 0}, 48, 0},
	{"count that wraps", {UINT64_MAX / 24 + 2, 4096, 0x1000, 0x2000, 0}, 48, 0},
	{"no room for a head", {1}, 8, 0},
	{"no name", {1, 4096, 0x1000, 0x2000, 0}, 40, 0},
	{"a name without an end", {1, 4096, 0x1000, 0x2000, 0, 0x6161616161616161}, 48, 0},
	{"an end before its start", {1, 4096, 0x2000, 0x1000, 0, 'a'}, 48, 0},
	{"an offset that wraps", {1, UINT64_MAX, 0x1000, 0x2000, 2, 'a'}, 48, 0},
	{"no mappings", {0, 4096}, 16, 0},
	{"good", {1, 4096, 0x1000, 0x2000, 0, 'a'}, 48, 1},
};

START_TEST(hostile_file_note)
{
	struct core_builder builder = {0};
	core_note(&builder, "CORE", NT_FILE, file_notes[_i].words, file_notes[_i].size);
	core_note_status(&builder, 1, SIGABRT, 1, 2, 3);
	core_load(&builder, 0x1000, NULL, 8, 8, PF_R);
	struct rcore_core *core = open_built(&builder);
	const struct rcore_process *process = rcore_core_process(core);
	ck_assert_uint_eq(process->mapping_count, file_notes[_i].mappings);
	ck_assert_uint_eq(process->thread_count, 1);
	if (!file_notes[_i].mappings && file_notes[_i].words[0])
		ck_assert_ptr_nonnull(
			strstr(process->note, "notes of the core cannot be read"));
	rcore_core_close(core);
	core_deinit(&builder);
}

START_TEST(hostile_notes)
{
	struct core_builder builder = {0};
	static const struct core_mapping overlapping[] = {{0x3000, 0x5000, 0, "/c"},
							  {0x1000, 0x4000, 0, "/a"},
							  {0x5000, 0x6000, 0, "/d"}};
	core_note(&builder, "CORE", NT_PRSTATUS, "short", 5);
	core_note(&builder, "CORE", NT_PRPSINFO, "short", 5);
	core_note(&builder, "CORE", NT_SIGINFO, NULL, 0);
	core_note(&builder, "LINUX", NT_ARM_TLS, "12345678", 8);
	core_note(&builder, "CORE", NT_AUXV, "123", 3);
	core_note(&builder, "OTHER", NT_PRSTATUS, "12345678", 8);
	core_note_files(&builder, overlapping, 3);
	core_load(&builder, 0x1000, NULL, 8, 8, PF_R);
	struct rcore_core *core = open_built(&builder);
	const struct rcore_process *process = rcore_core_process(core);
	ck_assert_uint_eq(process->thread_count, 0);
	ck_assert_uint_eq(process->auxv_pairs, 0);
	ck_assert_ptr_null(process->executable);
	ck_assert_uint_eq(process->mapping_count, 2);
	ck_assert_str_eq(process->mappings[0].path, "/a");
	ck_assert_str_eq(process->mappings[1].path, "/d");
	ck_assert_ptr_nonnull(strstr(process->note, "5 of the notes of the core"));
	rcore_core_close(core);
	core_deinit(&builder);
}

START_TEST(refused)
{
	struct core_builder builder = {0};
	core_load(&builder, 0x1000, NULL, 8, 8, PF_R);
	size_t size;
	unsigned char *file = core_build(&builder, &size);
	Elf64_Ehdr *header = (Elf64_Ehdr *)file, good = *header;

	refuses("/nonexistent/core", RCORE_ERROR_OS, "core_pattern");
	refuses("/", RCORE_ERROR_OS, "directory");
	const char *fifo = temporary_path("fifo");
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	refuses(fifo, RCORE_ERROR_OS, "pipe");
	refuses("/dev/null", RCORE_ERROR_OS, "device");
	refuses(write_file("empty", "", 0), RCORE_ERROR_FORMAT, "is empty");
	refuses(write_file("text", "hello", 5), RCORE_ERROR_FORMAT, "not an ELF file");
	refuses(write_file("zst", "\x28\xb5\x2f\xfd....", 8), RCORE_ERROR_FORMAT,
		"cannot be decompressed");
	refuses(write_file("xz",
			   "\xfd"
			   "7zXZ\0...",
			   8),
		RCORE_ERROR_FORMAT, "cannot be decompressed");
	refuses(write_file("lz4", "\x04\x22\x4d\x18....", 8), RCORE_ERROR_FORMAT,
		"cannot be decompressed");
	refuses(write_file("gz", "\x1f\x8b......", 8), RCORE_ERROR_FORMAT,
		"cannot be decompressed");
	refuses(write_file("bz2", "BZh9....", 8), RCORE_ERROR_FORMAT, "cannot be decompressed");
	refuses("/proc/self/exe", RCORE_ERROR_FORMAT, "executable");

	header->e_type = ET_REL;
	refuses(write_file("rel", file, size), RCORE_ERROR_FORMAT, "not a core file");
	*header = good;
	header->e_ident[EI_CLASS] = ELFCLASS32;
	refuses(write_file("32", file, size), RCORE_ERROR_UNSUPPORTED, "32-bit");
	*header = good;
	header->e_ident[EI_DATA] = ELFDATA2MSB;
	refuses(write_file("big", file, size), RCORE_ERROR_UNSUPPORTED, "big-endian");
	*header = good;
	header->e_machine = EM_RISCV;
	refuses(write_file("riscv", file, size), RCORE_ERROR_UNSUPPORTED, "another machine");
	*header = good;
	header->e_phentsize = 32;
	refuses(write_file("phent", file, size), RCORE_ERROR_FORMAT, "damaged");
	*header = good;
	header->e_phnum = 0;
	refuses(write_file("none", file, size), RCORE_ERROR_FORMAT, "no program headers");
	*header = good;
	header->e_phoff = UINT64_MAX - 8;
	refuses(write_file("far", file, size), RCORE_ERROR_FORMAT, "is truncated at");
	free(file);
	core_deinit(&builder);
}

/* Like a core that is overwritten while a debugger has it open. */
START_TEST(cut_off_while_open)
{
	struct core_builder *builder = calloc(1, sizeof(*builder));
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	size_t size;
	small_core(builder);
	unsigned char *file = core_build(builder, &size);
	const char *path = write_file("core", file, size);
	ck_assert_ptr_null(rcore_open_core(path, NULL, &session));
	struct rcore_error *err = rcore_load(session, &snapshot);
	ck_assert_int_eq(err->code, RCORE_ERROR_NOT_RUBY);
	rcore_error_free(err);
	ck_assert_uint_gt(size, 4096);
	ck_assert_int_eq(truncate(path, 4096), 0);
	err = rcore_load(session, &snapshot);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_OS);
	ck_assert_ptr_nonnull(strstr(err->message, "shrank while it was read"));
	rcore_error_free(err);
	rcore_close(session);
	free(file);
	free(builder);
}
END_TEST

START_TEST(permission)
{
	const char *path = write_file("secret", "x", 1);
	uid_t user = geteuid();
	ck_assert_int_eq(chmod(path, 0), 0);
	if (!user)
		ck_assert_int_eq(seteuid(65534), 0);
	refuses(path, RCORE_ERROR_OS, "permission denied");
	ck_assert_int_eq(seteuid(user), 0);
	/*
	 * The kernel cleared it when the user changed; a leak checker needs it.
	 */
	prctl(PR_SET_DUMPABLE, 1);
}

/* Ten GiB of holes: only pages with contents are ever read. */
START_TEST(sparse)
{
	struct core_builder builder = {0};
	core_note_status(&builder, 1, SIGABRT, 1, 2, 3);
	core_load(&builder, 0x100000, NULL, 4096, 4096, PF_R);
	size_t size;
	uint64_t total = UINT64_C(10) << 30;
	unsigned char *file = core_build(&builder, &size);
	Elf64_Phdr *load = (Elf64_Phdr *)(file + sizeof(Elf64_Ehdr)) + 1;
	load->p_filesz = load->p_memsz = total - load->p_offset;
	const char *path = write_file("core", file, size);
	int fd = open(path, O_WRONLY);
	ck_assert_int_eq(ftruncate(fd, (off_t)total), 0);
	ck_assert_int_eq(pwrite(fd, "last one", 8, (off_t)total - 8), 8);
	close(fd);
	struct rcore_core *core = core_opened(path);
	char text[9] = "";
	uint64_t end = load->p_vaddr + load->p_memsz;
	ck_assert_int_eq(rcore_read(rcore_core_memory(core), end - 8, text, 8), 0);
	ck_assert_str_eq(text, "last one");
	ck_assert_ptr_null(rcore_core_process(core)->note);
	rcore_core_close(core);
	free(file);
	core_deinit(&builder);
}

/* A memory that counts reads. */
struct counted {
	struct rcore_memory memory;
	unsigned reads;
	size_t size;
	uint8_t *bytes;
	uint64_t end; /* of what was read */
};
enum { COUNTED_BASE = 0x10000 };

static enum rcore_fault read_counted(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	struct counted *counted = (struct counted *)memory;
	counted->reads++;
	if (counted->end < address + size)
		counted->end = address + size;
	if (address < COUNTED_BASE || address - COUNTED_BASE > counted->size ||
	    size > counted->size - (address - COUNTED_BASE))
		return RCORE_FAULT_UNMAPPED;
	memcpy(buffer, counted->bytes + (address - COUNTED_BASE), size);
	return RCORE_FAULT_NONE;
}

static struct counted counted(size_t size)
{
	struct counted counted = {{read_counted}, 0, size, malloc(size), 0};
	ck_assert_ptr_nonnull(counted.bytes);
	for (size_t i = 0; i < size; i++)
		counted.bytes[i] = (uint8_t)(i * 31 + i / 4096);
	return counted;
}

START_TEST(strings)
{
	struct counted target = counted(4096);
	char text[300];
	memset(target.bytes, 'x', target.size);
	ck_assert_int_eq(rcore_read_string(&target.memory, COUNTED_BASE + 4096, text, 10),
			 RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read_string(&target.memory, COUNTED_BASE + 4000, text, 300),
			 RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read_string(&target.memory, COUNTED_BASE + 4000, text, 90),
			 RCORE_FAULT_NONE);
	ck_assert_uint_eq(strlen(text), 89);
	target.bytes[4095] = '\0';
	ck_assert_int_eq(rcore_read_string(&target.memory, COUNTED_BASE + 3800, text, 300),
			 RCORE_FAULT_NONE);
	ck_assert_uint_eq(strlen(text), 295);
	/* A core that ends next to the NUL; nothing after it is read. */
	target.size = 1001;
	target.bytes[1000] = '\0';
	target.end = 0;
	ck_assert_int_eq(rcore_read_string(&target.memory, COUNTED_BASE + 990, text, 300),
			 RCORE_FAULT_NONE);
	ck_assert_uint_eq(strlen(text), 10);
	ck_assert_uint_eq(target.end, COUNTED_BASE + 1001);
	ck_assert_int_eq(rcore_read_string(&target.memory, COUNTED_BASE, text, 1),
			 RCORE_FAULT_NONE);
	ck_assert_str_eq(text, "");
	free(target.bytes);
}

START_TEST(fault_errors)
{
	struct rcore_error *err =
		rcore_fault_error(RCORE_FAULT_NOT_SAVED, "the VM", 0x7f0012345678, 8);
	ck_assert_int_eq(err->code, RCORE_ERROR_FAULT);
	ck_assert_str_eq(err->message, "cannot read the VM: 8 bytes at 0x7f0012345678: not "
				       "saved in the core");
	rcore_error_free(err);
	for (int fault = 0; fault <= RCORE_FAULT_IO; fault++)
		ck_assert_str_ne(rcore_fault_text(fault), "unknown fault");
}

START_TEST(cache_asks_once)
{
	struct counted target = counted(64 << 10);
	struct rcore_cache *cache;
	struct rcore_cache_options options = {.block_size = (size_t)4096 << (_i * 2)};
	ck_assert_ptr_null(rcore_cache_open(&target.memory, &options, &cache));
	struct rcore_memory *memory = rcore_cache_memory(cache);
	for (int round = 0; round < 2; round++) {
		for (uint64_t at = 0; at + 8 <= target.size; at += 20) {
			uint64_t value;
			ck_assert_int_eq(rcore_read_u64(memory, COUNTED_BASE + at, &value), 0);
			ck_assert_int_eq(memcmp(&value, target.bytes + at, 8), 0);
		}
	}
	ck_assert_uint_eq(target.reads, target.size / options.block_size);
	target.bytes[0] ^= 1;
	uint8_t byte;
	rcore_cache_drop(cache);
	ck_assert_int_eq(rcore_read(memory, COUNTED_BASE, &byte, 1), 0);
	ck_assert_uint_eq(byte, target.bytes[0]);
	rcore_cache_close(cache);
	free(target.bytes);
}

/*
 * A block that is partly outside is read by pages, and requested as a whole
 * only once.
 */
START_TEST(cache_at_edges)
{
	struct counted target = counted(3 * 4096 + 100);
	struct rcore_cache *cache;
	struct rcore_cache_options options = {.block_size = 16384};
	ck_assert_ptr_null(rcore_cache_open(&target.memory, &options, &cache));
	struct rcore_memory *memory = rcore_cache_memory(cache);
	uint8_t bytes[200];
	for (int round = 0; round < 10; round++)
		for (uint64_t page = 0; page < 3; page++)
			ck_assert_int_eq(
				rcore_read(memory, COUNTED_BASE + page * 4096, bytes, 200), 0);
	ck_assert_uint_eq(target.reads, 4);
	uint64_t last = COUNTED_BASE + 3 * 4096;
	ck_assert_int_eq(rcore_read(memory, last - 100, bytes, 200), RCORE_FAULT_NONE);
	ck_assert_int_eq(memcmp(bytes, target.bytes + 3 * 4096 - 100, 200), 0);
	ck_assert_int_eq(rcore_read(memory, last - 100, bytes, 201 - 0), RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, 0, bytes, 8), RCORE_FAULT_UNMAPPED);
	ck_assert_int_eq(rcore_read(memory, UINT64_MAX, bytes, 8), RCORE_FAULT_UNMAPPED);
	rcore_cache_close(cache);
	free(target.bytes);
}

START_TEST(cache_is_bounded)
{
	struct counted target = counted(64 << 10);
	struct rcore_cache *cache;
	struct rcore_cache_options options = {.max_bytes = 4 * 4096};
	ck_assert_ptr_null(rcore_cache_open(&target.memory, &options, &cache));
	uint8_t byte;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t at = i * 5 % 16 * 4096 + i;
		ck_assert_int_eq(
			rcore_read(rcore_cache_memory(cache), COUNTED_BASE + at, &byte, 1), 0);
		ck_assert_uint_eq(byte, target.bytes[at]);
	}
	ck_assert_uint_eq(target.reads, 1000);
	rcore_cache_close(cache);

	options.block_size = 5000;
	struct rcore_error *err = rcore_cache_open(&target.memory, &options, &cache);
	ck_assert_int_eq(err->code, RCORE_ERROR_USAGE);
	rcore_error_free(err);
	free(target.bytes);
}

int main(void)
{
	const TTest *const core[] = {reads_a_core,
				     reads_aarch64,
				     signal_of_a_later_thread,
				     overlaps,
				     truncated_anywhere,
				     many_segments,
				     hostile_notes,
				     refused,
				     cut_off_while_open,
				     permission,
				     sparse};
	const struct rcore_test_loop core_loops[] = {
		{knows_gdb, RCORE_COUNT(gdb_stops)},
		{killer, RCORE_COUNT(killers)},
		{overlaps_at_random, 50},
		{words_flipped, 10},
		{hostile_file_note, RCORE_COUNT(file_notes)}};
	const TTest *const memory[] = {strings, fault_errors, cache_at_edges, cache_is_bounded};
	const struct rcore_test_loop memory_loops[] = {{cache_asks_once, 3}};
	const struct rcore_test_suite suites[] = {
		{
			.name = "target, core",
			.tests = core,
			.count = RCORE_COUNT(core),
			.looped = core_loops,
			.looped_count = RCORE_COUNT(core_loops),
			.timeout = 120,
		},
		{
			.name = "target, memory",
			.tests = memory,
			.count = RCORE_COUNT(memory),
			.looped = memory_loops,
			.looped_count = RCORE_COUNT(memory_loops),
		},
	};
	int status = EXIT_SUCCESS;
	for (size_t i = 0; i < RCORE_COUNT(suites); i++)
		status |= rcore_test_suite_run(&suites[i]);
	return status;
}
