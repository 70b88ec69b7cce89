/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "ruby/object/class_name.h"
#include "ruby/heap/heap.h"
#include "ruby/symbol/id.h"
#include "ruby/iseq/frame_flags.h"
#include "ruby/iseq/label.h"
#include "ruby_suite.h"

static struct labelled {
	uint64_t iseq, method;
	const char *label, *native_3_3, *native_3_4, *native_4_0;
} labelled[32];
static size_t labelled_count;

static void expect_label(uint64_t iseq, uint64_t method, const char *label,
			 const char *native_3_3, const char *native_3_4, const char *native_4_0)
{
	ck_assert(labelled_count < RCORE_COUNT(labelled));
	labelled[labelled_count++] =
		(struct labelled){iseq, method, label, native_3_3, native_3_4, native_4_0};
}

static void make_labels(void)
{
	make_classes();
	labelled_count = 0;
	uint64_t id = fake_id(&fake, "run");
	static const char *const path = "a.rb";
#define INSIDE(type, label, outer, local_) \
	ISEQ(type, path, label, .parent = outer, .local = local_)
	uint64_t run = ISEQ(RCORE_ISEQ_METHOD, path, "run");
	uint64_t block = INSIDE(RCORE_ISEQ_BLOCK, "block in run", run, run);
	uint64_t block2 = INSIDE(RCORE_ISEQ_BLOCK, "block (2 levels) in run", block, run);
	uint64_t rescue = INSIDE(RCORE_ISEQ_RESCUE, "rescue in block in run", block, run);
	uint64_t ensure = INSIDE(RCORE_ISEQ_ENSURE, "ensure in run", run, run);
	uint64_t in_rescue = INSIDE(RCORE_ISEQ_BLOCK, "block (2 levels) in run", rescue, run);
	uint64_t eval = INSIDE(RCORE_ISEQ_EVAL, "run", run, run);
	uint64_t plain = INSIDE(RCORE_ISEQ_PLAIN, "defined guard in run", run, run);
	uint64_t class = ISEQ(RCORE_ISEQ_CLASS, path, "<class:Bar>");
	uint64_t defined = INSIDE(RCORE_ISEQ_BLOCK, "block in <class:Bar>", class, class);
	uint64_t main = ISEQ(RCORE_ISEQ_MAIN, path, "<main>");
	uint64_t in_main = INSIDE(RCORE_ISEQ_BLOCK, "block in <main>", main, main);
	uint64_t top = ISEQ(RCORE_ISEQ_TOP, path, "<top (required)>");
	uint64_t method = fake_method(&fake, RCORE_METHOD_ISEQ, classes.foo, id, run);
	uint64_t dot = fake_method(&fake, RCORE_METHOD_ISEQ, classes.foo_singleton, id, run);
	uint64_t plainly = fake_method(&fake, RCORE_METHOD_ISEQ, classes.anonymous, id, run);
	uint64_t bmethod = fake_method(&fake, RCORE_METHOD_BMETHOD, classes.foo, id, 0);
	uint64_t cfunc = fake_method(&fake, RCORE_METHOD_CFUNC, classes.foo, '+', 0);

	expect_label(run, method, "Foo::Bar#run", "run", "Foo::Bar#run", "Foo::Bar#run");
	expect_label(run, dot, "Foo::Bar.run", "run", "Foo::Bar.run", "Foo::Bar.run");
	expect_label(run, plainly, "run", "run", "run", "run");
	expect_label(run, 0, "run", "run", "run", "run");
	expect_label(block, method, "block in Foo::Bar#run", "block in run",
		     "block in Foo::Bar#run", "block in Foo::Bar#run");
	expect_label(block2, dot, "block (2 levels) in Foo::Bar.run", "block (2 levels) in run",
		     "block (2 levels) in Foo::Bar.run", "block (2 levels) in Foo::Bar.run");
	expect_label(rescue, method, "rescue in block in Foo::Bar#run",
		     "rescue in block in run", "block in Foo::Bar#run",
		     "block in Foo::Bar#run");
	expect_label(ensure, method, "ensure in Foo::Bar#run", "ensure in run", "Foo::Bar#run",
		     "Foo::Bar#run");
	expect_label(in_rescue, method, "block (2 levels) in Foo::Bar#run",
		     "block (2 levels) in run", "block (2 levels) in Foo::Bar#run",
		     "block (2 levels) in Foo::Bar#run");
	expect_label(eval, method, "Foo::Bar#run", "run", "Foo::Bar#run", "Foo::Bar#run");
	expect_label(plain, method, "block in Foo::Bar#run", "defined guard in run",
		     "block in Foo::Bar#run", "block in Foo::Bar#run");
	expect_label(class, 0, "<class:Bar>", "<class:Bar>", "<class:Bar>", "<class:Bar>");
	expect_label(defined, bmethod, "block in <class:Bar>", "block in <class:Bar>",
		     "block in <class:Bar>", "block in <class:Bar>");
	expect_label(in_main, 0, "block in <main>", "block in <main>", "block in <main>",
		     "block in <main>");
	expect_label(top, 0, "<top (required)>", "<top (required)>", "<top (required)>",
		     "<top (required)>");
	/* In a pack of --redact all. */
	uint64_t starred = ISEQ(RCORE_ISEQ_METHOD, path, "***");
	uint64_t star_rescue = INSIDE(RCORE_ISEQ_RESCUE, "*************", starred, starred);
	uint64_t star_ensure = INSIDE(RCORE_ISEQ_ENSURE, "*************", starred, starred);
	uint64_t star_class = ISEQ(RCORE_ISEQ_CLASS, path, "***********");
	expect_label(star_rescue, 0, "rescue in ***", "*************", "***", "***");
	expect_label(star_ensure, 0, "ensure in ***", "*************", "***", "***");
	expect_label(star_class, 0, "***********", "***********", "***********", "***********");
	expect_label(0, cfunc, "Foo::Bar#+", "+", "Foo::Bar#+", "Foo::Bar#+");

	static const char *const internal_path = "<internal:kernel>";
	uint64_t internal = ISEQ(RCORE_ISEQ_METHOD, internal_path, "run");
	uint64_t within = ISEQ(RCORE_ISEQ_BLOCK, internal_path, "block in run",
			       .parent = internal, .local = internal);
	uint64_t core = fake_method(&fake, RCORE_METHOD_ISEQ, classes.foo, id, internal);
	expect_label(within, core, "Foo::Bar#run", "block in run", "block in Foo::Bar#run",
		     "Foo::Bar#run");
	uint64_t traced = ISEQ(RCORE_ISEQ_METHOD, internal_path, "run", .is_c_trace = true);
	within = ISEQ(RCORE_ISEQ_BLOCK, internal_path, "block in run", .parent = traced,
		      .local = traced, .is_c_trace = true);
	core = fake_method(&fake, RCORE_METHOD_ISEQ, classes.foo, id, traced);
	expect_label(within, core, "Foo::Bar#run", "block in run", "Foo::Bar#run",
		     "Foo::Bar#run");
}

static struct rcore_error *read_label(const struct labelled *of, const char **label,
				      const char **native, const char **problem)
{
	const struct rcore_iseq_info *iseq = NULL;
	const struct rcore_method_entry *method = NULL;
	struct rcore_error *err = of->iseq ? rcore_iseq(&ruby, of->iseq, &iseq) : NULL;
	if (!err && of->method)
		err = rcore_method_entry(&ruby, of->method, &method);
	if (!err && iseq && iseq->problem)
		*problem = iseq->problem;
	if (!err && method && method->problem)
		*problem = method->problem;
	if (!err)
		err = rcore_label(&ruby, iseq, method, label, problem);
	if (!err)
		rcore_error_free(rcore_native_label(&ruby, iseq, method, native));
	return err;
}

static const char *expected_native(const struct labelled *of)
{
	switch (fake.layout.traits.label_style) {
	case RCORE_LABEL_PLAIN:
		return of->native_3_3;
	case RCORE_LABEL_QUALIFIED:
		return of->native_3_4;
	default:
		return of->native_4_0;
	}
}

START_TEST(test_label)
{
	begin(_i);
	make_labels();
	for (size_t i = 0; i < labelled_count; i++) {
		const char *label = NULL, *native = NULL, *problem = NULL;
		OK(read_label(&labelled[i], &label, &native, &problem));
		ck_assert_str_eq(label, labelled[i].label);
		ck_assert_str_eq(native, expected_native(&labelled[i]));
		ck_assert_ptr_null(problem);
	}
}
END_TEST

START_TEST(test_broken_label)
{
	begin(_i);
	make_classes();
	const char *label = NULL, *native = NULL, *problem = NULL;
	static const char *const path = "a.rb";
	uint64_t run = ISEQ(RCORE_ISEQ_METHOD, "a.rb", "run");
	uint64_t ring = ISEQ(RCORE_ISEQ_BLOCK, "a.rb", "block in ring", .local = run);
	uint64_t body = 0;
	rcore_read_field(ruby.memory, ring, &fake.layout.iseq.body, &body);
	fake_put_field(&fake.target, body, &fake.layout.iseq_body.parent_iseq, ring);
	uint64_t alone = ISEQ(RCORE_ISEQ_BLOCK, "a.rb", "block in nothing");
	uint64_t lost = ISEQ(RCORE_ISEQ_RESCUE, "a.rb", "rescue in x", .parent = 0x10000);
	uint64_t to_block =
		ISEQ(RCORE_ISEQ_BLOCK, "a.rb", "block in x", .parent = alone, .local = alone);
	uint64_t mistyped = ISEQ(RCORE_ISEQ_METHOD, "a.rb", "<class:Bar>");
	uint64_t within = ISEQ(RCORE_ISEQ_BLOCK, "a.rb", "block in <class:Bar>",
			       .parent = mistyped, .local = mistyped);
	uint64_t no_class = ISEQ(RCORE_ISEQ_CLASS, "a.rb", "run");
	uint64_t no_rescue = INSIDE(RCORE_ISEQ_RESCUE, "ensure in run", run, run);
	uint64_t no_ensure = INSIDE(RCORE_ISEQ_ENSURE, "rescue in run", run, run);
	uint64_t in_no_ensure =
		INSIDE(RCORE_ISEQ_BLOCK, "block (2 levels) in run", no_ensure, run);
	uint64_t no_block = INSIDE(RCORE_ISEQ_BLOCK, "rescue in run", run, run);
	uint64_t method = fake_method(&fake, RCORE_METHOD_ISEQ, classes.foo,
				      fake_id(&fake, "run"), mistyped);
	const struct labelled cases[] = {
		{mistyped, method, "<class:Bar>", NULL, NULL, NULL},
		{within, method, "block in <class:Bar>", NULL, NULL, NULL},
		{no_class, 0, "run", NULL, NULL, NULL},
		{no_rescue, method, "ensure in run", NULL, NULL, NULL},
		{no_ensure, method, "rescue in run", NULL, NULL, NULL},
		{in_no_ensure, method, "block (2 levels) in run", NULL, NULL, NULL},
		{no_block, method, "rescue in run", NULL, NULL, NULL},
		{ring, 0, "block in ring", NULL, NULL, NULL},
		{alone, 0, "block in nothing", NULL, NULL, NULL},
		{lost, 0, "rescue in x", NULL, NULL, NULL},
		{to_block, 0, "block in x", NULL, NULL, NULL}};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		problem = NULL;
		OK(read_label(&cases[i], &label, &native, &problem));
		ck_assert_str_eq(label, cases[i].label);
		ck_assert_ptr_nonnull(problem);
	}
	uint64_t nameless = fake_method(&fake, RCORE_METHOD_CFUNC, classes.foo, 0xffff0, 0);
	problem = NULL;
	OK(read_label(&(struct labelled){.method = nameless}, &label, &native, &problem));
	ck_assert_str_eq(label, "unknown method");
	ck_assert_ptr_nonnull(problem);
}
END_TEST

/*
 * If the labels are in a file that is missing, the type shows what is certain,
 * and "?" replaces the rest.
 */
START_TEST(test_no_label)
{
	begin(_i);
	make_classes();
	static const char *const path = "a.rb";
	uint64_t run = ISEQ(RCORE_ISEQ_METHOD, path, "run");
	uint64_t main = ISEQ(RCORE_ISEQ_MAIN, path, "<main>");
	uint64_t top = ISEQ(RCORE_ISEQ_TOP, path, "<top (required)>");
	uint64_t class = ISEQ(RCORE_ISEQ_CLASS, path, "<class:Bar>");
	uint64_t block = INSIDE(RCORE_ISEQ_BLOCK, "block in <main>", main, main);
	uint64_t rescue = INSIDE(RCORE_ISEQ_RESCUE, "rescue in <class:Bar>", class, class);
	uint64_t iseqs[] = {run, main, top, class, block, rescue};
	for (size_t i = 0; i < RCORE_COUNT(iseqs); i++) {
		uint64_t body = 0;
		rcore_read_field(ruby.memory, iseqs[i], &fake.layout.iseq.body, &body);
		fake_put_field(&fake.target, body, &fake.layout.iseq_body.label, 0x10000);
	}
	uint64_t method =
		fake_method(&fake, RCORE_METHOD_ISEQ, classes.foo, fake_id(&fake, "run"), run);
	const struct {
		struct labelled of;
		bool is_certain;
	} cases[] = {
		{{run, method, "Foo::Bar#run", NULL, NULL, NULL}, true},
		{{run, 0, "?", NULL, NULL, NULL}, false},
		{{main, 0, "<main>", NULL, NULL, NULL}, true},
		{{block, 0, "block in <main>", NULL, NULL, NULL}, true},
		{{top, 0, "<top ?>", NULL, NULL, NULL}, false},
		{{class, 0, "<class ?>", NULL, NULL, NULL}, false},
		{{rescue, 0, "rescue in <class ?>", NULL, NULL, NULL}, false},
	};
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		const char *label = NULL, *native = NULL, *problem = NULL;
		OK(read_label(&cases[i].of, &label, &native, &problem));
		ck_assert_str_eq(label, cases[i].of.label);
		ck_assert_ptr_nonnull(problem); /* of the iseq, whose String it is */
		if (native)
			ck_assert(cases[i].is_certain && !strchr(native, '?'));
	}
}
END_TEST

/*
 * Runs all decoders in turn. Each outcome is a text: the result, "error", or
 * "problem" if it is incomplete.
 */
struct outcomes {
	char text[80][80];
	size_t count;
};

static void outcome(struct outcomes *outcomes, struct rcore_error *err, const char *problem,
		    const char *text)
{
	ck_assert(outcomes->count < 80);
	snprintf(outcomes->text[outcomes->count++], 80, "%s",
		 err       ? "error"
		 : problem ? "problem"
			   : text);
	rcore_error_free(err);
}

static void decode_all(struct outcomes *outcomes, uint64_t objspace, uint64_t lines,
		       uint64_t env)
{
	const uint64_t owners[] = {classes.foo, classes.tmp_singleton,
				   classes.module_singleton};
	outcomes->count = 0;
	outcome(outcomes, NULL, NULL,
		rcore_symbols_prove(&ruby, fake.symbols) ? "proved" : "error");
	for (size_t i = 0; i < 3; i++) {
		const char *text = NULL, *problem = NULL;
		struct rcore_error *err =
			rcore_qualified_name(&ruby, owners[i], "x", &text, &problem);
		outcome(outcomes, err, problem, text);
	}
	for (size_t i = 0; i < labelled_count; i++) {
		const char *label = NULL, *native = NULL, *problem = NULL;
		struct rcore_error *err = read_label(&labelled[i], &label, &native, &problem);
		outcome(outcomes, err, problem, label);
		outcome(outcomes, NULL, native ? NULL : "unknown", native);
	}
	char number[32];
	const struct rcore_iseq_info *iseq;
	int line = 0;
	uint64_t method = 0;
	struct rcore_error *err = rcore_iseq(&ruby, lines, &iseq);
	if (!err)
		err = rcore_iseq_line(&ruby, iseq, iseq->encoded + 8 * 600, &line);
	snprintf(number, sizeof(number), "%d", line);
	outcome(outcomes, err, NULL, number);
	err = rcore_frame_method_entry(&ruby, env, &method);
	snprintf(number, sizeof(number), "%" PRIx64, method);
	outcome(outcomes, err, NULL, number);
	struct visited visited = {0};
	size_t unreadable = 0;
	err = rcore_heap_walk(&ruby, objspace, RCORE_T_DATA, visit, &visited, &unreadable);
	snprintf(number, sizeof(number), "%zu", visited.count);
	outcome(outcomes, err, unreadable ? "pages" : NULL, number);
}

static uint64_t make_lines(void)
{
	uint32_t positions[700];
	int lines[700];
	for (int i = 0; i < 700; i++) {
		positions[i] = (uint32_t)i;
		lines[i] = i + 1;
	}
	return ISEQ(RCORE_ISEQ_METHOD, "a.rb", "a", .size = 700, .positions = positions,
		    .lines = lines, .line_count = 700);
}

START_TEST(test_faults)
{
	begin(_i);
	make_labels();
	uint64_t objspace = make_heap(NULL), lines = make_lines();
	uint64_t svar = fake_imemo(&fake, fake.layout.traits.imemo_svar, 40);
	fake_put_field(&fake.target, svar, &fake.layout.svar.cref_or_me, labelled[0].method);
	uint64_t local = fake_env(&fake, svar, 0, RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL);
	uint64_t env = fake_env(&fake, 0, local | 1, 0x22220001);
	static struct outcomes clean, faulty;

	fake_target_fault(&fake.target, 0, false);
	decode_all(&clean, objspace, lines, env);
	size_t reads = fake.target.reads;
	ck_assert_uint_gt(reads, 500);
	for (size_t i = 0; i < clean.count; i++)
		ck_assert_str_ne(clean.text[i], "error");
	for (size_t at = 1; at <= reads * 2; at++) {
		read_again();
		fake_target_fault(&fake.target, (at + 1) / 2, at % 2);
		decode_all(&faulty, objspace, lines, env);
		for (size_t i = 0; i < clean.count; i++) {
			if (at > 1 && !strcmp(clean.text[i], faulty.text[i]))
				continue;
			ck_assert_msg(!strcmp(faulty.text[i], "error") ||
					      !strcmp(faulty.text[i], "problem"),
				      "read %zu: %s for %s", at, faulty.text[i], clean.text[i]);
		}
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_label, test_broken_label, test_no_label,
				      test_faults};
	return run_suite("label", tests, RCORE_COUNT(tests));
}
