/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/filler.h"
#include "image/pack_note.h"
#include "target/pack/pack_known.h"
#include "target/pack/pack_notes.h"
#include "target/pack/pack_plan.h"
#include "target/pack/recorder.h"
#include "suite.h"

enum { PAGE = RCORE_RECORDER_PAGE };

static enum rcore_fault read_nothing(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	return RCORE_FAULT_UNMAPPED;
}

static struct rcore_memory nothing = {.read = read_nothing};

START_TEST(records_every_byte)
{
	struct rcore_recorder *recorder = rcore_recorder_new(&nothing);
	static bool model[8 * PAGE];
	unsigned seed = 7;
	for (int i = 0; i < 300; i++) {
		char buffer[2 * PAGE];
		seed = seed * 1103515245 + 12345;
		size_t start = seed / 65536 % (6 * PAGE);
		seed = seed * 1103515245 + 12345;
		size_t size = seed / 65536 % (i % 10 ? 40 : 2 * PAGE);
		bool paused = i % 7 == 3;
		if (paused)
			rcore_recorder_pause(recorder, true);
		rcore_read(rcore_recorder_memory(recorder), 0x10000 + start, buffer, size);
		if (paused)
			rcore_recorder_pause(recorder, false);
		for (size_t at = start; at < start + size && !paused; at++)
			model[at] = true;
	}
	static bool seen[8 * PAGE];
	size_t count;
	const struct rcore_recorded_page *const *pages = rcore_recorder_pages(recorder, &count);
	for (size_t i = 0; i < count; i++) {
		size_t start, size;
		ck_assert(!i || pages[i]->start > pages[i - 1]->start);
		for (size_t at = 0; rcore_recorded_run(pages[i], &at, &start, &size);)
			memset(seen + pages[i]->start - 0x10000 + start, true, size);
	}
	ck_assert_mem_eq(model, seen, sizeof(model));
	ck_assert(!rcore_recorder_is_short(recorder));
	rcore_recorder_free(recorder);
}
END_TEST

/* Of every 8 bytes, the last is gone, and of [64, 96) all are. */
static bool is_gone(uint64_t address)
{
	uint64_t at = address % PAGE;
	return at % 8 == 7 || (at >= 64 && at < 96);
}

static enum rcore_fault read_rest(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (is_gone(address + i))
			return RCORE_FAULT_NOT_SAVED;
		((uint8_t *)buffer)[i] = (uint8_t)(address + i);
	}
	return RCORE_FAULT_NONE;
}

/* Each byte that can still be read is packed, however long the run is. */
START_TEST(reads_what_is_left)
{
	struct rcore_memory rest = {.read = read_rest};
	struct rcore_recorder *recorder = rcore_recorder_new(&rest);
	struct rcore_known_writer known = {0};
	struct rcore_known_runs runs = {0};
	size_t count;
	bool no_memory = false;
	uint8_t bytes[PAGE];
	rcore_recorder_add(recorder, 0x10000 + 3, 600);
	rcore_recorder_add(recorder, 0x10000 + 1000, 4);
	const struct rcore_recorded_page *const *pages = rcore_recorder_pages(recorder, &count);
	ck_assert(rcore_pack_page_read(pages[0], &rest, 0, &known, &no_memory, bytes));
	ck_assert(!no_memory);
	ck_assert(rcore_known_read(known.items, known.count, PAGE, &runs));
	for (size_t at = 0; at < PAGE; at++) {
		bool asked = (at >= 3 && at < 603) || (at >= 1000 && at < 1004);
		size_t run = rcore_known_find(&runs, at);
		bool is_known = run < runs.count && runs.items[run].start <= at;
		ck_assert_int_eq(is_known, asked && !is_gone(at));
		ck_assert_uint_eq(bytes[at], is_known ? (uint8_t)at : 0);
	}
	rcore_known_writer_deinit(&known);
	rcore_known_deinit(&runs);
	rcore_recorder_free(recorder);
}
END_TEST

/*
 * From 0x20000 on, the second half of each 256 bytes can be read, and nothing
 * else.
 */
enum { PART = 128 };
static size_t reads;

static enum rcore_fault read_halves(struct rcore_memory *memory, uint64_t address, void *buffer,
				    size_t size)
{
	reads++;
	for (uint64_t at = address; at < address + size; at++)
		if (at < 0x20000 || at / PART % 2 == 0)
			return RCORE_FAULT_NOT_SAVED;
	memset(buffer, 1, size);
	return RCORE_FAULT_NONE;
}

static uint64_t edge_of_halves(const void *context, uint64_t address)
{
	return address < 0x20000 ? 0x20000 : address - address % PART + PART;
}

/* If it is known where memory begins and ends, it is not read byte by byte. */
START_TEST(reads_up_to_edges)
{
	struct rcore_memory halves = {.read = read_halves};
	struct rcore_recorder *recorder = rcore_recorder_new(&halves);
	size_t count, start, size, found = 0;
	uint8_t bytes[PAGE];
	rcore_recorder_set_edge(recorder, edge_of_halves, NULL);
	rcore_recorder_add(recorder, 0x10000, 10 * PAGE);
	rcore_recorder_add(recorder, 0x20000, PAGE);
	const struct rcore_recorded_page *const *pages = rcore_recorder_pages(recorder, &count);
	ck_assert_uint_eq(count, 11);
	reads = 0;
	for (size_t i = 0; i < 10; i++)
		for (size_t at = 0;
		     rcore_recorded_read(pages[i], &halves, &at, &start, &size, bytes);)
			ck_abort();
	ck_assert_uint_eq(reads, 10 * 2);
	reads = 0;
	for (size_t at = 0;
	     rcore_recorded_read(pages[10], &halves, &at, &start, &size, bytes);) {
		ck_assert_uint_eq(start, found++ * 2 * PART + PART);
		ck_assert_uint_eq(size, PART);
	}
	ck_assert_uint_eq(found, PAGE / PART / 2);
	/* Each part, that after it, and the rest of the run as a whole. */
	ck_assert_uint_le(reads, 3 * PAGE / PART);
	rcore_recorder_free(recorder);
}
END_TEST

START_TEST(records_the_edge_of_memory)
{
	struct rcore_recorder *recorder = rcore_recorder_new(&nothing);
	size_t count, start, size, at = 0;
	rcore_recorder_add(recorder, UINT64_MAX - 3, 100);
	const struct rcore_recorded_page *const *pages = rcore_recorder_pages(recorder, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert(rcore_recorded_run(pages[0], &at, &start, &size));
	ck_assert_uint_eq(start, PAGE - 4);
	ck_assert_uint_eq(size, 4);
	rcore_recorder_free(recorder);
	rcore_recorder_free(NULL);
}
END_TEST

START_TEST(knows_its_bytes)
{
	static const struct rcore_known_run added[] = {
		{3, 10}, {10, 12}, {400, 401}, {100000, 4000000000}};
	struct rcore_known_writer writer = {0};
	struct rcore_known_runs runs = {0};
	for (size_t i = 0; i < RCORE_COUNT(added); i++)
		ck_assert(rcore_known_add(&writer, added[i].start,
					  added[i].end - added[i].start));
	ck_assert(rcore_known_read(writer.items, writer.count, 4000000000, &runs));
	ck_assert_uint_eq(runs.count, 3);
	ck_assert(runs.items[0].start == 3 && runs.items[0].end == 12);
	ck_assert(runs.items[1].start == 400 && runs.items[1].end == 401);
	ck_assert(runs.items[2].start == 100000 && runs.items[2].end == 4000000000);
	ck_assert_uint_eq(rcore_known_find(&runs, 0), 0);
	ck_assert_uint_eq(rcore_known_find(&runs, 11), 0);
	ck_assert_uint_eq(rcore_known_find(&runs, 12), 1);
	ck_assert_uint_eq(rcore_known_find(&runs, 4000000000), 3);
	rcore_known_deinit(&runs);
	/*
	 * Of a truncated file, the beginning is used, and nothing past its end
	 * is known.
	 */
	for (size_t size = 0; size < writer.count; size++) {
		ck_assert(rcore_known_read(writer.items, size, 4000000000, &runs));
		ck_assert_uint_le(runs.count, 2);
		rcore_known_deinit(&runs);
	}
	ck_assert(rcore_known_read(writer.items, writer.count, 3999999999, &runs));
	ck_assert_uint_eq(runs.count, 3);
	ck_assert(runs.items[2].start == 100000 && runs.items[2].end == 3999999999);
	rcore_known_deinit(&runs);
	ck_assert(rcore_known_read(writer.items, writer.count, 100000, &runs));
	ck_assert_uint_eq(runs.count, 2);
	rcore_known_deinit(&runs);
	static const uint8_t endless[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					  0xff, 0xff, 0xff, 0xff, 0xff, 1};
	ck_assert(rcore_known_read(endless, sizeof(endless), UINT64_MAX, &runs));
	ck_assert_uint_eq(runs.count, 0);
	rcore_known_writer_deinit(&writer);
	rcore_known_deinit(&runs);
}
END_TEST

START_TEST(knows_more_of_a_byte)
{
	struct rcore_recorder *recorder = rcore_recorder_new(&nothing);
	size_t count, start, size, at = 0;
	rcore_recorder_add(recorder, PAGE, 100);
	rcore_recorder_pause(recorder, true);
	rcore_recorder_mark(recorder, RCORE_RECORDED_TEXT, PAGE + 10, 5);
	rcore_recorder_mark(recorder, RCORE_RECORDED_NAME, 3 * PAGE, 5);
	rcore_recorder_pause(recorder, false);
	rcore_recorder_forget(recorder, PAGE + 50, PAGE + 60);
	const struct rcore_recorded_page *const *pages = rcore_recorder_pages(recorder, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert(!rcore_recorded_is(pages[0], RCORE_RECORDED_TEXT, 9));
	ck_assert(rcore_recorded_is(pages[0], RCORE_RECORDED_TEXT, 10));
	ck_assert(rcore_recorded_is(pages[0], RCORE_RECORDED_TEXT, 14));
	ck_assert(!rcore_recorded_is(pages[0], RCORE_RECORDED_TEXT, 15));
	ck_assert(rcore_recorded_run(pages[0], &at, &start, &size));
	ck_assert(start == 0 && size == 50);
	ck_assert(rcore_recorded_run(pages[0], &at, &start, &size));
	ck_assert(start == 60 && size == 40);
	at = 0;
	ck_assert(!rcore_recorded_run(pages[1], &at, &start, &size));
	rcore_recorder_free(recorder);
}
END_TEST

static void hide_all(void *context, char *text, size_t size)
{
	rcore_fill(text, size);
	*(size_t *)context += size;
}

struct notes {
	uint8_t bytes[8192];
	size_t size;
};

/* Adds a note whose bytes are all `byte`. Returns where its contents are. */
static uint8_t *add_note(struct notes *notes, uint32_t type, size_t size, int byte)
{
	const Elf64_Nhdr head = {5, (uint32_t)size, type};
	memcpy(notes->bytes + notes->size, &head, sizeof(head));
	memcpy(notes->bytes + notes->size + sizeof(head), "CORE", 5);
	uint8_t *contents = notes->bytes + notes->size + sizeof(head) + 8;
	memset(contents, byte, size);
	notes->size += sizeof(head) + 8 + (size + 3) / 4 * 4;
	return contents;
}

START_TEST(hides_notes)
{
	static struct notes notes;
	size_t hidden = 0;
	const struct rcore_pack_hiding hiding = {hide_all, &hidden};
	const uint64_t words[] = {UINT64_C(0x6472307773736150), UINT64_C(0x00007f4142434445),
				  42};
	uint8_t *status = add_note(&notes, NT_PRSTATUS, 336, 0);
	memcpy(status + 112, words, sizeof(words));
	uint8_t *process = add_note(&notes, NT_PRPSINFO, 136, 0);
	strcpy((char *)process + 40, "worker");
	strcpy((char *)process + 56, "ruby app.rb  ");
	uint8_t *vector = add_note(&notes, NT_FPREGSET, 512, 7);
	uint8_t *extended = add_note(&notes, NT_X86_XSTATE, 2696, 7);
	uint8_t *arm = add_note(&notes, NT_FPREGSET, 528, 7);
	uint8_t *scalable = add_note(&notes, NT_ARM_SVE, 48, 7);
	uint8_t *table = add_note(&notes, 0x40d, 64, 7); /* NT_ARM_ZT */
	uint8_t *files = add_note(&notes, NT_FILE, 9, 7);
	rcore_pack_notes_hide(notes.bytes, notes.size, 4, &hiding);
	ck_assert_mem_eq(status + 112, "\0\0\0\0\0\0\0\0", 8);
	ck_assert_mem_eq(status + 120, &words[1], 16);
	ck_assert_str_eq((char *)process + 40, "******");
	ck_assert_str_eq((char *)process + 56, "***********  ");
	ck_assert_uint_eq(hidden, 11);
	ck_assert(vector[31] == 7 && !vector[32] && !vector[415] && vector[416] == 7);
	ck_assert(extended[575] == 7 && !extended[576] && !extended[2695]);
	for (size_t i = 0; i < 512; i++)
		ck_assert_msg(!arm[i], "byte %zu of V0 to V31 is kept", i);
	ck_assert(arm[512] == 7 && arm[527] == 7);
	ck_assert(scalable[15] == 7 && !scalable[16] && !scalable[47]);
	ck_assert(!table[0] && !table[63]);
	ck_assert(files[0] == 7 && files[8] == 7);
	/* Truncated anywhere. */
	for (size_t size = 0; size < notes.size; size++) {
		uint8_t *copy = malloc(size + !size);
		memcpy(copy, notes.bytes, size);
		rcore_pack_notes_hide(copy, size, size % 2 ? 4 : 8, &hiding);
		free(copy);
	}
}
END_TEST

static struct rcore_arena arena;

static void setup(void)
{
	arena = (struct rcore_arena){0};
}

static void teardown(void)
{
	rcore_arena_deinit(&arena);
}

/* Frames of one function share its strings. */
static const char hostile[] = "a \xff\n", path[] = "a.c";

static const struct rcore_native_frame frames[] = {
	{.pc = 0x7f0000001000,
	 .sp = 0x7ffe00000000,
	 .function_start = 0x7f0000000ff0,
	 .function = "poll",
	 .function_offset = 16,
	 .module_offset = 0x1000,
	 .module = "libc.so.6"},
	{.pc = 0x7f0000002000,
	 .sp = 0x7ffe00000020,
	 .is_inlined = true,
	 .function = hostile,
	 .file = path,
	 .line = 3,
	 .module = "x.so",
	 .gem = "x-1.0",
	 .trust = RCORE_TRUST_CFI},
	/* a recursive function that was inlined into itself */
	{.pc = 0x7f0000002000,
	 .sp = 0x7ffe00000020,
	 .is_inlined = true,
	 .function = hostile,
	 .file = path,
	 .line = 4,
	 .module = "x.so",
	 .gem = "x-1.0",
	 .trust = RCORE_TRUST_CFI},
	{.pc = 0x7f0000002000,
	 .sp = 0x7ffe00000020,
	 .function = "b",
	 .module = "x.so",
	 .gem = "x-1.0",
	 .trust = RCORE_TRUST_SCANNED,
	 .is_signal = true,
	 .is_interpreter = true},
	{.pc = UINT64_MAX, .sp = UINT64_MAX},
};

static struct rcore_pack_facts sample(void)
{
	static const uint64_t fibers[] = {0x7f1000000000, 0x10};
	static struct rcore_packed_stack stacks[] = {
		{.tid = 77,
		 .frames = frames,
		 .frame_count = RCORE_COUNT(frames),
		 .problem = "cut \x1b"},
		{.fiber = 0x7f1000000000, .frames = frames, .frame_count = 2},
		{.tid = 78},
	};
	static const struct rcore_segment segments[] = {
		{.start = 0x1000, .size = 0x1000, .saved = 0x10, .readable = true},
		{.start = 0x2000, .size = 0x5000, .writable = true, .executable = true},
	};
	static const int unstopped[] = {78};
	static const struct rcore_packed_fd fds[] = {{0, "/dev/null"}, {7, "pipe:[\xff]"}};
	return (struct rcore_pack_facts){.live = {.facts = {.present = true,
							    .stopped = true,
							    .pause_ns = UINT64_C(5000000000),
							    .thread_count = 2,
							    .inner_pid = 1},
						  .overdue = true,
						  .arguments = "puma 6.4 [app]",
						  .unstopped = unstopped,
						  .unstopped_count = 1,
						  .fds = fds,
						  .fd_count = 2},
					 .segments = segments,
					 .segment_count = 2,
					 .layout = "layout x\nruby 3.3.8\n",
					 .layout_source = "exact",
					 .fibers = fibers,
					 .fiber_count = 2,
					 .activation = 0x7f0000003000,
					 .activation_source = 2,
					 .values = 5,
					 .has_heap = true,
					 .deployment = {.time = 1795424712,
							.time_source = "systemd",
							.host = "web\xff",
							.host_source = "of somebody else",
							.service = "shop",
							.release = "1.4"},
					 .redact = 1,
					 .redacted = {3, 0, 7},
					 .stacks = stacks,
					 .stack_count = 3};
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

START_TEST(note_comes_back)
{
	struct rcore_pack_facts facts = sample(), back;
	size_t size;
	char *text = rcore_pack_note_write(&facts, &size);
	ck_assert_ptr_null(rcore_pack_note_read(text, size, &arena, &back));
	ck_assert_str_eq(back.layout, facts.layout);
	ck_assert_str_eq(back.layout_source, "exact");
	ck_assert_ptr_null(back.rubyopt);
	ck_assert_uint_eq(back.activation, 0x7f0000003000);
	ck_assert_uint_eq(back.activation_source, 2);
	ck_assert_uint_eq(back.values, 5);
	ck_assert(back.has_heap);
	ck_assert_uint_eq(back.deployment.time, 1795424712);
	ck_assert_str_eq(back.deployment.time_source, "systemd");
	ck_assert_str_eq(back.deployment.host, "web\xff");
	/* rcore does not write this source. */
	ck_assert_ptr_null(back.deployment.host_source);
	ck_assert_str_eq(back.deployment.service, "shop");
	ck_assert_str_eq(back.deployment.release, "1.4");
	ck_assert_uint_eq(back.redact, 1);
	ck_assert_mem_eq(back.redacted, facts.redacted, sizeof(back.redacted));
	ck_assert_uint_eq(back.fiber_count, 2);
	ck_assert_uint_eq(back.fibers[0], 0x7f1000000000);
	ck_assert_uint_eq(back.segment_count, 2);
	ck_assert_mem_eq(back.segments, facts.segments, 2 * sizeof(*back.segments));
	ck_assert_uint_eq(back.stack_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct rcore_packed_stack *one = &back.stacks[i];
		ck_assert_int_eq(one->tid, facts.stacks[i].tid);
		ck_assert_uint_eq(one->fiber, facts.stacks[i].fiber);
		ck_assert_uint_eq(one->frame_count, facts.stacks[i].frame_count);
		ck_assert(same_text(one->problem, facts.stacks[i].problem));
		for (size_t j = 0; j < one->frame_count; j++) {
			const struct rcore_native_frame *got = &one->frames[j],
							*put = &frames[j];
			ck_assert_uint_eq(got->pc, put->pc);
			ck_assert_uint_eq(got->sp, put->sp);
			ck_assert_uint_eq(got->function_start, put->function_start);
			ck_assert_uint_eq(got->function_offset, put->function_offset);
			ck_assert(same_text(got->function, put->function));
			ck_assert(same_text(got->module, put->module));
			ck_assert_uint_eq(got->module_offset, put->module_offset);
			ck_assert(same_text(got->gem, put->gem));
			ck_assert(same_text(got->file, put->file));
			ck_assert_int_eq(got->line, put->line);
			ck_assert_int_eq(got->trust, put->trust);
			ck_assert_int_eq(got->is_signal, put->is_signal);
			ck_assert_int_eq(got->is_inlined, put->is_inlined);
			ck_assert_int_eq(got->is_interpreter, put->is_interpreter);
		}
	}
	ck_assert(back.live.facts.present && back.live.facts.stopped && back.live.overdue);
	ck_assert_uint_eq(back.live.facts.pause_ns, UINT64_C(5000000000));
	ck_assert_uint_eq(back.live.facts.thread_count, 2);
	ck_assert_int_eq(back.live.facts.inner_pid, 1);
	ck_assert_str_eq(back.live.arguments, "puma 6.4 [app]");
	ck_assert_uint_eq(back.live.unstopped_count, 1);
	ck_assert_int_eq(back.live.unstopped[0], 78);
	ck_assert_uint_eq(back.live.fd_count, 2);
	ck_assert_int_eq(back.live.fds[1].fd, 7);
	ck_assert_str_eq(back.live.fds[1].link, "pipe:[\xff]");
	free(text);
}
END_TEST

/* Of a core, nothing is known that /proc would say. */
START_TEST(note_of_a_core)
{
	struct rcore_pack_facts facts = sample(), back;
	size_t size;
	facts.live = (struct rcore_packed_live){0};
	char *text = rcore_pack_note_write(&facts, &size);
	ck_assert_ptr_null(strstr(text, "\"live\""));
	ck_assert_ptr_null(rcore_pack_note_read(text, size, &arena, &back));
	ck_assert(!back.live.facts.present && !back.live.fd_count);
	free(text);
}
END_TEST

/* What no descriptor or link is, is left out. */
START_TEST(odd_descriptors)
{
	static const char text[] =
		"{\"pack\":1,\"code\":[],\"stacks\":[],\"fibers\":[],\"segments\":[],\"live\":{"
		"\"fds\":[1,2,\"x\",\"y\",3,\"z\",4],\"unstopped\":[\"x\"],\"inner_pid\":"
		"99999999999}}";
	struct rcore_pack_facts back;
	ck_assert_ptr_null(rcore_pack_note_read(text, strlen(text), &arena, &back));
	ck_assert(back.live.facts.present && !back.live.facts.inner_pid);
	ck_assert_uint_eq(back.live.fd_count, 1);
	ck_assert_int_eq(back.live.fds[0].fd, 3);
	ck_assert_str_eq(back.live.fds[0].link, "z");
}
END_TEST

/* Whatever its bytes are, it is read or refused. */
START_TEST(damaged_note)
{
	struct rcore_pack_facts facts = sample(), back;
	size_t size;
	char *text = rcore_pack_note_write(&facts, &size);
	for (size_t cut = 0; cut < size; cut++) {
		struct rcore_error *err = rcore_pack_note_read(text, cut, &arena, &back);
		ck_assert(err && err->code == RCORE_ERROR_FORMAT);
		rcore_error_free(err);
	}
	for (size_t at = 0; at < size; at++) {
		char kept = text[at];
		for (const char *other = "\0019-]}\"x"; *other; other++) {
			text[at] = *other;
			rcore_error_free(rcore_pack_note_read(text, size, &arena, &back));
		}
		text[at] = kept;
	}
	free(text);
}
END_TEST

static const char *const wrong[] = {
	"{}",
	"[]",
	"{\"pack\":2,\"code\":[],\"stacks\":[],\"fibers\":[],\"segments\":[]}",
	"{\"pack\":1,\"code\":[],\"stacks\":[{\"frames\":[0,1,0]}],\"fibers\":[],\"segments\":["
	"]}",
	"{\"pack\":1,\"code\":[{}],\"stacks\":[{\"frames\":[0,1,9]}],\"fibers\":[],"
	"\"segments\":[]}",
	"{\"pack\":1,\"code\":[],\"stacks\":[],\"fibers\":[],\"segments\":[8,"
	"18446744073709551615,0,0]}",
	"{\"pack\":1,\"code\":[],\"stacks\":[],\"fibers\":[],\"segments\":[9,1,0,0,8,1,0,0]}",
	"{\"pack\":1,\"code\":{},\"stacks\":[],\"fibers\":[],\"segments\":[]}",
};

START_TEST(wrong_note)
{
	struct rcore_pack_facts back;
	struct rcore_error *err =
		rcore_pack_note_read(wrong[_i], strlen(wrong[_i]), &arena, &back);
	ck_assert(err && err->code == RCORE_ERROR_FORMAT);
	rcore_error_free(err);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {records_every_byte, reads_what_is_left,
				      reads_up_to_edges,  records_the_edge_of_memory,
				      knows_its_bytes,    knows_more_of_a_byte,
				      hides_notes,        note_comes_back,
				      note_of_a_core,     odd_descriptors,
				      damaged_note};
	const struct rcore_test_loop loops[] = {{wrong_note, RCORE_COUNT(wrong)}};
	const struct rcore_test_suite suite = {
		.name = "pack",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.timeout = 60,
		.begin = setup,
		.end = teardown,
	};
	return rcore_test_suite_run(&suite);
}
