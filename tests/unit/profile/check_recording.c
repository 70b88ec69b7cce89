/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/count.h"
#include "profile/recording.h"
#include "profile/recording_writer.h"
#include "profile/varint.h"
#include "suite.h"
#include "target/file_kind.h"

/* A recording in memory that has a path. */
static int memory_file(char path[32])
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static uint32_t function(struct rcore_profile *profile, const char *label)
{
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_RUBY,
		.label = rcore_profile_string(profile, label),
		.path = rcore_profile_string(profile, "app.rb"),
	};
	return rcore_profile_function(profile, &function);
}

/* A stack of `labels`, outermost first. */
static uint32_t stack(struct rcore_profile *profile, const char *const *labels)
{
	uint32_t node = 0;
	for (uint32_t line = 1; *labels; labels++, line++)
		node = rcore_profile_node(
			profile, node,
			rcore_profile_frame(profile, function(profile, *labels), line));
	return node;
}

static void add_sample(struct rcore_profile *profile, uint64_t time, uint32_t node)
{
	const struct rcore_profile_label label = {rcore_profile_string(profile, "request"),
						  rcore_profile_string(profile, "42")};
	const struct rcore_profile_state state = {
		.kind = RCORE_SAMPLE_BLOCKED,
		.wait = rcore_profile_string(profile, "mutex"),
	};
	const struct rcore_profile_thread thread = {.pid = 7,
						    .id = rcore_profile_string(profile, "T1")};
	const struct rcore_profile_sample sample = {
		.time = time,
		.wall = 10000000,
		.cpu = time / 3,
		.node = node,
		.thread = rcore_profile_thread(profile, &thread),
		.state = rcore_profile_state(profile, &state),
		.labels = rcore_profile_labels(profile, &label, 1),
		.count = 1,
	};
	rcore_profile_sample(profile, &sample);
}

static const char *const stacks[][4] = {
	{"main", "a", NULL}, {"main", "a", "b", NULL}, {"main", "c", NULL}};

/*
 * Writes `seconds` blocks with a sample of each stack, and the end if
 * requested.
 */
static int write_file(char path[32], int seconds, bool is_ended)
{
	struct rcore_recording_writer *writer;
	struct rcore_profile *profile = rcore_profile_new();
	int fd = memory_file(path);
	ck_assert_ptr_null(rcore_recording_writer_new(fd, &writer));
	ck_assert_ptr_null(rcore_recording_writer_fact(writer, "rate", "99"));
	for (int second = 0; second < seconds; second++) {
		for (size_t i = 0; i < 3; i++)
			add_sample(profile, (uint64_t)second * 1000000000 + i,
				   stack(profile, stacks[i]));
		ck_assert_ptr_null(rcore_recording_writer_flush(writer, profile));
	}
	ck_assert_ptr_null(rcore_recording_writer_fact(writer, "rate", "98"));
	if (is_ended)
		ck_assert_ptr_null(rcore_recording_writer_end(writer, profile));
	rcore_recording_writer_free(writer);
	rcore_profile_free(profile);
	return fd;
}

static size_t read_samples(struct rcore_recording *recording)
{
	size_t count = 0;
	for (bool more = true; more;) {
		ck_assert_ptr_null(rcore_recording_next(recording, &more));
		count += recording->profile->samples.count;
	}
	return count;
}

static void expect_stack(const struct rcore_profile *profile, uint32_t node,
			 const char *const *labels)
{
	size_t depth = 0;
	while (labels[depth])
		depth++;
	for (; depth; depth--) {
		const struct rcore_profile_node *at = rcore_profile_node_at(profile, node);
		const struct rcore_profile_frame *frame =
			rcore_profile_frame_at(profile, at->frame);
		const struct rcore_profile_function *found =
			rcore_profile_function_at(profile, frame->function);
		ck_assert_str_eq(rcore_profile_text(profile, found->label), labels[depth - 1]);
		ck_assert_uint_eq(frame->line, depth);
		node = at->parent;
	}
	ck_assert_uint_eq(node, 0);
}

START_TEST(what_is_added_again_is_the_same)
{
	struct rcore_profile *profile = rcore_profile_new();
	uint32_t node = stack(profile, stacks[1]);
	ck_assert_uint_eq(stack(profile, stacks[1]), node);
	ck_assert_uint_ne(stack(profile, stacks[0]), node);
	ck_assert_uint_eq(rcore_profile_string(profile, ""), 0);
	ck_assert_uint_eq(rcore_profile_string(profile, NULL), 0);
	for (int i = 0; i < 100000; i++) {
		char text[16];
		snprintf(text, sizeof(text), "%d", i);
		ck_assert_str_eq(
			rcore_profile_text(profile, rcore_profile_string(profile, text)), text);
	}
	ck_assert_uint_eq(stack(profile, stacks[1]), node);
	expect_stack(profile, node, stacks[1]);
	rcore_profile_free(profile);
}
END_TEST

START_TEST(labels_have_no_order)
{
	struct rcore_profile *profile = rcore_profile_new();
	const struct rcore_profile_label ab[] = {{1, 5}, {2, 6}}, ba[] = {{2, 6}, {1, 5}},
					 twice[] = {{1, 5}, {2, 6}, {1, 9}};
	uint32_t set = rcore_profile_labels(profile, ab, 2);
	ck_assert_uint_ne(set, 0);
	ck_assert_uint_eq(rcore_profile_labels(profile, ba, 2), set);
	ck_assert_uint_eq(rcore_profile_labels(profile, twice, 3), set);
	ck_assert_uint_eq(rcore_profile_labels(profile, NULL, 0), 0);
	rcore_profile_free(profile);
}
END_TEST

START_TEST(long_texts_are_cut)
{
	struct rcore_profile *profile = rcore_profile_new();
	size_t size = 1 << 20;
	char *text = malloc(size + 1);
	/* Two bytes per character, from an odd offset on. */
	for (size_t i = 0; i < size; i++)
		text[i] = i % 2 ? '\xc3' : '\xa9';
	text[0] = 'x';
	text[size] = '\0';
	const char *cut = rcore_profile_text(profile, rcore_profile_string(profile, text));
	ck_assert_uint_le(strlen(cut), RCORE_PROFILE_TEXT_MAX);
	ck_assert_uint_gt(strlen(cut), RCORE_PROFILE_TEXT_MAX - 8);
	ck_assert_str_eq(cut + strlen(cut) - 4, "\xa9...");
	free(text);
	rcore_profile_free(profile);
}
END_TEST

START_TEST(numbers_come_back)
{
	static const int64_t numbers[] = {0,         1,         -1,        63,       64,
					  INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
	enum { COUNT = RCORE_COUNT(numbers) };
	struct rcore_bytes bytes = {0};
	for (size_t i = 0; i < COUNT; i++) {
		rcore_bytes_signed(&bytes, numbers[i]);
		rcore_bytes_varint(&bytes, (uint64_t)numbers[i]);
	}
	struct rcore_cursor cursor = {bytes.items, bytes.items + bytes.count, false};
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_int_eq(rcore_cursor_signed(&cursor), numbers[i]);
		ck_assert_uint_eq(rcore_cursor_varint(&cursor), (uint64_t)numbers[i]);
	}
	ck_assert(!cursor.is_bad);
	ck_assert_uint_eq(rcore_cursor_varint(&cursor), 0);
	ck_assert(cursor.is_bad);
	rcore_bytes_deinit(&bytes);

	static const unsigned char too_long[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
	cursor = (struct rcore_cursor){too_long, too_long + sizeof(too_long) - 1, false};
	rcore_cursor_varint(&cursor);
	ck_assert(cursor.is_bad);
}
END_TEST

START_TEST(recording_comes_back)
{
	char path[32];
	struct rcore_recording *recording;
	int fd = write_file(path, 3, true);
	ck_assert_ptr_null(rcore_recording_open(path, &recording));
	struct rcore_profile *profile = recording->profile;
	for (int second = 0; second < 3; second++) {
		bool more;
		ck_assert_ptr_null(rcore_recording_next(recording, &more));
		ck_assert(more);
		ck_assert_uint_eq(profile->samples.count, 3);
		for (size_t i = 0; i < 3; i++) {
			const struct rcore_profile_sample *sample = &profile->samples.items[i];
			size_t labels;
			expect_stack(profile, sample->node, stacks[i]);
			ck_assert_uint_eq(sample->time, (uint64_t)second * 1000000000 + i);
			ck_assert_uint_eq(sample->wall, 10000000);
			ck_assert_uint_eq(sample->cpu, sample->time / 3);
			ck_assert_uint_eq(rcore_profile_state_at(profile, sample->state)->kind,
					  RCORE_SAMPLE_BLOCKED);
			ck_assert_uint_eq(rcore_profile_thread_at(profile, sample->thread)->pid,
					  7);
			ck_assert_str_eq(
				rcore_profile_text(profile,
						   rcore_profile_label_set(
							   profile, sample->labels, &labels)[0]
							   .value),
				"42");
		}
	}
	ck_assert(!recording->is_ended);
	ck_assert_str_eq(rcore_recording_fact(recording, "rate"), "99");
	ck_assert_uint_eq(read_samples(recording), 0);
	ck_assert(recording->is_ended);
	ck_assert_str_eq(rcore_recording_fact(recording, "rate"), "98");
	ck_assert_ptr_null(rcore_recording_fact(recording, "pid"));
	ck_assert_ptr_null(recording->problem);
	rcore_recording_close(recording);
	close(fd);
}
END_TEST

/* Returns the title of the process of the last block's only sample. */
static const char *title_of(struct rcore_recording *recording, uint32_t pid, uint32_t use)
{
	bool more;
	ck_assert_ptr_null(rcore_recording_next(recording, &more));
	ck_assert(more);
	const struct rcore_profile *profile = recording->profile;
	uint32_t thread = profile->samples.items[0].thread;
	uint32_t number = rcore_profile_thread_at(profile, thread)->process;
	const struct rcore_profile_process *process = rcore_profile_process_at(profile, number);
	ck_assert_uint_eq(process->pid, pid);
	ck_assert_uint_eq(process->use, use);
	return rcore_profile_text(profile, rcore_profile_title(profile, number));
}

static void write_titled(struct rcore_recording_writer *writer, struct rcore_profile *profile,
			 uint32_t pid, uint32_t use, const char *title)
{
	const struct rcore_profile_process process = {.pid = pid, .use = use};
	const struct rcore_profile_thread thread = {
		.pid = pid,
		.id = rcore_profile_string(profile, "T1"),
		.process = rcore_profile_process(profile, &process)};
	const struct rcore_profile_sample sample = {
		.thread = rcore_profile_thread(profile, &thread), .count = 1};
	if (title)
		rcore_profile_set_title(profile, thread.process,
					rcore_profile_string(profile, title));
	rcore_profile_sample(profile, &sample);
	ck_assert_ptr_null(rcore_recording_writer_flush(writer, profile));
}

/*
 * The title of a process changes. Another process with the same id has another
 * one, although its thread is the same in all other members.
 */
START_TEST(titles_come_back)
{
	char path[32];
	struct rcore_recording_writer *writer;
	struct rcore_recording *recording;
	struct rcore_profile *profile = rcore_profile_new();
	int fd = memory_file(path);
	ck_assert_ptr_null(rcore_recording_writer_new(fd, &writer));
	write_titled(writer, profile, 7, 1, "ruby app.rb");
	write_titled(writer, profile, 8, 1, "irb");
	write_titled(writer, profile, 7, 1, "puma 6.0");
	write_titled(writer, profile, 7, 2, "rake");
	write_titled(writer, profile, 7, 1, NULL);
	rcore_profile_clear(profile);
	write_titled(writer, profile, 8, 1, NULL);
	write_titled(writer, profile, 8, 1, "irb");
	ck_assert_ptr_null(rcore_recording_open(path, &recording));
	ck_assert_str_eq(title_of(recording, 7, 1), "ruby app.rb");
	ck_assert_str_eq(title_of(recording, 8, 1), "irb");
	ck_assert_str_eq(title_of(recording, 7, 1), "puma 6.0");
	ck_assert_str_eq(title_of(recording, 7, 2), "rake");
	ck_assert_str_eq(title_of(recording, 7, 1), "puma 6.0");
	ck_assert_str_eq(title_of(recording, 8, 1), "");
	ck_assert_str_eq(title_of(recording, 8, 1), "irb");
	rcore_recording_close(recording);
	rcore_recording_writer_free(writer);
	rcore_profile_free(profile);
	close(fd);
}
END_TEST

/* Returns the number of the process with this id; 0: there is none. */
static uint32_t process_numbered(const struct rcore_profile *profile, uint32_t pid)
{
	for (uint32_t i = 1; i < profile->processes.count; i++)
		if (rcore_profile_process_at(profile, i)->pid == pid)
			return i;
	return 0;
}

/*
 * The next block has the end of a process, whether or not the process has
 * samples there, and even if the tables were emptied before.
 */
START_TEST(ends_of_processes_come_back)
{
	char path[32];
	struct rcore_recording_writer *writer;
	struct rcore_recording *recording;
	struct rcore_profile *profile = rcore_profile_new();
	const struct rcore_profile_process process = {.pid = 8, .use = 1};
	const uint64_t times[][2] = {{0, 0}, {5, 0}, {5, 1ull << 40}};
	bool more;
	int fd = memory_file(path);
	ck_assert_ptr_null(rcore_recording_writer_new(fd, &writer));
	write_titled(writer, profile, 7, 1, "ruby app.rb");
	rcore_profile_end_process(profile, process_numbered(profile, 7), 5);
	write_titled(writer, profile, 8, 1, NULL);
	rcore_profile_end_process(profile, process_numbered(profile, 8), 1ull << 40);
	write_titled(writer, profile, 7, 1, NULL);
	rcore_profile_clear(profile);
	rcore_profile_end_process(profile, rcore_profile_process(profile, &process), 0);
	write_titled(writer, profile, 7, 1, NULL);
	ck_assert_ptr_null(rcore_recording_open(path, &recording));
	for (size_t i = 0; i < RCORE_COUNT(times); i++) {
		ck_assert_ptr_null(rcore_recording_next(recording, &more));
		for (uint32_t j = 0; j < 2; j++)
			ck_assert_uint_eq(rcore_profile_ended(
						  recording->profile,
						  process_numbered(recording->profile, 7 + j)),
					  times[i][j]);
	}
	ck_assert_ptr_null(rcore_recording_next(recording, &more));
	ck_assert_uint_eq(rcore_profile_ended(recording->profile,
					      process_numbered(recording->profile, 8)),
			  1);
	rcore_recording_close(recording);
	rcore_recording_writer_free(writer);
	rcore_profile_free(profile);
	close(fd);
}
END_TEST

/* The tables may be emptied at any time, as a writer does if they are large. */
START_TEST(generations_come_back)
{
	char path[32];
	struct rcore_recording_writer *writer;
	struct rcore_recording *recording;
	struct rcore_profile *profile = rcore_profile_new();
	int fd = memory_file(path);
	ck_assert_ptr_null(rcore_recording_writer_new(fd, &writer));
	for (size_t i = 0; i < 3; i++) {
		add_sample(profile, i, stack(profile, stacks[i]));
		ck_assert_ptr_null(rcore_recording_writer_flush(writer, profile));
		rcore_profile_clear(profile);
	}
	ck_assert_ptr_null(rcore_recording_writer_end(writer, profile));
	rcore_recording_writer_free(writer);
	rcore_profile_free(profile);

	ck_assert_ptr_null(rcore_recording_open(path, &recording));
	for (size_t i = 0; i < 3; i++) {
		bool more;
		ck_assert_ptr_null(rcore_recording_next(recording, &more));
		ck_assert_uint_eq(recording->profile->generation, i);
		ck_assert_uint_eq(recording->profile->samples.count, 1);
		expect_stack(recording->profile, recording->profile->samples.items[0].node,
			     stacks[i]);
	}
	rcore_recording_close(recording);
	close(fd);
}
END_TEST

/* Whatever a long run records, the writer's tables stay small. */
START_TEST(tables_stay_small)
{
	char path[32];
	struct rcore_recording_writer *writer;
	struct rcore_recording *recording;
	struct rcore_profile *profile = rcore_profile_new();
	size_t written = 0;
	int fd = memory_file(path);
	ck_assert_ptr_null(rcore_recording_writer_new(fd, &writer));
	for (int second = 0; second < 60; second++) {
		for (int i = 0; i < 10000; i++, written++) {
			char text[32];
			snprintf(text, sizeof(text), "request %d", second * 10000 + i);
			const struct rcore_profile_label label = {
				rcore_profile_string(profile, "id"),
				rcore_profile_string(profile, text)};
			const struct rcore_profile_sample sample = {
				.labels = rcore_profile_labels(profile, &label, 1)};
			rcore_profile_sample(profile, &sample);
		}
		ck_assert_ptr_null(rcore_recording_writer_flush(writer, profile));
		ck_assert_uint_le(rcore_profile_memory(profile), RCORE_PROFILE_MEMORY_MAX);
	}
	ck_assert_uint_gt(profile->generation, 1);
	ck_assert_ptr_null(rcore_recording_writer_end(writer, profile));
	rcore_recording_writer_free(writer);
	rcore_profile_free(profile);
	ck_assert_ptr_null(rcore_recording_open(path, &recording));
	ck_assert_uint_eq(read_samples(recording), written);
	ck_assert(recording->is_ended);
	rcore_recording_close(recording);
	close(fd);
}
END_TEST

/*
 * After kill -9 at any moment, all complete blocks can be read, and the rest is
 * reported.
 */
START_TEST(cut_off_files_are_read)
{
	char path[32];
	int fd = write_file(path, 3, true);
	off_t whole = lseek(fd, 0, SEEK_END);
	size_t last = 9;
	for (off_t size = whole; size >= 0; size--) {
		struct rcore_recording *recording;
		ck_assert_int_eq(ftruncate(fd, size), 0);
		struct rcore_error *err = rcore_recording_open(path, &recording);
		ck_assert_int_eq(!err, size >= 16);
		rcore_error_free(err);
		if (err)
			continue;
		size_t count = read_samples(recording);
		ck_assert_uint_le(count, last);
		ck_assert_uint_eq(count % 3, 0);
		ck_assert_int_eq(recording->is_ended, size == whole);
		last = count;
		rcore_recording_close(recording);
	}
	ck_assert_uint_eq(last, 0);
	close(fd);
}
END_TEST

/*
 * Every flipped bit is noticed, and it affects only its block and the following
 * ones.
 */
START_TEST(damage_is_found)
{
	char path[32];
	int fd = write_file(path, 3, true);
	off_t whole = lseek(fd, 0, SEEK_END);
	for (off_t at = 0; at < whole; at++) {
		struct rcore_recording *recording;
		unsigned char byte, flipped;
		ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
		flipped = byte ^ 0x10;
		ck_assert_int_eq(pwrite(fd, &flipped, 1, at), 1);
		struct rcore_error *err = rcore_recording_open(path, &recording);
		if (!err) {
			ck_assert_uint_lt(read_samples(recording), 10);
			/*
			 * The last four bytes of the header are not used yet.
			 */
			ck_assert(recording->problem || at < 16);
			rcore_recording_close(recording);
		}
		ck_assert(err || at >= 12);
		rcore_error_free(err);
		ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}
END_TEST

static void expect_refused(const char *path, enum rcore_error_code code, const char *words)
{
	struct rcore_recording *recording;
	struct rcore_error *err = rcore_recording_open(path, &recording);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, code);
	ck_assert_ptr_nonnull(strstr(err->message, words));
	rcore_error_free(err);
}

START_TEST(other_files_are_refused)
{
	char path[32];
	int fd = write_file(path, 1, true);
	ck_assert_int_eq(pwrite(fd, "\x02", 1, 8), 1);
	expect_refused(path, RCORE_ERROR_UNSUPPORTED, "version 2");
	/* Other commands know it. */
	char start[RCORE_FILE_KIND_SIZE];
	ssize_t size = pread(fd, start, sizeof(start), 0);
	ck_assert_int_gt(size, 0);
	ck_assert_ptr_nonnull(strstr(rcore_file_kind(start, (size_t)size), "a recording"));
	ck_assert_int_eq(pwrite(fd, "\177ELF", 4, 0), 4);
	expect_refused(path, RCORE_ERROR_FORMAT, "not a recording of rcore, but an ELF file");
	ck_assert_int_eq(pwrite(fd, "ELF", 3, 0), 3);
	expect_refused(path, RCORE_ERROR_FORMAT, "not a recording of rcore; `rcore record");
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	expect_refused(path, RCORE_ERROR_FORMAT, "not a recording");
	expect_refused("/", RCORE_ERROR_FORMAT, "not a regular file");
	expect_refused("/nonexistent/x.rec", RCORE_ERROR_OS, "No such file");
	close(fd);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {what_is_added_again_is_the_same,
				      labels_have_no_order,
				      long_texts_are_cut,
				      numbers_come_back,
				      recording_comes_back,
				      titles_come_back,
				      ends_of_processes_come_back,
				      generations_come_back,
				      tables_stay_small,
				      cut_off_files_are_read,
				      damage_is_found,
				      other_files_are_refused};
	const struct rcore_test_suite suite = {
		.name = "recording",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
