/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "core_builder.h"
#include "target/core/core.h"
#include "target/core/core_copy.h"
#include "suite.h"

enum { MAX_SEEN = 64 };

/* What a reader that does not know rcore finds in the notes of a core. */
struct seen {
	struct {
		int tid, signo;
		uint64_t pc, sp, pointer;
		char name[17];
	} threads[MAX_SEEN];
	size_t thread_count;
	int pid; /* of the last NT_PRPSINFO, which gdb uses */
	char last_name[17];
	size_t program_headers;
};

static void see_note(struct seen *seen, unsigned machine, const GElf_Nhdr *note,
		     const char *owner, const uint8_t *body)
{
	bool arm = machine == EM_AARCH64;
	if (!strcmp(owner, "CORE") && note->n_type == NT_PRSTATUS) {
		ck_assert_uint_lt(seen->thread_count, MAX_SEEN);
		size_t i = seen->thread_count++;
		int16_t signo;
		memcpy(&signo, body + 12, sizeof(signo));
		seen->threads[i].signo = signo;
		memcpy(&seen->threads[i].tid, body + 32, 4);
		memcpy(&seen->threads[i].pc, body + 112 + 8 * (arm ? 32 : 16), 8);
		memcpy(&seen->threads[i].sp, body + 112 + 8 * (arm ? 31 : 19), 8);
		if (!arm)
			memcpy(&seen->threads[i].pointer, body + 112 + 8 * 21, 8);
		ck_assert_uint_eq(note->n_descsz, arm ? 392 : 336);
	}
	if (!strcmp(owner, "LINUX") && note->n_type == NT_ARM_TLS && seen->thread_count)
		memcpy(&seen->threads[seen->thread_count - 1].pointer, body, 8);
	if (!strcmp(owner, "CORE") && note->n_type == NT_PRPSINFO) {
		memcpy(&seen->pid, body + 24, 4);
		memcpy(seen->last_name, body + 40, 16);
		if (seen->thread_count && !seen->threads[seen->thread_count - 1].name[0])
			memcpy(seen->threads[seen->thread_count - 1].name, body + 40, 16);
	}
}

static struct seen look(const char *path)
{
	struct seen seen = {0};
	elf_version(EV_CURRENT);
	int fd = open(path, O_RDONLY);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	GElf_Ehdr header;
	ck_assert_ptr_nonnull(gelf_getehdr(elf, &header));
	ck_assert_int_eq(elf_getphdrnum(elf, &seen.program_headers), 0);
	for (size_t i = 0; i < seen.program_headers; i++) {
		GElf_Phdr program;
		ck_assert_ptr_nonnull(gelf_getphdr(elf, (int)i, &program));
		if (program.p_type != PT_NOTE)
			continue;
		Elf_Data *data =
			elf_getdata_rawchunk(elf, (int64_t)program.p_offset, program.p_filesz,
					     program.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		ck_assert_ptr_nonnull(data);
		size_t offset = 0, name, body;
		GElf_Nhdr note;
		while (offset < data->d_size) {
			offset = gelf_getnote(data, offset, &note, &name, &body);
			ck_assert_uint_ne(offset, 0);
			see_note(&seen, header.e_machine, &note, (char *)data->d_buf + name,
				 (uint8_t *)data->d_buf + body);
		}
	}
	elf_end(elf);
	close(fd);
	return seen;
}

static void plain_core(struct core_builder *builder, unsigned machine)
{
	static unsigned char pattern[300];
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = (unsigned char)(i * 7 + 1);
	builder->machine = machine;
	core_note_status(builder, 101, SIGSEGV, 0x1010, 0x30000, 0x7000);
	core_note_process(builder, 100, "ruby", "ruby app.rb");
	core_note_status(builder, 102, SIGSEGV, 0x1020, 0x31000, 0x7100);
	core_load(builder, 0x30000, pattern, sizeof(pattern), 0x1000, PF_R | PF_W);
	core_load(builder, 0x40000, pattern, 100, 100, PF_R);
}

static struct rcore_added_thread thread(int tid, int owner, const char *name, uint64_t pc)
{
	struct rcore_added_thread ret = {.tid = tid, .owner = owner};
	strcpy(ret.name, name);
	for (size_t i = 0; i < RCORE_MAX_REGISTERS; i++)
		ret.registers[i] = pc;
	return ret;
}

static void copies(const char *from, const char *to, const struct rcore_added_thread *threads,
		   size_t count)
{
	struct rcore_core *core = core_opened(from);
	struct rcore_error *err = rcore_core_copy(core, to, NULL, threads, count);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	rcore_core_close(core);
}

static void refuses(const char *from, const char *to, enum rcore_error_code code,
		    const char *words)
{
	struct rcore_added_thread added = thread(1, 0, "T1.F1", 0);
	struct rcore_core *core = core_opened(from);
	struct rcore_inputs inputs = {0};
	ck_assert_ptr_null(rcore_inputs_add(&inputs, from, "the core itself"));
	struct rcore_error *err = rcore_core_copy(core, to, &inputs, &added, 1);
	rcore_inputs_deinit(&inputs);
	ck_assert_ptr_nonnull(err);
	ck_assert_msg(err->code == code, "code %d: %s", err->code, err->message);
	ck_assert_msg(strstr(err->message, words) != NULL, "%s", err->message);
	ck_assert_ptr_null(strchr(err->message, '\n'));
	rcore_error_free(err);
	rcore_core_close(core);
}

static const char *write_core(const struct core_builder *builder, const char *name, size_t cut)
{
	size_t size;
	unsigned char *bytes = core_build(builder, &size);
	ck_assert_uint_ge(size, cut);
	const char *path = write_file(name, bytes, size - cut);
	free(bytes);
	return path;
}

/* Compares each byte, and each reason why there is none. */
static void same_memory(const char *left, const char *right)
{
	struct rcore_core *a = core_opened(left), *b = core_opened(right);
	struct rcore_segment one, other;
	for (size_t i = 0; rcore_core_segment(a, i, &one); i++) {
		ck_assert(rcore_core_segment(b, i, &other));
		ck_assert_mem_eq(&one, &other, sizeof(one));
		for (uint64_t at = one.start; at < one.start + one.size; at++) {
			uint8_t x = 0, y = 0;
			enum rcore_fault fault =
				rcore_core_memory(a)->read(rcore_core_memory(a), at, &x, 1);
			ck_assert_int_eq(fault, rcore_core_memory(b)->read(rcore_core_memory(b),
									   at, &y, 1));
			ck_assert_uint_eq(x, y);
		}
	}
	ck_assert_uint_eq(rcore_core_process(a)->thread_count,
			  rcore_core_process(b)->thread_count);
	rcore_core_close(a);
	rcore_core_close(b);
}

static void adds_threads(unsigned machine)
{
	struct core_builder builder = {0};
	plain_core(&builder, machine);
	const char *from = write_core(&builder, "core", 0), *to = temporary_path("copy");
	struct rcore_added_thread added[] = {thread(10000001, 101, "T1.F1", 0x2000),
					     thread(20000013, 102, "T2.F13", 0x3000),
					     thread(5000000, 0, "E1.F0", 0x4000)};
	copies(from, to, added, 3);
	struct seen seen = look(to);
	ck_assert_uint_eq(seen.thread_count, 5);
	ck_assert_int_eq(seen.threads[0].tid, 101);
	ck_assert_int_eq(seen.threads[0].signo, SIGSEGV);
	ck_assert_int_eq(seen.threads[1].tid, 102);
	ck_assert_int_eq(seen.threads[2].tid, 10000001);
	ck_assert_int_eq(seen.threads[2].signo, 0);
	ck_assert_uint_eq(seen.threads[2].pc, 0x2000);
	ck_assert_uint_eq(seen.threads[2].sp, 0x2000);
	ck_assert_str_eq(seen.threads[2].name, "T1.F1");
	ck_assert_int_eq(seen.threads[3].tid, 20000013);
	ck_assert_str_eq(seen.threads[3].name, "T2.F13");
	ck_assert_uint_eq(seen.threads[4].pc, 0x4000);
	if (machine == EM_AARCH64) {
		ck_assert_uint_eq(seen.threads[2].pointer, 0x7000);
		ck_assert_uint_eq(seen.threads[3].pointer, 0x7100);
		ck_assert_uint_eq(seen.threads[4].pointer, 0);
	}
	ck_assert_int_eq(seen.pid, 100);
	ck_assert_str_eq(seen.last_name, "ruby");
	same_memory(from, to);
	core_deinit(&builder);
}

START_TEST(adds_threads_on_x86)
{
	adds_threads(EM_X86_64);
}
END_TEST

START_TEST(adds_threads_on_arm)
{
	adds_threads(EM_AARCH64);
}
END_TEST

START_TEST(ours_is_read_as_the_original)
{
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	const char *from = write_core(&builder, "core", 0), *to = temporary_path("copy");
	struct rcore_added_thread added = thread(10000001, 101, "T1.F1", 0x2000);
	copies(from, to, &added, 1);
	struct rcore_core *core = core_opened(to);
	const struct rcore_process *process = rcore_core_process(core);
	ck_assert_uint_eq(process->thread_count, 2);
	ck_assert_int_eq(process->threads[1].tid, 102);
	ck_assert_str_eq(process->executable, "ruby");
	ck_assert_str_eq(process->arguments, "ruby app.rb");
	ck_assert_ptr_null(process->note);
	rcore_core_close(core);

	const char *again = temporary_path("again");
	added.tid = 10000002;
	copies(to, again, &added, 1);
	struct seen seen = look(again);
	ck_assert_uint_eq(seen.thread_count, 3);
	ck_assert_int_eq(seen.threads[2].tid, 10000002);
	same_memory(from, again);
	core_deinit(&builder);
}
END_TEST

START_TEST(a_core_cut_off_stays_so)
{
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	for (size_t cut = 1; cut < 400; cut += 57) {
		const char *from = write_core(&builder, "core", cut);
		const char *to = temporary_path("copy");
		struct rcore_added_thread added = thread(10000001, 101, "T1.F1", 0x2000);
		copies(from, to, &added, 1);
		ck_assert_uint_eq(look(to).thread_count, 3);
		same_memory(from, to);
	}
	core_deinit(&builder);
}
END_TEST

START_TEST(notes_cut_off_lose_the_rest_alone)
{
	struct core_builder builder = {0};
	builder.machine = EM_X86_64;
	core_note_status(&builder, 101, SIGSEGV, 0x1010, 0x30000, 0x7000);
	core_note_process(&builder, 100, "ruby", "ruby app.rb");
	size_t whole = builder.notes_size;
	core_note_status(&builder, 102, SIGSEGV, 0x1020, 0x31000, 0x7100);
	size_t size;
	unsigned char *bytes = core_build(&builder, &size);
	const char *from = write_file("core", bytes, 64 + 56 + whole + 100);
	const char *to = temporary_path("copy");
	free(bytes);
	struct rcore_added_thread added = thread(10000001, 101, "T1.F1", 0x2000);
	copies(from, to, &added, 1);
	struct seen seen = look(to);
	ck_assert_uint_eq(seen.thread_count, 2);
	ck_assert_int_eq(seen.threads[1].tid, 10000001);
	core_deinit(&builder);
}
END_TEST

START_TEST(takes_many_program_headers)
{
	enum { MANY = 70000 };
	struct core_builder builder = {.many = true};
	plain_core(&builder, EM_X86_64);
	for (uint64_t i = 0; i < MANY; i++)
		core_load(&builder, 0x100000 + 16 * i, &i, 8, 8, PF_R);
	const char *from = write_core(&builder, "core", 0), *to = temporary_path("copy");
	struct rcore_added_thread added = thread(10000001, 101, "T1.F1", 0x2000);
	copies(from, to, &added, 1);
	struct seen seen = look(to);
	ck_assert_uint_eq(seen.program_headers, MANY + 3);
	ck_assert_uint_eq(seen.thread_count, 3);
	same_memory(from, to);
	core_deinit(&builder);
}
END_TEST

static uint64_t blocks(const char *path)
{
	struct stat status;
	ck_assert_int_eq(stat(path, &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

START_TEST(holes_stay_holes)
{
	enum { HOLE = 64 << 20 };
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	size_t size;
	unsigned char *bytes = core_build(&builder, &size);
	Elf64_Phdr *programs = (Elf64_Phdr *)(bytes + sizeof(Elf64_Ehdr));
	programs[1].p_filesz = programs[1].p_memsz = HOLE;
	const char *from = write_file("core", bytes, size), *to = temporary_path("copy");
	ck_assert_int_eq(truncate(from, (off_t)programs[1].p_offset + HOLE), 0);
	if (blocks(from) > HOLE / 2) {
		free(bytes);
		core_deinit(&builder);
		return; /* the file system has no holes */
	}
	struct rcore_added_thread added = thread(10000001, 101, "T1.F1", 0x2000);
	copies(from, to, &added, 1);
	ck_assert_uint_lt(blocks(to), HOLE / 2);
	struct rcore_core *core = core_opened(to);
	uint8_t byte;
	ck_assert_int_eq(rcore_core_memory(core)->read(rcore_core_memory(core),
						       0x30000 + HOLE - 1, &byte, 1),
			 RCORE_FAULT_NONE);
	rcore_core_close(core);
	free(bytes);
	core_deinit(&builder);
}
END_TEST

/* Notes after the memory, aligned to 8, with a second segment of notes. */
START_TEST(takes_notes_anywhere)
{
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	size_t size;
	unsigned char *bytes = core_build(&builder, &size);
	Elf64_Phdr *programs = (Elf64_Phdr *)(bytes + sizeof(Elf64_Ehdr));
	size_t at = (size + 7) & ~(size_t)7;
	unsigned char *moved = calloc(1, at + builder.notes_size);
	memcpy(moved, bytes, size);
	memcpy(moved + at, bytes + programs[0].p_offset, builder.notes_size);
	programs = (Elf64_Phdr *)(moved + sizeof(Elf64_Ehdr));
	memset(moved + programs[0].p_offset, 0x55, builder.notes_size);
	programs[0].p_offset = at;
	const char *from = write_file("core", moved, at + builder.notes_size);
	const char *to = temporary_path("copy");
	struct rcore_added_thread added = thread(10000001, 102, "T1.F1", 0x2000);
	copies(from, to, &added, 1);
	struct seen seen = look(to);
	ck_assert_uint_eq(seen.thread_count, 3);
	ck_assert_int_eq(seen.threads[2].tid, 10000001);
	same_memory(from, to);
	free(moved);
	free(bytes);
	core_deinit(&builder);
}
END_TEST

START_TEST(refuses_places)
{
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	const char *from = write_core(&builder, "core", 0);
	const char *other = temporary_path("link");
	ck_assert_int_eq(symlink(from, other), 0);
	refuses(from, from, RCORE_ERROR_USAGE, "is the core itself");
	refuses(from, other, RCORE_ERROR_USAGE, "is the core itself");
	refuses(from, "/tmp", RCORE_ERROR_USAGE, "is a directory");
	refuses(from, "/nonexistent/core", RCORE_ERROR_OS, "No such file or directory");
	ck_assert_uint_eq(look(from).thread_count, 2);
	core_deinit(&builder);
}
END_TEST

START_TEST(refuses_a_core_without_notes)
{
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	size_t size;
	unsigned char *bytes = core_build(&builder, &size);
	Elf64_Phdr *programs = (Elf64_Phdr *)(bytes + sizeof(Elf64_Ehdr));
	programs[0].p_type = PT_NULL;
	const char *to = temporary_path("copy");
	refuses(write_file("core", bytes, size), to, RCORE_ERROR_FORMAT, "has no notes");
	programs[0].p_type = PT_NOTE;
	programs[0].p_filesz = 0;
	refuses(write_file("core", bytes, size), to, RCORE_ERROR_FORMAT,
		"the notes of the core cannot be read");
	ck_assert_int_ne(access(to, F_OK), 0);
	free(bytes);
	core_deinit(&builder);
}
END_TEST

START_TEST(leaves_nothing_half_written)
{
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	const char *from = write_core(&builder, "core", 0), *to = temporary_path("copy");
	const struct rlimit little = {1024, RLIM_INFINITY},
			    full = {RLIM_INFINITY, RLIM_INFINITY};
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	refuses(from, to, RCORE_ERROR_OS, "File too large");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
	ck_assert_int_ne(access(to, F_OK), 0);
	write_file("copy", "before", 6);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	refuses(from, to, RCORE_ERROR_OS, "File too large");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &full), 0);
	struct stat status;
	ck_assert_int_eq(stat(to, &status), 0);
	ck_assert_int_eq(status.st_size, 6);
	struct rcore_added_thread added = thread(10000001, 101, "T1.F1", 0x2000);
	copies(from, to, &added, 1);
	ck_assert_int_eq(stat(to, &status), 0);
	ck_assert_int_eq(status.st_mode & 0777, 0600);
	ck_assert_uint_eq(look(to).thread_count, 3);
	core_deinit(&builder);
}
END_TEST

/* Impossible offsets and sizes must not lead anywhere. */
START_TEST(survives_hostile_headers)
{
	static const uint64_t values[] = {
		0, 1, 0xffff, UINT64_MAX, UINT64_MAX - 0xffff, INT64_MAX, UINT64_C(1) << 40};
	struct core_builder builder = {0};
	plain_core(&builder, EM_X86_64);
	size_t size, count = RCORE_COUNT(values);
	unsigned char *bytes = core_build(&builder, &size);
	Elf64_Phdr *programs = (Elf64_Phdr *)(bytes + sizeof(Elf64_Ehdr));
	const Elf64_Phdr good = programs[1];
	for (size_t i = 0; i < count * count; i++) {
		programs[1].p_offset = values[i % count];
		programs[1].p_filesz = values[i / count];
		const char *from = write_file("core", bytes, size);
		const char *to = temporary_path("copy");
		struct rcore_added_thread added = thread(10000001, 101, "T1.F1", 0x2000);
		copies(from, to, &added, 1);
		ck_assert_uint_eq(look(to).thread_count, 3);
		programs[1] = good;
	}
	free(bytes);
	core_deinit(&builder);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {adds_threads_on_x86,
				      adds_threads_on_arm,
				      ours_is_read_as_the_original,
				      a_core_cut_off_stays_so,
				      notes_cut_off_lose_the_rest_alone,
				      takes_many_program_headers,
				      holes_stay_holes,
				      takes_notes_anywhere,
				      refuses_places,
				      refuses_a_core_without_notes,
				      leaves_nothing_half_written,
				      survives_hostile_headers};
	const struct rcore_test_suite suite = {
		.name = "core_copy",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.timeout = 60,
	};
	return rcore_test_suite_run(&suite);
}
