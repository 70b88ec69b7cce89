/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "rcore.h"
#include "triage/blame.h"
#include "triage/crash_stack.h"
#include "triage/normalize.h"
#include "triage/origin.h"
#include "triage/signature.h"
#include "suite.h"

static struct rcore_arena arena;

static void setup(void)
{
	arena = (struct rcore_arena){0};
}

static void teardown(void)
{
	rcore_arena_deinit(&arena);
}

static const struct {
	const char *label, *strict, *bare;
} labels[] = {
	{"Foo#bar", "Foo#bar", "Foo#bar"},
	{"block in Foo#bar", "block in Foo#bar", "Foo#bar"},
	{"block (2 levels) in Foo#bar", "block in Foo#bar", "Foo#bar"},
	{"block (17 levels) in <main>", "block in <main>", "<main>"},
	{"rescue in Foo#bar", "Foo#bar", "Foo#bar"},
	{"ensure in block in Foo#bar", "block in Foo#bar", "Foo#bar"},
	{"rescue in block (3 levels) in Foo#bar", "block in Foo#bar", "Foo#bar"},
	{"block (levels) in Foo", "block (levels) in Foo", "block (levels) in Foo"},
	{"block", "block", "block"},
	{"#<Class:0x00007f8a1c0b2f58>#call", "#<Class>#call", "#<Class>#call"},
	{"#<Class:#<Object:0x00007f8a1c0b2f58>>#x", "#<Class:#<Object>>#x",
	 "#<Class:#<Object>>#x"},
	{"View#_app_views_users_show_html_erb__1046_2340",
	 "View#_app_views_users_show_html_erb", "View#_app_views_users_show_html_erb"},
	{"View#_app_views_users_show_html_erb___4611686018427387904_46520",
	 "View#_app_views_users_show_html_erb", "View#_app_views_users_show_html_erb"},
	{"Sha#sha2_256", "Sha#sha2_256", "Sha#sha2_256"},
	{"__1_2", "__1_2", "__1_2"},
	{"", "", ""},
};

START_TEST(test_label)
{
	ck_assert_str_eq(rcore_normalize_label(&arena, labels[_i].label, false),
			 labels[_i].strict);
	ck_assert_str_eq(rcore_normalize_label(&arena, labels[_i].label, true),
			 labels[_i].bare);
}
END_TEST

static const struct {
	struct rcore_native_frame frame;
	const char *text;
} functions[] = {
	{{.module = "libpq.so.5.14", .function = "PQexec"}, "libpq!PQexec"},
	{{.module = "libpq.so.5", .function = "PQexec.part.0"}, "libpq!PQexec"},
	{{.module = "pg_ext.so", .function = "run.constprop.0.cold"}, "pg_ext!run"},
	{{.module = "pg_ext.so"}, "pg_ext"},
	{{.function = "jitted"}, "(no file)!jitted"},
	{{.module = "libc.so.6", .function = "__memmove_avx512_unaligned_erms"},
	 "libc!__memcpy"},
	{{.module = "libc.so.6", .function = "__memcpy_avx_unaligned_erms"}, "libc!__memcpy"},
	{{.module = "libc.so.6", .function = "__memmove_chk_erms"}, "libc!__memcpy_chk"},
	{{.module = "libc.so.6", .function = "__memmove"}, "libc!__memcpy"},
	{{.module = "libc.so.6", .function = "__memcpy_generic"}, "libc!__memcpy"},
	{{.module = "blur.so", .function = "blur_avx2"}, "blur!blur_avx2"},
};

START_TEST(test_native)
{
	ck_assert_str_eq(rcore_normalize_native(&arena, &functions[_i].frame),
			 functions[_i].text);
}
END_TEST

static const struct {
	const char *path;
	enum rcore_origin origin;
} paths[] = {
	{"/srv/app/models/user.rb", RCORE_ORIGIN_APP},
	{"app.rb", RCORE_ORIGIN_APP},
	{"-e", RCORE_ORIGIN_APP},
	{"(eval at /srv/app.rb:12)", RCORE_ORIGIN_APP},
	{"(eval at /var/lib/gems/3.3.0/gems/erb-4.0.3/lib/erb.rb:429)", RCORE_ORIGIN_GEM},
	{"/usr/local/bundle/gems/puma-6.4.0/lib/puma/server.rb", RCORE_ORIGIN_GEM},
	{"/usr/share/rubygems-integration/all/gems/rake-13.0.6/lib/rake.rb", RCORE_ORIGIN_GEM},
	{"/usr/lib/ruby/3.1.0/json/common.rb", RCORE_ORIGIN_STDLIB},
	{"/usr/lib/ruby/vendor_ruby/rubygems.rb", RCORE_ORIGIN_STDLIB},
	{"/opt/rubies/3.4.1/lib/ruby/site_ruby/x.rb", RCORE_ORIGIN_STDLIB},
	{"/home/me/lib/ruby/app.rb", RCORE_ORIGIN_APP},
	{"<internal:kernel>", RCORE_ORIGIN_CORE},
};

START_TEST(test_origin)
{
	struct rcore_frame frame = {.kind = RCORE_FRAME_RUBY, .path = paths[_i].path};
	ck_assert_int_eq(rcore_origin_of_frame(&frame), paths[_i].origin);
}
END_TEST

START_TEST(test_origin_native)
{
	const struct {
		struct rcore_native_frame frame;
		enum rcore_origin origin;
	} cases[] = {
		{{.module = "libruby-3.1.so.3.1.2", .is_interpreter = true},
		 RCORE_ORIGIN_INTERPRETER},
		{{.module = "libpq.so.5"}, RCORE_ORIGIN_LIBRARY},
		{{.module = "libvips.so", .gem = "ruby-vips-2.2.0"}, RCORE_ORIGIN_EXTENSION},
		{{.module = "fiddle.so"}, RCORE_ORIGIN_EXTENSION},
		{{.module = ".so"}, RCORE_ORIGIN_LIBRARY},
		{{.module = NULL}, RCORE_ORIGIN_UNKNOWN},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++)
		ck_assert_int_eq(rcore_origin_of_native(&cases[i].frame), cases[i].origin);
}
END_TEST

/*
 * A main thread with one fiber. A text gives its steps: 'r' and 'n' are the
 * next frame of either kind.
 */
struct crash {
	struct rcore_snapshot snapshot;
	struct rcore_fiber fiber;
	struct rcore_thread thread;
	struct rcore_step steps[4096];
};

static void make_crash(struct crash *crash, const char *steps, struct rcore_frame *frames,
		       struct rcore_native_frame *natives)
{
	*crash = (struct crash){.thread = {.is_main = true}};
	crash->snapshot.fibers = &crash->fiber;
	crash->snapshot.fiber_count = 1;
	crash->snapshot.threads = &crash->thread;
	crash->snapshot.thread_count = 1;
	crash->snapshot.cause = (struct rcore_cause){.present = true, .signo = SIGSEGV};
	crash->fiber.frames = frames;
	crash->fiber.native = natives;
	crash->fiber.steps = crash->steps;
	for (; steps[crash->fiber.step_count]; crash->fiber.step_count++) {
		struct rcore_step *step = &crash->steps[crash->fiber.step_count];
		bool native = steps[crash->fiber.step_count] == 'n';
		size_t *count = native ? &crash->fiber.native_count : &crash->fiber.frame_count;
		*step = (struct rcore_step){native ? RCORE_STEP_NATIVE : RCORE_STEP_RUBY,
					    (int)(*count)++, NULL};
	}
}

static void triage(struct crash *crash)
{
	struct rcore_crash_stack stack;
	ck_assert_ptr_null(rcore_crash_stack_init(&crash->snapshot, &stack));
	ck_assert_ptr_null(rcore_blame_find(&stack, &crash->snapshot));
	ck_assert_ptr_null(rcore_signature_find(&stack, &crash->snapshot));
	rcore_crash_stack_deinit(&stack);
}

static struct crash crash, other;

static void free_crash(struct crash *one)
{
	rcore_arena_deinit(&one->snapshot.arena);
}

#define RUBY(l, p, n)                                                      \
	{                                                                  \
		.kind = RCORE_FRAME_RUBY, .label = l, .path = p, .line = n \
	}
#define CFUNC(l)                                      \
	{                                             \
		.kind = RCORE_FRAME_CFUNC, .label = l \
	}

START_TEST(test_fault_inside)
{
	struct rcore_native_frame natives[] = {
		{.module = "libc.so.6", .function = "abort"},
		{.module = "libruby.so.3.1", .is_interpreter = true},
		{.module = "libc.so.6", .is_signal = true},
		{.module = "probe.so", .function = "probe_crash", .gem = "probe-1.0.0"},
		{.module = "libruby.so.3.1", .is_interpreter = true},
		{.module = "libc.so.6", .function = "__libc_start_main"},
	};
	struct rcore_frame frames[] = {CFUNC("Probe.crash"), {.kind = RCORE_FRAME_DUMMY}};
	make_crash(&crash, "nnnnrrnn", frames, natives);
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.origin, RCORE_ORIGIN_EXTENSION);
	ck_assert_str_eq(crash.snapshot.blame.name, "probe_crash");
	ck_assert_str_eq(crash.snapshot.blame.gem, "probe-1.0.0");
	ck_assert_str_eq(crash.snapshot.signature.strict_text,
			 "SIGSEGV\nprobe!probe_crash\nProbe.crash\n");
	ck_assert_str_eq(crash.snapshot.signature.loose_text,
			 "SIGSEGV\nprobe!probe_crash\nProbe.crash\n");
	ck_assert_uint_eq(crash.snapshot.signature.frame_count, 4);
	free_crash(&crash);
}
END_TEST

/* The kernel may deliver a signal from outside to the timer thread. */
START_TEST(test_killed_from_outside)
{
	struct rcore_native_frame native = {.module = "libruby.so.3.3", .is_interpreter = true};
	struct rcore_other_thread timer = {.tid = 77, .native = &native, .native_count = 1};
	struct rcore_frame frames[] = {RUBY("Object#wait", "/srv/app/wait.rb", 3)};
	make_crash(&crash, "r", frames, NULL);
	crash.snapshot.others = &timer;
	crash.snapshot.other_count = 1;
	crash.snapshot.cause = (struct rcore_cause){
		.present = true, .signo = SIGABRT, .tid = 77, .thread = -1, .fiber = -1};
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.origin, RCORE_ORIGIN_INTERPRETER);
	free_crash(&crash);
	crash.snapshot.arena = (struct rcore_arena){0};
	crash.snapshot.cause.from_outside = true;
	triage(&crash);
	ck_assert(!crash.snapshot.blame.present);
	ck_assert_str_eq(crash.snapshot.signature.strict_text,
			 "SIGABRT\nObject#wait wait.rb\n");
	free_crash(&crash);
}
END_TEST

/* Scripts that only start a gem's program are not the application. */
START_TEST(test_blames_no_binstub)
{
	struct rcore_frame frames[] = {
		RUBY("<top (required)>", "/srv/gems/puma-6.0.0/bin/puma", 10),
		CFUNC("Kernel#load"), RUBY("<main>", "/srv/app/bin/puma", 25)};
	make_crash(&crash, "rrr", frames, NULL);
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.origin, RCORE_ORIGIN_GEM);
	ck_assert_str_eq(crash.snapshot.blame.gem, "puma-6.0.0");
	free_crash(&crash);
	/* They are if they fail themselves, or run code of their own. */
	frames[1].label = "Array#each";
	make_crash(&crash, "rrr", frames, NULL);
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.origin, RCORE_ORIGIN_APP);
	free_crash(&crash);
}
END_TEST

START_TEST(test_blames_app_first)
{
	struct rcore_native_frame natives[] = {{.module = "pg_ext.so", .function = "pgexec"}};
	struct rcore_frame frames[] = {
		CFUNC("PG::Connection#exec"),
		RUBY("Sequel#execute", "/srv/gems/sequel-5.0.0/lib/sequel.rb", 4),
		RUBY("User.all", "/srv/user.rb", 7), RUBY("<main>", "/srv/main.rb", 1)};
	make_crash(&crash, "nrrrr", frames, natives);
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.origin, RCORE_ORIGIN_APP);
	ck_assert_str_eq(crash.snapshot.blame.name, "User.all");
	ck_assert_int_eq(crash.snapshot.blame.line, 7);
	free_crash(&crash);
	make_crash(&crash, "rr", frames, natives);
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.origin, RCORE_ORIGIN_GEM);
	ck_assert_str_eq(crash.snapshot.blame.gem, "sequel-5.0.0");
	free_crash(&crash);
	make_crash(&crash, "r", frames, natives);
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.origin, RCORE_ORIGIN_CORE);
	free_crash(&crash);
}
END_TEST

/* C++ ends the process for an exception of an extension. */
START_TEST(test_blames_thrower)
{
	struct rcore_native_frame natives[] = {
		{.module = "libc.so.6", .function = "abort"},
		{.module = "libstdc++.so.6.0.30", .function = "std::terminate()"},
		{.module = "libstdc++.so.6.0.30", .function = "__cxa_throw"},
		{.module = "pg_ext.so", .function = "pgexec"}};
	struct rcore_frame frames[] = {CFUNC("PG::Connection#exec"),
				       RUBY("User.all", "/srv/user.rb", 7)};
	make_crash(&crash, "nnnnrr", frames, natives);
	triage(&crash);
	ck_assert_str_eq(crash.snapshot.blame.name, "User.all");
	ck_assert_str_eq(crash.snapshot.blame.native, "pg_ext.so: pgexec");
	free_crash(&crash);
}
END_TEST

/* A thread sent the signal, and which one is unknown. */
START_TEST(test_blames_no_victim)
{
	struct rcore_frame frames[] = {CFUNC("Kernel#sleep"), RUBY("wait", "/srv/a.rb", 7)};
	make_crash(&crash, "rr", frames, NULL);
	crash.snapshot.cause.sender_pid = 100;
	crash.snapshot.cause.tid = 101;
	triage(&crash);
	ck_assert(crash.snapshot.blame.present);
	free_crash(&crash);
	make_crash(&crash, "rr", frames, NULL);
	crash.snapshot.cause.sender_pid = 100;
	triage(&crash);
	ck_assert(!crash.snapshot.blame.present);
	free_crash(&crash);
}
END_TEST

/*
 * The same crash after lines have moved, in another folder, a block deeper, and
 * with a Ruby in which Array#each is written in Ruby.
 */
START_TEST(test_same_crash)
{
	struct rcore_frame before[] = {CFUNC("Foo.crash"),
				       RUBY("block in A#b", "/srv/x/a.rb", 3),
				       CFUNC("Array#each"), RUBY("A#b", "/srv/x/a.rb", 2)};
	struct rcore_frame after[] = {CFUNC("Foo.crash"),
				      RUBY("block (2 levels) in A#b", "/srv/yy/a.rb", 13),
				      RUBY("Array#each", "<internal:array>", 12),
				      RUBY("block in A#b", "/srv/yy/a.rb", 11),
				      RUBY("Array#each", "<internal:array>", 12),
				      RUBY("A#b", "/srv/yy/a.rb", 10)};
	make_crash(&crash, "rrrr", before, NULL);
	triage(&crash);
	make_crash(&other, "rrrrrr", after, NULL);
	triage(&other);
	ck_assert_str_eq(crash.snapshot.signature.strict, other.snapshot.signature.strict);
	ck_assert_str_eq(crash.snapshot.signature.loose, other.snapshot.signature.loose);
	free_crash(&other);
	after[5].path = "/srv/yy/renamed.rb";
	make_crash(&other, "rrrrrr", after, NULL);
	triage(&other);
	ck_assert_str_ne(crash.snapshot.signature.strict, other.snapshot.signature.strict);
	ck_assert_str_eq(crash.snapshot.signature.loose, other.snapshot.signature.loose);
	free_crash(&other);
	after[5].label = "A#c";
	make_crash(&other, "rrrrrr", after, NULL);
	triage(&other);
	ck_assert_str_ne(crash.snapshot.signature.loose, other.snapshot.signature.loose);
	free_crash(&crash);
	free_crash(&other);
}
END_TEST

/* x times (a, b), then c: every x greater than 1 has the same signature. */
START_TEST(test_recursion)
{
	static struct rcore_frame frames[2 * 1000 + 1];
	static char steps[2 * 1000 + 2];
	char *first = NULL;
	for (size_t rounds = 1; rounds <= 1000; rounds = rounds * 3 + 1) {
		for (size_t i = 0; i < rounds; i++) {
			frames[2 * i] = (struct rcore_frame)RUBY("A#a", "/srv/x/a.rb", 1);
			frames[2 * i + 1] = (struct rcore_frame)RUBY("A#b", "/srv/x/a.rb", 2);
		}
		frames[2 * rounds] = (struct rcore_frame)RUBY("A#c", "/srv/x/a.rb", 3);
		memset(steps, 'r', 2 * rounds + 1);
		steps[2 * rounds + 1] = 0;
		make_crash(&crash, steps, frames, NULL);
		triage(&crash);
		ck_assert_str_eq(crash.snapshot.signature.loose_text,
				 "SIGSEGV\nA#a\nA#b\nA#c\n");
		if (first)
			ck_assert_str_eq(crash.snapshot.signature.strict, first);
		free(first);
		first = strdup(crash.snapshot.signature.strict);
		free_crash(&crash);
	}
	free(first);
}
END_TEST

START_TEST(test_nothing)
{
	make_crash(&crash, "", NULL, NULL);
	triage(&crash);
	ck_assert(!crash.snapshot.blame.present);
	ck_assert_ptr_null(crash.snapshot.signature.strict);
	crash.snapshot.thread_count = crash.snapshot.fiber_count = 0;
	crash.snapshot.cause.fiber = crash.snapshot.cause.thread = -1;
	triage(&crash);
	ck_assert(!crash.snapshot.blame.present);
	free_crash(&crash);
}
END_TEST

/* A kernel thread that runs no Ruby died. */
START_TEST(test_other_thread)
{
	struct rcore_native_frame natives[] = {
		{.module = "libc.so.6", .function = "raise"},
		{.module = "libc.so.6", .function = "abort"},
		{.module = "librdkafka.so.1", .function = "rd_kafka_thread_main"},
	};
	struct rcore_other_thread thread = {.tid = 7, .native = natives, .native_count = 3};
	make_crash(&crash, "", NULL, NULL);
	crash.snapshot.cause = (struct rcore_cause){
		.present = true, .signo = SIGABRT, .tid = 7, .thread = -1, .fiber = -1};
	crash.snapshot.others = &thread;
	crash.snapshot.other_count = 1;
	triage(&crash);
	ck_assert_int_eq(crash.snapshot.blame.fiber, -1);
	ck_assert_str_eq(crash.snapshot.blame.name, "rd_kafka_thread_main");
	ck_assert_str_eq(crash.snapshot.signature.strict_text,
			 "SIGABRT\nlibrdkafka!rd_kafka_thread_main\n");
	free_crash(&crash);
}
END_TEST

/*
 * A function without a symbol has the same name in each run. The signature
 * omits its offset in the file, which changes with each build.
 */
START_TEST(test_nameless)
{
	struct rcore_native_frame natives[] = {
		{.module = "pg_ext.so", .pc = 0x7f0000001234, .module_offset = 0x1234}};
	struct rcore_frame frames[] = {CFUNC("PG::Connection#exec")};
	make_crash(&crash, "nr", frames, natives);
	triage(&crash);
	ck_assert_str_eq(crash.snapshot.blame.name, "pg_ext.so+0x1234");
	ck_assert_str_eq(crash.snapshot.signature.frames[0].name, "pg_ext.so+0x1234");
	ck_assert_str_eq(crash.snapshot.signature.frames[0].strict, "pg_ext");
	free_crash(&crash);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_origin_native,     test_fault_inside,   test_killed_from_outside,
		test_blames_app_first,  test_blames_thrower, test_blames_no_victim,
		test_blames_no_binstub, test_same_crash,     test_recursion,
		test_nothing,           test_other_thread,   test_nameless};
	const struct rcore_test_loop loops[] = {{test_label, RCORE_COUNT(labels)},
						{test_native, RCORE_COUNT(functions)},
						{test_origin, RCORE_COUNT(paths)}};
	const struct rcore_test_suite suite = {
		.name = "triage",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.begin = setup,
		.end = teardown,
	};
	return rcore_test_suite_run(&suite);
}
