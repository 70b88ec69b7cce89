/* SPDX-License-Identifier: MIT */
/*
 * Weaving on stacks written as words, outermost first. A word is the letter of a frame:
 * control frames  F enters the interpreter, r runs in it, a-e C function a-e, B block in C with function b, D dummy with FINISH,
 *                 T FINISH and no pc: loads an extension
 * native frames   X rb_vm_exec, i other function of the interpreter, a-e C function a-e, P part of C function a,
 *                 v calls C methods, w calls blocks in C, l inlined,
 *                 j compiled code, s searched for, L loads an extension, n anything else
 * woven           the same words, control frames with a dot before them, gaps as "?". */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "weave/learn.h"
#include "weave/weave.h"
#include "suite.h"

enum {
	ACTIVATION = 0x1000,
	INTERPRETER = 0x2000,
	CALLS_METHOD = 0x2100,
	CALLS_BLOCK = 0x2200,
	OTHER = 0x3000,
	METHODS = 0x4000,
	MAX = 256
};

struct stacks {
	struct rcore_snapshot snapshot;
	struct rcore_fiber fibers[4];
	struct rcore_frame frames[4][MAX];
	struct rcore_native_frame native[4][MAX];
	char ruby_words[4][MAX], native_words[4][MAX];
};

static struct rcore_frame control_frame(char word)
{
	switch (word) {
	case 'F':
		return (struct rcore_frame){.kind = RCORE_FRAME_RUBY, .flags = 0x20};
	case 'D':
		return (struct rcore_frame){.kind = RCORE_FRAME_DUMMY, .flags = 0x20};
	case 'T':
		return (struct rcore_frame){
			.kind = RCORE_FRAME_RUBY, .flags = 0x20, .under_construction = true};
	case 'U':
		return (struct rcore_frame){.kind = RCORE_FRAME_BROKEN,
					    .under_construction = true};
	case 'B':
		return (struct rcore_frame){.kind = RCORE_FRAME_IFUNC, .cfunc = METHODS + 'b'};
	case 'r':
		return (struct rcore_frame){.kind = RCORE_FRAME_RUBY};
	default:
		return (struct rcore_frame){.kind = RCORE_FRAME_CFUNC,
					    .cfunc = METHODS + (uint64_t)word};
	}
}

static struct rcore_native_frame native_frame(char word)
{
	switch (word) {
	case 'X':
		return (struct rcore_native_frame){
			.function_start = ACTIVATION, .module = "ruby", .is_interpreter = true};
	case 'i':
		return (struct rcore_native_frame){.function_start = INTERPRETER,
						   .module = "ruby",
						   .is_interpreter = true};
	case 'v':
		return (struct rcore_native_frame){.function_start = CALLS_METHOD,
						   .module = "ruby",
						   .is_interpreter = true};
	case 'w':
		return (struct rcore_native_frame){.function_start = CALLS_BLOCK,
						   .module = "ruby",
						   .is_interpreter = true};
	case 'l':
		return (struct rcore_native_frame){.function_start = CALLS_METHOD,
						   .module = "ruby",
						   .is_interpreter = true,
						   .is_inlined = true};
	case 'n':
		return (struct rcore_native_frame){.function_start = OTHER, .module = "a.so"};
	case 'P':
		return (struct rcore_native_frame){
			.function_start = OTHER, .module = "a.so", .part_of = METHODS + 'a'};
	case 's':
		return (struct rcore_native_frame){.function_start = OTHER,
						   .module = "a.so",
						   .trust = RCORE_TRUST_SCANNED};
	case 'L':
		return (struct rcore_native_frame){.function_start = OTHER,
						   .function = "dln_load",
						   .module = "ruby",
						   .is_interpreter = true};
	case 'j':
		return (struct rcore_native_frame){0};
	default:
		return (struct rcore_native_frame){.function_start = METHODS + (uint64_t)word,
						   .module = "ruby"};
	}
}

static void add(struct stacks *stacks, const char *ruby, const char *native)
{
	size_t place = stacks->snapshot.fiber_count++;
	struct rcore_fiber *fiber = &stacks->fibers[place];
	fiber->frame_count = strlen(ruby);
	fiber->native_count = strlen(native);
	fiber->frames = stacks->frames[place];
	fiber->native = stacks->native[place];
	strcpy(stacks->ruby_words[place], ruby);
	strcpy(stacks->native_words[place], native);
	for (size_t i = 0; i < fiber->frame_count; i++)
		fiber->frames[i] = control_frame(ruby[fiber->frame_count - 1 - i]);
	for (size_t i = 0; i < fiber->native_count; i++)
		fiber->native[i] = native_frame(native[fiber->native_count - 1 - i]);
	stacks->snapshot.fibers = stacks->fibers;
}

static void woven(const struct stacks *stacks, size_t place, char *out)
{
	const struct rcore_fiber *fiber = &stacks->fibers[place];
	for (size_t i = fiber->step_count; i-- > 0;) {
		const struct rcore_step *step = &fiber->steps[i];
		size_t index = (size_t)step->index;
		if (step->kind == RCORE_STEP_GAP) {
			*out++ = '?';
		} else if (step->kind == RCORE_STEP_RUBY) {
			*out++ = '.';
			*out++ = stacks->ruby_words[place][fiber->frame_count - 1 - index];
		} else {
			*out++ = stacks->native_words[place][fiber->native_count - 1 - index];
		}
	}
	*out = 0;
}

static const struct {
	const char *ruby, *native, *woven;
} cases[] = {
	{"F", "nX", "nX.F"},
	/* <main> calls a C method that yields to a block. */
	{"FraF", "nXiaiX", "nX.F.ri.aaiX.F"},
	{"Fra", "nXian", "nX.F.ri.aan"},
	/*
	 * The same, from a part of the method that has no name. A part of no
	 * known method says nothing.
	 */
	{"FraF", "nXiPiX", "nX.F.ri.aPiX.F"},
	{"FrbF", "nXiPbiX", "nX.F.riP.bbiX.F"},
	/*
	 * Two activations without a C method between them: an instruction calls
	 * a #hash.
	 */
	{"FrFrb", "nXiiXibn", "nX.F.riiX.F.ri.bbn"},
	/* A C method whose native frame is gone (tail call) needs no gap. */
	{"FabF", "nXbiX", "nX.F.a.bbiX.F"},
	/* A signal handler, or the GC, over Ruby code. */
	{"Fr", "nXnnn", "nX.F.rnnn"},
	/*
	 * An activation that is not on the native stack: only that part is
	 * marked.
	 */
	{"FaFbF", "nXasbiX", "nX.F.aa?.Fs.bbiX.F"},
	/* Pushed, not entered yet. */
	{"FaF", "nXai", "nX.F.aai.F"},
	/* A dummy has FINISH and enters nothing; the C method pushed it. */
	{"FaDF", "nXaiX", "nX.F.aa.DiX.F"},
	/* A C method calls another function, and that a block in C. */
	{"FaBF", "nXanibiX", "nX.F.aani.BbiX.F"},
	/* An extension is being loaded, and its Init calls Ruby. */
	{"FaTF", "nXainiX", "nX.F.aa.TiniX.F"},
	{"FaTF", "nXaiLniX", "nX.F.aai.TLniX.F"},
	{"FaT", "nXaiLnn", "nX.F.aai.TLnn"},
	{"FaT", "nXain", "nX.F.aain.T"},
	/* One that Ruby loads while it starts: an encoding. */
	{"DT", "nniLn", ".Dnni.TLn"},
	{"DTF", "nniLniX", ".Dnni.TLniX.F"},
	{"DT", "nni", ".Dnni.T"},
	/* The same file's function, called by an extension for no control frame. */
	{"Fa", "nXaiLn", "nX.F.aaiLn"},
	{"", "nnn", "nnn"},
	/*
	 * The frame was popped, by `leave` or by an exception that is not
	 * handled here, but its activation has not returned yet.
	 */
	{"Fa", "nXaiX", "nX.F.aaiX"},
	{"Fa", "nXaiXin", "nX.F.aaiXin"},
	{"", "nX", "nX"},
	/* The C method before it has no frame (a tail call). */
	{"Fa", "nXiX", "nX.F.aiX"},
	{"FaF", "nXib", "nX.F.aib.F"},
	/* Being filled: only its place, innermost, is known. */
	{"U", "nni", "nni.U"},
	{"FaU", "nXai", "nX.F.aai.U"},
	/* Pushed by C, and not marked as entered yet. */
	{"Far", "nXai", "nX.F.aai.r"},
	/* Only the innermost one may be left like this. */
	{"Fa", "nXaiXiX", "nX.F.aa?iXiX"},
	{"Fa", "nXaiXai", "nX.F.aa?iXai"},
	/* Only the innermost one may be entered like this. */
	{"FaFr", "nXai", "nX.F.aa?.F.ri"},
	/*
	 * A jump has already left the function of a C method, whose caller is
	 * about to pop the frame.
	 */
	{"FaFrb", "nXaiXn", "nX.F.aaiX.F.r.bn"},
	/*
	 * A C method calls the function of another one, which a later activation
	 * calls as a method: Binding#eval of a text that calls eval.
	 */
	{"FaFrbF", "nXiabiXibiX", "nX.Fi.aabiX.F.ri.bbiX.F"},
	{"FaFbFrcF", "nXabXbXiciX", "nX.F.aabX.F.bbX.F.ri.cciX.F"},
	/* The same, with the innermost activation pushed or popped only. */
	{"FaFrbF", "nXiabiXibi", "nX.Fi.aabiX.F.ri.bbi.F"},
	{"FaFrb", "nXiabiXibiX", "nX.Fi.aabiX.F.ri.bbiX"},
	/* The frame of the method before it is gone (a tail call). */
	{"FaFrbF", "nXibiXibiX", "nX.F.aibiX.F.ri.bbiX.F"},
	/*
	 * No activation is outside: C calls a method that made a tail call, or
	 * has not been called yet.
	 */
	{"DaF", "nniiX", ".Dnnii.aX.F"},
	{"Da", "nnii", ".Dnnii.a"},
	{"Dab", "nnibi", ".Dnn.ai.bbi"},
};

static void reset(struct stacks *stacks, uint64_t activation)
{
	memset(stacks, 0, sizeof(*stacks));
	stacks->snapshot.activation.address = activation;
	stacks->snapshot.activation.source = activation ? RCORE_ACTIVATION_CODE : 0;
}

START_TEST(test_case)
{
	static struct stacks stacks;
	char text[3 * MAX];
	reset(&stacks, ACTIVATION);
	add(&stacks, cases[_i].ruby, cases[_i].native);
	ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
	woven(&stacks, 0, text);
	ck_assert_str_eq(text, cases[_i].woven);
	rcore_arena_deinit(&stacks.snapshot.arena);
}
END_TEST

/*
 * The functions of some C methods are not on the stack; other stacks show what
 * calls such functions.
 */
static const struct {
	const char *ruby, *native, *woven;
} called[] = {
	{"Fc", "nXivii", "nX.Fiv.cii"},
	{"FcF", "nXiviiX", "nX.Fiv.ciiX.F"},
	/* Not called yet. */
	{"Fc", "nXiv", "nX.Fiv.c"},
	/* What is inlined into the caller belongs to it. */
	{"Fc", "nXivllii", "nX.Fivll.cii"},
	/* Outside of all activations. */
	{"DcF", "nniviiX", ".Dnniv.ciiX.F"},
	/* Several, of which the caller of the last is the next pair's. */
	{"FcdF", "nXviviX", "nX.Fv.civ.diX.F"},
	{"Fca", "nXvivai", "nX.Fv.civ.aai"},
	/* A block in C has another caller. */
	{"FcBF", "nXvwiX", "nX.Fv.cw.BiX.F"},
	{"FBcF", "nXvwiX", "nX.F.B.cvwiX.F"},
	/* More methods than callers, and more callers than methods. */
	{"FcdF", "nXiviX", "nX.Fiv.c.diX.F"},
	{"FcF", "nXvivX", "nX.F.cvivX.F"},
};

START_TEST(test_called)
{
	/* The stack may come before those that teach how to weave it. */
	for (size_t place = 0; place < 3; place += 2) {
		static struct stacks stacks;
		char text[3 * MAX];
		reset(&stacks, ACTIVATION);
		if (!place)
			add(&stacks, called[_i].ruby, called[_i].native);
		add(&stacks, "FraF", "nXivaiX");
		add(&stacks, "FaB", "nXvaiwbi");
		if (place)
			add(&stacks, called[_i].ruby, called[_i].native);
		ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
		woven(&stacks, place, text);
		ck_assert_str_eq(text, called[_i].woven);
		rcore_arena_deinit(&stacks.snapshot.arena);
	}
}
END_TEST

/* What earlier snapshots have shown, as of a sampler that looks at one thread. */
START_TEST(test_called_later)
{
	static struct stacks stacks;
	static const char *const teachers[][2] = {{"FraF", "nXivaiX"}, {"FaB", "nXvaiwbi"}};
	struct rcore_callers callers = {0};
	char text[3 * MAX];
	for (size_t i = 0; i < RCORE_COUNT(teachers); i++) {
		reset(&stacks, ACTIVATION);
		add(&stacks, teachers[i][0], teachers[i][1]);
		ck_assert_ptr_null(rcore_weave(&stacks.snapshot, &callers));
		rcore_arena_deinit(&stacks.snapshot.arena);
	}
	reset(&stacks, ACTIVATION);
	add(&stacks, called[_i].ruby, called[_i].native);
	ck_assert_ptr_null(rcore_weave(&stacks.snapshot, &callers));
	woven(&stacks, 0, text);
	ck_assert_str_eq(text, called[_i].woven);
	rcore_arena_deinit(&stacks.snapshot.arena);
	rcore_callers_deinit(&callers);
}
END_TEST

START_TEST(test_every_frame_once)
{
	static const char ruby_words[] = "FrabcB", native_words[] = "Xinabcvwl";
	srand(7);
	for (int round = 0; round < 2000; round++) {
		static struct stacks stacks;
		char ruby[MAX] = "", native[MAX] = "", text[3 * MAX];
		int length = rand() % 100;
		for (int i = 0; i < length; i++)
			ruby[i] = ruby_words[rand() % 6];
		length = rand() % 100 + 1;
		for (int i = 0; i < length; i++)
			native[i] = native_words[rand() % 9];
		reset(&stacks, round % 2 ? ACTIVATION : 0);
		add(&stacks, ruby, native);
		ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
		woven(&stacks, 0, text);
		char *r = ruby, *n = native;
		for (const char *at = text; *at; at++) {
			if (*at == '?')
				continue;
			if (*at == '.')
				ck_assert_int_eq(*++at, *r++);
			else
				ck_assert_int_eq(*at, *n++);
		}
		ck_assert_int_eq(*r, 0);
		ck_assert_int_eq(*n, 0);
		rcore_arena_deinit(&stacks.snapshot.arena);
	}
}
END_TEST

static const struct {
	const char *stacks[4][2];
	uint64_t learnt;
} lessons[] = {
	{{{"FraF", "niXiaiX"}, {"Fr", "niXi"}, {"FaFbF", "niXaiXbiX"}, {"FaF", "niXai"}},
	 ACTIVATION},
	/* Any function there may be the one that was entered once. */
	{{{"F", "niX"}}, 0},
	{{{"Fa", "niXa"}, {"Fr", "niXi"}}, 0},
	/* The innermost may not be entered yet. */
	{{{"FaF", "nXai"}}, 0},
	{{{"FaF", "nXaiX"}, {"F", "niX"}}, ACTIVATION},
	/* Stacks that were never entered contain other functions. */
	{{{"F", "niX"}, {"", "ii"}, {"a", "iia"}}, 0},
	/* It must be in each stack. */
	{{{"FaF", "nXaiX"}, {"Fr", "nii"}}, 0},
	/* As often as C entered in one stack, but not in another. */
	{{{"FaFaF", "niXaiXaiX"}, {"FaFr", "nXaiX"}}, ACTIVATION},
};

START_TEST(test_learn)
{
	static struct stacks stacks;
	reset(&stacks, 0);
	for (size_t i = 0; i < 4 && lessons[_i].stacks[i][0]; i++)
		add(&stacks, lessons[_i].stacks[i][0], lessons[_i].stacks[i][1]);
	ck_assert_uint_eq(rcore_learn_activation(&stacks.snapshot), lessons[_i].learnt);
	ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
	ck_assert_uint_eq(stacks.snapshot.activation.address, lessons[_i].learnt);
	ck_assert_int_eq(stacks.snapshot.activation.source, lessons[_i].learnt
								    ? RCORE_ACTIVATION_STACKS
								    : RCORE_ACTIVATION_UNKNOWN);
	rcore_arena_deinit(&stacks.snapshot.arena);
}
END_TEST

/* If the function is not known, no order is invented, and a message says so. */
START_TEST(test_unknown)
{
	static struct stacks stacks;
	char text[3 * MAX];
	reset(&stacks, 0);
	add(&stacks, "Fra", "niXia");
	add(&stacks, "", "ni");
	ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
	woven(&stacks, 0, text);
	ck_assert_str_eq(text, ".F.r.a?niXia");
	woven(&stacks, 1, text);
	ck_assert_str_eq(text, "ni");
	rcore_arena_deinit(&stacks.snapshot.arena);
}
END_TEST

/*
 * A known function stays known even if a stack has no such frame, unless the
 * stacks show another one.
 */
START_TEST(test_known)
{
	static struct stacks stacks;
	char text[3 * MAX];
	reset(&stacks, ACTIVATION);
	add(&stacks, "Fr", "nii");
	ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
	woven(&stacks, 0, text);
	ck_assert_str_eq(text, "?.F.rnii");
	ck_assert_int_eq(stacks.snapshot.activation.source, RCORE_ACTIVATION_CODE);
	rcore_arena_deinit(&stacks.snapshot.arena);

	reset(&stacks, OTHER);
	stacks.snapshot.activation.source = RCORE_ACTIVATION_SYMBOL;
	add(&stacks, "FaF", "iiXaiX");
	ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
	woven(&stacks, 0, text);
	ck_assert_str_eq(text, "iiX.F.aaiX.F");
	ck_assert_int_eq(stacks.snapshot.activation.source, RCORE_ACTIVATION_STACKS);
	rcore_arena_deinit(&stacks.snapshot.arena);
}
END_TEST

/* Code without a file, within the last activation: ZJIT's, if that is on. */
START_TEST(test_stale)
{
	static const struct {
		const char *ruby, *native;
		bool is_stale;
	} compiled[] = {
		{"Fr", "nXij", true},      {"Fr", "nXijj", true},   {"Fr", "nXijn", true},
		{"FrF", "nXijnXi", false}, {"Fra", "nXija", false}, {"Fr", "nXi", false},
	};
	for (size_t i = 0; i < 4 * RCORE_COUNT(compiled); i++) {
		static struct stacks stacks;
		size_t of = i / 4;
		bool is_of_core = i / 2 % 2;
		reset(&stacks, ACTIVATION);
		add(&stacks, compiled[of].ruby, compiled[of].native);
		stacks.snapshot.facts.jit = i % 2 ? "YJIT" : "ZJIT";
		struct rcore_frame *frame = &stacks.frames[0][0];
		frame->line = 7;
		frame->path = "app.rb";
		/* Ruby prints a method of its core with its caller's line. */
		frame->native_path = is_of_core ? "caller.rb" : frame->path;
		frame->native_line = is_of_core ? 30 : 7;
		ck_assert_ptr_null(rcore_weave(&stacks.snapshot, NULL));
		bool is_stale = compiled[of].is_stale && i % 2 == 0;
		ck_assert_int_eq(frame->pc_stale, is_stale);
		ck_assert_int_eq(frame->line, is_stale ? 0 : 7);
		ck_assert_int_eq(frame->native_line, is_of_core ? 30 : frame->line);
		rcore_arena_deinit(&stacks.snapshot.arena);
	}
}
END_TEST

/* Ruby that starts has loaded code, and runs none yet: no order is in doubt. */
START_TEST(test_needed)
{
	static struct stacks stacks;
	reset(&stacks, 0);
	add(&stacks, "", "nn");
	add(&stacks, "D", "nan");
	add(&stacks, "FD", "");
	ck_assert(!rcore_needs_activation(&stacks.snapshot));
	add(&stacks, "F", "n");
	ck_assert(rcore_needs_activation(&stacks.snapshot));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_every_frame_once, test_unknown, test_known,
				      test_needed, test_stale};
	const struct rcore_test_loop loops[] = {{test_case, RCORE_COUNT(cases)},
						{test_called, RCORE_COUNT(called)},
						{test_called_later, RCORE_COUNT(called)},
						{test_learn, RCORE_COUNT(lessons)}};
	const struct rcore_test_suite suite = {
		.name = "weave",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
