/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "fake_target.h"
#include "image/unwind/parked.h"
#include "image/unwind/unwind_modules.h"
#include "unwind_suite.h"
#include "suite.h"

/* ASan has its own malloc(). */
#ifndef __SANITIZE_ADDRESS__
#include "fail_malloc.h"
#endif

#ifdef __aarch64__
#define VDSO_CLOCK "__kernel_clock_gettime"
#else
#define VDSO_CLOCK "__vdso_clock_gettime"
#endif

START_TEST(nested)
{
	static const char *const functions[] = {"outer", "middle", "compare", "innermost",
						NULL};
	struct taken *taken = take("target", "nest", NULL);
	const struct rcore_unwind_context *context = unwound(taken);
	is_whole(context);
	agrees(taken, functions);
	equals_eu_stack(taken);
	for (size_t i = 0; i < context->frame_count; i++) {
		const struct rcore_native_frame *frame = &context->frames[i];
		ok(i == 0 || frame->sp >= frame[-1].sp);
		ok(!strcmp(frame->module, "target")
			   ? frame->pc - frame->module_offset == load_address(taken)
			   : frame->module_offset > 0);
		ok(frame->module && !frame->gem && !frame->is_interpreter && !frame->is_signal);
		ok(frame->trust ==
		   (frame->pc == context->frames[0].pc ? RCORE_TRUST_EXACT : RCORE_TRUST_CFI));
	}
	const struct rcore_native_frame *inlined = named(context, "inlined");
	ok(inlined->is_inlined && !inlined->function_start && is_named(inlined + 1, "compare"));
	ok(inlined->pc == inlined[1].pc && inlined->sp == inlined[1].sp);
	ok(!inlined[1].is_inlined && inlined->line && inlined[1].line > inlined->line);
	ok(strstr(inlined->file, "tests/unit/image/programs/target.c") &&
	   inlined[1].file == inlined->file);
	ck_assert_str_eq(named(context, "main")->module, "target");
	/* Names are stored once. */
	ok(named(context, "main")->module == named(context, "outer")->module);
	drop(taken);
}
END_TEST

START_TEST(through_signal)
{
	static const char *const functions[] = {"fault", "innermost", NULL};
	struct taken *taken = take("target", "fault", NULL);
	const struct rcore_unwind_context *context = unwound(taken);
	is_whole(context);
	agrees(taken, functions);
	equals_eu_stack(taken);
	const struct rcore_native_frame *frame = named(context, "on_fault") + 1;
	ok(frame->is_signal && frame->trust == RCORE_TRUST_CFI);
	ok(is_named(frame + 1, "fault") && frame[1].trust == RCORE_TRUST_EXACT);
	ok(!frame[1].is_signal && is_named(frame + 2, "main"));
	drop(taken);
}
END_TEST

/*
 * A call of NULL: in a thread that died of it, and below the handler of its
 * signal.
 */
static char *const voids[] = {"uncaught", "void"};

START_TEST(into_the_void)
{
	struct taken *taken = take("target", voids[_i], NULL);
	const struct rcore_unwind_context *context = unwound(taken);
	is_whole(context);
	const struct rcore_native_frame *frame = named(context, "call") - 1;
	ok(frame >= context->frames && !frame->pc && !frame->module);
	ok(is_named(frame, NULL) && frame->trust == RCORE_TRUST_EXACT);
	ok(is_named(frame + 1, "call") && frame[1].trust == RCORE_TRUST_NO_CFI);
	ok(is_named(frame + 2, "main") && frame[2].trust == RCORE_TRUST_CFI);
	drop(taken);
}
END_TEST

/* Code without call frame information calls innermost(). */
static const struct {
	char *what;
	const char *function, *caller;
	enum rcore_trust trust;
} gaps[] = {
	{"jit", NULL, "run_jit", RCORE_TRUST_SCANNED},
	{"no_information", "no_information", "through_no_information", RCORE_TRUST_SCANNED},
	{"frame_pointer", "with_frame_pointer", "through_frame_pointer", RCORE_TRUST_NO_CFI},
};

START_TEST(without_information)
{
	static const char *const functions[] = {"call", "innermost", NULL};
	struct taken *taken = take("target", gaps[_i].what, NULL);
	const struct rcore_unwind_context *context = unwound(taken);
	is_whole(context);
	agrees(taken, functions);
	/* All code for aarch64 keeps frame pointers. */
	bool arm = taken->process->machine == EM_AARCH64;
	const struct rcore_native_frame *frame = named(context, "innermost") + 1;
	ok(frame->trust == RCORE_TRUST_CFI && is_named(frame, gaps[_i].function));
	ok(is_named(frame + 1, gaps[_i].caller));
	ok(frame[1].trust == (arm ? RCORE_TRUST_NO_CFI : gaps[_i].trust));
	ok(is_named(frame + 2, "call") && frame[2].trust == RCORE_TRUST_CFI);
	drop(taken);
}
END_TEST

static const struct {
	const char *program, *function;
} stubs[] = {
	{"target.lazy", "call_lazily"},
	{"target.lazy", "call_bound"},
#ifdef __x86_64__
	{"target.ibt", "call_lazily"},
	{"target.ibt", "call_bound"},
#endif
};

/*
 * At each instruction from the call of a stub to the function to which it
 * jumps. The stub's call frame information computes with the pc.
 */
START_TEST(through_stubs)
{
	enum { CALL = 2, STEPS = 7 };
	const char *function = stubs[_i].function;
	size_t inside = 0;
	for (int i = CALL; i < CALL + STEPS; i++) {
		struct taken *taken = take_step(stubs[_i].program, "stubs", function, i);
		const struct rcore_unwind_context *context = unwound(taken);
		is_whole(context);
		const struct rcore_native_frame *frame = named(context, function);
		ok(is_named(frame + 1, "main"));
		if (frame == context->frames + 1 &&
		    !strcmp(context->frames[0].module, stubs[_i].program))
			inside++;
		drop(taken);
	}
	ck_assert_uint_gt(inside, 0);
}
END_TEST

/*
 * The dynamic linker resolves a function at its first call. The frame that
 * calls _dl_fixup() is known by a register that _dl_fixup() saves some
 * instructions later.
 */
START_TEST(through_resolver)
{
	enum { STEPS = 6 };
	for (int i = 0; i < STEPS; i++) {
		struct taken *taken = take_step("target.lazy", "stubs", "_dl_fixup", i);
		const struct rcore_unwind_context *context = unwound(taken);
		is_whole(context);
		named(context, "main");
		for (size_t j = 0; j < context->frame_count; j++)
			ok(context->frames[j].trust <= RCORE_TRUST_CFI);
		drop(taken);
	}
}
END_TEST

/*
 * At each instruction of a function that ends with __builtin_longjmp, and at
 * the first one of the destination.
 */
START_TEST(through_jump)
{
	enum { MAX_STEPS = 40 };
	bool landed = false;
	for (int i = 1; i < MAX_STEPS && !landed; i++) {
		struct taken *taken = take_step("target", "jump", "jump", i);
		const struct rcore_unwind_context *context = unwound(taken);
		is_whole(context);
		landed = is_named(context->frames, "land");
		const struct rcore_native_frame *frame = context->frames + !landed;
		ok(landed || is_named(frame - 1, "jump"));
		ok(is_named(frame, "land") && is_named(frame + 1, "main"));
		drop(taken);
	}
	ck_assert(landed);
}
END_TEST

#ifdef __x86_64__
/* What YJIT compiles, and ZJIT last, as programs/target.c numbers it. */
enum { COMPILED_KINDS = 5, COMPILED_ZJIT = 4, ZJIT_FRAMES = 3 };

/* The code calls C, which enters the code again. */
START_TEST(through_compiled)
{
	static const char *const functions[] = {"again", "innermost", NULL};
	char number[] = {(char)('0' + _i), 0};
	struct taken *taken = take("target", "compiled", number);
	taken->context.ec = symbol_of(taken, "ec");
	const struct rcore_unwind_context *context = unwound(taken);
	is_whole(context);
	size_t entered = 0;
	for (size_t i = 0; i < context->frame_count; i++) {
		ok(context->frames[i].trust != RCORE_TRUST_SCANNED);
		entered += is_named(&context->frames[i], "enter");
	}
	ck_assert_uint_eq(entered, 2);
	const struct rcore_native_frame *frame =
		named(context, "again") + 1 + (_i == COMPILED_ZJIT ? ZJIT_FRAMES : 1);
	ok(!frame[-1].module && is_named(frame, "enter") &&
	   is_named(frame + 1, "run_compiled"));
	agrees(taken, functions);
	drop(taken);
}
END_TEST

/* At each instruction of the code, from its call to its return. */
static void check_steps(char *what, const char *from, const char *caller, size_t entered)
{
	enum { CALL = 4, MAX_STEPS = 64 };
	bool returned = false;
	size_t inside = 0;
	for (int i = CALL; i < MAX_STEPS && !returned; i++) {
		struct taken *taken = take_step("target", what, from, i);
		taken->context.ec = symbol_of(taken, "ec");
		const struct rcore_unwind_context *context = unwound(taken);
		is_whole(context);
		size_t enters = 0;
		for (size_t j = 0; j < context->frame_count; j++) {
			ok(context->frames[j].trust != RCORE_TRUST_SCANNED);
			enters += is_named(&context->frames[j], "enter");
		}
		bool begun = inside || !context->frames[0].module;
		ck_assert_uint_eq(enters, begun || enters == entered ? entered : entered - 1);
		const struct rcore_native_frame *frame = named(context, "enter");
		ok(enters < entered || is_named(frame + 1, caller));
		inside += !context->frames[0].module;
		returned = inside && frame == context->frames;
		drop(taken);
	}
	ck_assert(returned);
	ck_assert_uint_ge(inside, 12);
}

START_TEST(in_compiled)
{
	/* Without a frame pointer, with one, with one for each frame. */
	static const char kinds[] = {'0', '2', '4'};
	char kind = kinds[_i / 2];
	char leaf[] = {'l', 'e', 'a', 'f', kind, 0};
	char deep[] = {'d', 'e', 'e', 'p', kind, 0};
	if (_i % 2)
		check_steps(leaf, "enter", "run_compiled", 1);
	else
		/* Entered by C that such code has called. */
		check_steps(deep, "deeper", "deeper", 2);
}
END_TEST

/*
 * At each instruction of a switch to another stack, which has the same
 * registers in the same places.
 */
START_TEST(through_switch)
{
	enum { SUB = 1, MOVE_OUT = 8, END = 17 };
	for (int i = SUB; i < END; i++) {
		struct taken *taken = take_step("target", "parked", "transfer", i);
		uint64_t stack = symbol_of(taken, "parked_stack");
		if (i > MOVE_OUT) {
			taken->context.stack_start = stack;
			taken->context.stack_end = stack + (1 << 16);
		}
		const struct rcore_unwind_context *context = unwound(taken);
		ok(!context->problem && is_named(context->frames, "transfer"));
		ok(is_named(context->frames + 1, i > MOVE_OUT ? "entry" : "main"));
		ok(context->frames[1].trust == RCORE_TRUST_NO_CFI);
		if (i <= MOVE_OUT)
			is_whole(context);
		else
			ok(context->frame_count == 2);
		drop(taken);
	}
}
END_TEST
#endif

/* The kernel's own library has no file, and is this process's own, too. */
START_TEST(through_vdso)
{
	enum { FIRST = 1, END = 12 };
	for (int i = FIRST; i < END; i++) {
		struct taken *taken = take_step("target", "clock", VDSO_CLOCK, i);
		const struct rcore_unwind_context *context = unwound(taken);
		is_whole(context);
		ok(!strcmp(context->frames[0].module, "[vdso]"));
		named(context, "main");
		for (size_t j = 1; j < context->frame_count; j++)
			ok(context->frames[j].trust == RCORE_TRUST_CFI);
		drop(taken);
	}
}
END_TEST

START_TEST(parked_stacks)
{
	static const char *const suspended[] = {"park", "entry"};
	struct taken *taken = take("target", "parked", NULL);
	struct rcore_unwind_context contexts[3] = {taken->context};
	static const char *const names[] = {"parked", "created"};
	static const uint64_t sizes[] = {1 << 16, 1 << 12};
	for (int i = 0; i < 2; i++) {
		struct rcore_unwind_context *context = &contexts[1 + i];
		char name[32];
		snprintf(name, sizeof(name), "%s_sp", names[i]);
		uint64_t sp = word_at(taken, symbol_of(taken, name));
		ck_assert(rcore_parked_registers(taken->memory, taken->process->machine, sp,
						 RCORE_COROUTINE_LINK, context));
		ck_assert_int_eq(context->is_parked, i == 0);
		snprintf(name, sizeof(name), "%s_stack", names[i]);
		context->stack_start = symbol_of(taken, name);
		context->stack_end = context->stack_start + sizes[i];
	}
	unwind(taken, taken->memory, contexts, 3);
	is_whole(&contexts[0]);
	const struct rcore_unwind_context *context = &contexts[1];
	ok(!context->problem && context->frame_count == 2);
	for (size_t i = 0; i < 2; i++)
		ok(is_named(&context->frames[i], suspended[i]));
	uint64_t notes = symbol_of(taken, "notes");
	ok(context->frames[1].pc == word_at(taken, notes));
	ok(context->frames[1].sp == word_at(taken, notes + 8));
	ok(context->frames[0].trust == RCORE_TRUST_EXACT);
	ok(context->frames[1].trust == RCORE_TRUST_CFI);
	context = &contexts[2];
	ok(!context->problem && context->frame_count == 1);
	ok(is_named(context->frames, "entry") && !context->frames->function_offset);
	drop(taken);
}
END_TEST

START_TEST(deep)
{
	struct taken *taken = take("target", "recurse", "50000");
	const struct rcore_unwind_context *context = unwound(taken);
	size_t count = 0;
	is_whole(context);
	for (size_t i = 0; i < context->frame_count; i++)
		count += is_named(&context->frames[i], "recurse");
	ck_assert_uint_eq(count, 50000);
	drop(taken);
}
END_TEST

/* A caller may want fewer frames. */
START_TEST(limited)
{
	struct taken *taken = take("target", "recurse", "100");
	struct rcore_unwind_context *context = &taken->context;
	struct rcore_code *code;
	ck_assert_ptr_null(
		rcore_code_open(taken->modules, taken->memory, taken->process->machine, &code));
	rcore_code_limit(code, 20);
	ck_assert_ptr_null(rcore_unwind(code, &taken->arena, NULL, NULL, context, 1));
	ok(context->frame_count >= 20 && context->frame_count < 60);
	ok(context->problem && strstr(context->problem, "more than 20 native"));
	rcore_code_close(code);
	drop(taken);
}
END_TEST

START_TEST(too_deep)
{
	struct taken *taken = take("target", "recurse", "1100000");
	const struct rcore_unwind_context *context = unwound(taken);
	ok(context->frame_count >= RCORE_NATIVE_FRAME_LIMIT);
	ok(context->problem && strstr(context->problem, "more than 1048576"));
	drop(taken);
}
END_TEST

START_TEST(bounds)
{
	struct taken *taken = take("target", "nest", NULL);
	struct rcore_unwind_context cut = taken->context;
	const struct rcore_unwind_context *context = unwound(taken);
	uint64_t bottom = context->frames[0].sp;
	uint64_t top = named(context, "middle")->sp + 32;
	cut.stack_start = bottom;
	cut.stack_end = top;
	context = &cut;
	unwind(taken, taken->memory, &cut, 1);
	ok(cut.problem && strstr(cut.problem, "leaves its bounds"));
	ok(is_named(&cut.frames[cut.frame_count - 1], "middle"));
	/* A walk that starts outside the stack may enter it. */
	cut.stack_start = top;
	cut.stack_end = top + (1 << 20);
	cut.problem = NULL;
	unwind(taken, taken->memory, &cut, 1);
	is_whole(&cut);
	drop(taken);
}
END_TEST

START_TEST(no_registers)
{
	struct taken *taken = take("target", "nest", NULL);
	const struct rcore_unwind_context *context = &taken->context;
	taken->context.known = 0;
	unwound(taken);
	ok(!context->frame_count && strstr(context->problem, "registers"));
	struct rcore_code *code;
	struct rcore_error *err = rcore_code_open(taken->modules, taken->memory, EM_386, &code);
	ck_assert_ptr_nonnull(err);
	ck_assert_int_eq(err->code, RCORE_ERROR_UNSUPPORTED);
	rcore_error_free(err);
	drop(taken);
}
END_TEST

/* The program's file is gone; the frames of its callers are still found. */
START_TEST(missing_file)
{
	struct taken *taken = take("target", "nest-", NULL);
	const struct rcore_unwind_context *context = unwound(taken);
	size_t nameless = 0, guessed = 0;
	for (size_t i = 0; i < context->frame_count; i++) {
		const struct rcore_native_frame *frame = &context->frames[i];
		if (frame->module && !strcmp(frame->module, "target"))
			nameless += is_named(frame, NULL) && !frame->function_start;
		guessed += frame->trust >= RCORE_TRUST_NO_CFI;
	}
	ok(nameless > 0 && guessed > 0);
	/* The kernel reported where the program starts. */
	uint64_t entry, last = context->frames[context->frame_count - 1].pc;
	ok(rcore_process_auxv(taken->process, AT_ENTRY, &entry) && last - entry < 64);
	ok(!context->problem);
	drop(taken);
}
END_TEST

/* Memory in which one word differs. */
struct flipped {
	struct rcore_memory memory;
	struct rcore_memory *below;
	uint64_t address, value;
};

static enum rcore_fault read_flipped(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	struct flipped *flipped = (struct flipped *)memory;
	enum rcore_fault fault = rcore_read(flipped->below, address, buffer, size);
	if (!fault && flipped->address >= address && flipped->address - address < size &&
	    size - (flipped->address - address) >= 8)
		memcpy((char *)buffer + (flipped->address - address), &flipped->value, 8);
	return fault;
}

#ifndef __SANITIZE_ADDRESS__
/*
 * Two allocations fail, the second of which may be that of rcore_lacks_memory():
 * there is an error, or the vdso is found.
 */
START_TEST(no_memory_for_vdso)
{
	struct taken *taken = take_step("target", "clock", VDSO_CLOCK, 1);
	bool has_failed = true;
	size_t errors = 0;
	for (size_t first = 1; has_failed; first++) {
		struct rcore_native_modules *native = NULL;
		fail_malloc_from(first, 2);
		struct rcore_error *err = rcore_native_modules_open(
			taken->modules, taken->memory, taken->process->machine, &native);
		has_failed = fail_malloc_from(0, 0);
		ck_assert_msg(err || (native->vdso.module.path && native->vdso.frames.size),
			      "allocation %zu: there is no vdso", first);
		errors += err != NULL;
		if (!err)
			rcore_native_modules_close(native);
	}
	ck_assert_uint_gt(errors, 0);
	drop(taken);
}
END_TEST
#endif

/* The vdso of another kernel: it differs in a byte outside of its code. */
START_TEST(through_other_vdso)
{
	static const int steps[] = {0, 1, 8, 24};
	for (size_t i = 0; i < RCORE_COUNT(steps); i++) {
		struct taken *taken = take_step("target", "clock", VDSO_CLOCK, steps[i]);
		struct flipped flipped = {.memory.read = read_flipped, .below = taken->memory};
		ck_assert(
			rcore_process_auxv(taken->process, AT_SYSINFO_EHDR, &flipped.address));
		flipped.address += offsetof(Elf64_Ehdr, e_shoff);
		unwind(taken, &flipped.memory, &taken->context, 1);
		const struct rcore_unwind_context *context = &taken->context;
		is_whole(context);
		ok(!strcmp(context->frames[0].module, "[vdso]"));
		for (size_t j = 1; j < context->frame_count; j++)
			ok(context->frames[j].trust == RCORE_TRUST_CFI);
		equals_eu_stack(taken);
		drop(taken);
	}
}
END_TEST

/*
 * Each word of the stack is replaced by misleading values: the walk ends,
 * explains why or reaches the end, and never claims more than it knows.
 */
START_TEST(corrupt)
{
	enum { WORDS = 160 };
	struct taken *taken = take("target.static", "nest", NULL);
	const struct rcore_unwind_context whole = *unwound(taken);
	is_whole(&whole);
	uint64_t sp = whole.frames[0].sp, code = whole.frames[2].pc;
	struct flipped flipped = {{read_flipped}, taken->memory, 0, 0};
	size_t early = 0;
	for (size_t i = 0; i < WORDS; i++) {
		uint64_t values[] = {
			0, UINT64_C(0x4141414141414141), sp, sp + 8 * i - 16, code, UINT64_MAX};
		flipped.address = sp + 8 * i;
		for (size_t j = 0; j < RCORE_COUNT(values); j++) {
			struct rcore_unwind_context broken = taken->context;
			const struct rcore_unwind_context *context = &broken;
			flipped.value = values[j];
			broken.frames = NULL;
			broken.frame_count = 0;
			unwind(taken, &flipped.memory, &broken, 1);
			ok(broken.frame_count > 0 && broken.frame_count < 1000);
			ok(broken.frames[0].pc == whole.frames[0].pc);
			early += broken.problem != NULL;
			if (broken.problem)
				ok(!strchr(broken.problem, '\n'));
		}
	}
	ck_assert_uint_gt(early, 0);
	drop(taken);
}
END_TEST

/* If a stack ends before its outermost function, the problem says why. */
START_TEST(no_return_address)
{
	struct taken *taken = take("target.static", "nest", NULL);
	const struct rcore_unwind_context whole = *unwound(taken);
	is_whole(&whole);
	for (size_t i = 1; i < whole.frame_count; i++) {
		const struct rcore_native_frame *frame = &whole.frames[i];
		struct flipped flipped = {{read_flipped}, taken->memory, frame->sp - 8, 0};
		struct rcore_unwind_context broken = taken->context;
		const struct rcore_unwind_context *context = &broken;
		if (frame->is_inlined || frame[-1].is_inlined)
			continue;
		unwind(taken, &flipped.memory, &broken, 1);
		ok(broken.problem != NULL);
		/* At the top of a coroutine's stack, there need not be one. */
		broken = taken->context;
		broken.stack_start = whole.frames[0].sp;
		broken.stack_end = frame->sp + 8;
		unwind(taken, &flipped.memory, &broken, 1);
		ok(!broken.problem && broken.frame_count == i);
		/* Nor for a thread that is ending, wherever it began. */
		broken = taken->context;
		broken.is_ending = true;
		unwind(taken, &flipped.memory, &broken, 1);
		ok(!broken.problem && broken.frame_count == i);
	}
	drop(taken);
}
END_TEST

/* Two return addresses that point to each other's frames. */
START_TEST(cycle)
{
	struct taken *taken = take("target.static", "nest", NULL);
	const struct rcore_unwind_context whole = *unwound(taken), *context = &whole;
	is_whole(&whole);
	/* A frame pointer that points back: middle() keeps one. */
	uint64_t pc = named(context, "middle")->pc;
	struct rcore_unwind_context back = taken->context;
	struct flipped flipped = {{read_flipped}, taken->memory, 0, 0};
	bool found = false;
	for (uint64_t at = whole.frames[0].sp; at < named(context, "main")->sp; at += 8) {
		if (word_at(taken, at) != pc)
			continue;
		flipped.address = at;
		flipped.value = named(context, "innermost")->pc;
		unwind(taken, &flipped.memory, &back, 1);
		ck_assert_uint_lt(back.frame_count, 1000);
		found = true;
	}
	ck_assert(found);
	drop(taken);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {nested,
				      through_signal,
				      through_resolver,
				      through_jump,
#ifdef __x86_64__
				      through_switch,
#endif
				      through_vdso,
				      through_other_vdso,
#ifndef __SANITIZE_ADDRESS__
				      no_memory_for_vdso,
#endif
				      parked_stacks,
				      deep,
				      limited,
				      too_deep,
				      bounds,
				      no_registers,
				      missing_file,
				      corrupt,
				      no_return_address,
				      cycle};
	const struct rcore_test_loop loops[] = {{into_the_void, RCORE_COUNT(voids)},
						{without_information, RCORE_COUNT(gaps)},
#ifdef __x86_64__
						{through_compiled, COMPILED_KINDS},
						{in_compiled, 6},
#endif
						{through_stubs, RCORE_COUNT(stubs)}};
	const struct rcore_test_suite suite = {
		.name = "unwind",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.timeout = 300,
	};
	unwind_suite_set_up();
	int status = rcore_test_suite_run(&suite);
	unwind_suite_tear_down();
	return status;
}
