/* SPDX-License-Identifier: MIT */
#include "unwind_suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"

/* tests/unit/image/programs/target.c, dynamic and static, and where its cores go. */
static char folder[] = "/tmp/check_unwind.XXXXXX";
static const char *const compilers[] = {
	"cc -g -O1 -w -rdynamic tests/unit/image/programs/target.c -o %s/target",
	"cc -g -O1 -w -static tests/unit/image/programs/target.c -o %s/target.static",
	/*
	 * With the compiler's default (stubs in .plt and .plt.got), and with
	 * .plt.sec.
	 */
	"cc -g -O1 -w -Wl,-z,lazy tests/unit/image/programs/target.c -o %s/target.lazy",
#ifdef __x86_64__
	"cc -g -O1 -w -Wl,-z,lazy -Wl,-z,ibtplt tests/unit/image/programs/target.c -o "
	"%s/target.ibt",
#endif
};

static void run(const char *format, const char *path)
{
	char command[512];
	snprintf(command, sizeof(command), format, path);
	if (system(command)) {
		fprintf(stderr, "check_unwind: failed: %s\n", command);
		exit(2);
	}
}

void unwind_suite_set_up(void)
{
	if (!mkdtemp(folder))
		exit(2);
	for (size_t i = 0; i < RCORE_COUNT(compilers); i++)
		run(compilers[i], folder);
}

void unwind_suite_tear_down(void)
{
	run("rm -rf %s", folder);
}

static bool kernel_writes_here(void)
{
	char pattern[256] = "";
	FILE *file = fopen("/proc/sys/kernel/core_pattern", "r");
	if (file) {
		if (!fgets(pattern, sizeof(pattern), file))
			pattern[0] = '|';
		fclose(file);
	}
	return !strchr("|/", pattern[0]) && !getenv("RCORE_NO_KERNEL_CORES");
}

/*
 * The kernel may store its cores elsewhere, so gdb writes one at the last
 * signal.
 */
static void die(const struct taken *taken, const char *program, char *what, char *number)
{
	char path[128];
	bool is_caught = !strcmp(what, "fault") || !strcmp(what, "void");
	char *handle = is_caught ? "handle SIGSEGV nostop pass" : "handle SIGSEGV stop";
	char *gdb[] = {"gdb",    "-nx", "-q",  "-batch", "-ex",
		       handle,   "-ex", "run", "-ex",    "generate-core-file core",
		       "--args", path,  what,  number,   NULL};
	char *alone[] = {path, what, number, NULL};
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	struct rlimit stack = {128 << 20, RLIM_INFINITY};
	snprintf(path, sizeof(path), "%s/%s", taken->folder, program);
	if (chdir(taken->folder) || setrlimit(RLIMIT_CORE, &limit) ||
	    setrlimit(RLIMIT_STACK, &stack) || !freopen("/dev/null", "w", stdout) ||
	    !freopen("/dev/null", "w", stderr))
		_exit(2);
	char **arguments = kernel_writes_here() ? alone : gdb;
	execvp(arguments[0], arguments);
	_exit(2);
}

static void open_taken(struct taken *taken)
{
	struct rcore_error *err = rcore_core_open(taken->path, &taken->core);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	taken->process = rcore_core_process(taken->core);
	err = rcore_modules_open(taken->process, rcore_core_memory(taken->core), NULL,
				 &taken->modules);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	taken->memory = rcore_modules_overlay(taken->modules, rcore_core_memory(taken->core));
	ck_assert_uint_eq(taken->process->thread_count, 1);
	const struct rcore_native_thread *thread = taken->process->threads;
	memcpy(taken->context.registers, thread->registers, sizeof(thread->registers));
	taken->context.known = (UINT64_C(1) << thread->register_count) - 1;
}

/* A folder with a copy of the program. */
static struct taken *prepare(const char *program)
{
	struct taken *taken = calloc(1, sizeof(*taken));
	char command[256];
	snprintf(taken->folder, sizeof(taken->folder), "%s/XXXXXX", folder);
	ck_assert_ptr_nonnull(mkdtemp(taken->folder));
	snprintf(command, sizeof(command), "cp %s/%s %s/", folder, program, taken->folder);
	ck_assert_int_eq(system(command), 0);
	snprintf(taken->path, sizeof(taken->path), "%s/taken", taken->folder);
	return taken;
}

struct taken *take(const char *program, char *what, char *number)
{
	struct taken *taken = prepare(program);
	pid_t pid = fork();
	if (!pid)
		die(taken, program, what, number);
	waitpid(pid, NULL, 0);
	char command[256];
	snprintf(command, sizeof(command), "mv %s/core* %s", taken->folder, taken->path);
	ck_assert_msg(!system(command), "no core: see /proc/sys/kernel/core_pattern");
	open_taken(taken);
	return taken;
}

enum { STEPS_AT_ONCE = 16 };

/*
 * Writes a core at each of so many instructions, because starting gdb takes
 * longer than all of these. If somebody stops this test and continues it, gdb
 * must not take that for the breakpoint.
 */
static void step(const char *in, const char *program, const char *what, const char *function,
		 int first)
{
	char command[1024];
	snprintf(command, sizeof(command),
		 "cd %s && printf '%%s\\n' 'handle SIGSTOP nostop noprint nopass' 'break main' "
		 "run 'break *%s' continue 'stepi %d' "
		 "'set $n = %d' 'while $n < %d' 'eval \"generate-core-file core.%%d\", $n' "
		 "stepi 'set $n = $n + 1' end >steps.gdb && "
		 "gdb -nx -q -batch -x steps.gdb --args ./%s %s >gdb.log 2>&1",
		 in, function, first, first, first + STEPS_AT_ONCE, program, what);
	/* The program may end earlier. */
	ck_assert_int_ne(system(command), -1);
}

struct taken *take_step(const char *program, char *what, const char *function, int steps)
{
	static struct {
		char of[128];
		struct taken *first;
		int from;
	} run;
	char of[sizeof(run.of)], from[sizeof(run.first->path) + 32];
	snprintf(of, sizeof(of), "%s %s %s", program, what, function);
	if (strcmp(of, run.of) || steps < run.from || steps >= run.from + STEPS_AT_ONCE) {
		strcpy(run.of, of);
		free(run.first);
		run.first = prepare(program);
		run.from = steps;
		step(run.first->folder, program, what, function, steps);
	}
	struct taken *taken = calloc(1, sizeof(*taken));
	strcpy(taken->folder, run.first->folder);
	strcpy(taken->path, run.first->path);
	snprintf(from, sizeof(from), "%s/core.%d", taken->folder, steps);
	ck_assert_msg(!rename(from, taken->path), "gdb took no core %d", steps);
	open_taken(taken);
	return taken;
}

void drop(struct taken *taken)
{
	rcore_arena_deinit(&taken->arena);
	rcore_modules_close(taken->modules);
	rcore_core_close(taken->core);
	free(taken);
}

void unwind(struct taken *taken, struct rcore_memory *memory,
	    struct rcore_unwind_context *contexts, size_t count)
{
	struct rcore_code *code;
	struct rcore_error *err =
		rcore_code_open(taken->modules, memory, taken->process->machine, &code);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	err = rcore_unwind(code, &taken->arena, NULL, NULL, contexts, count);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	/* Frames outlive the cache with which they were found. */
	rcore_code_close(code);
}

const struct rcore_unwind_context *unwound(struct taken *taken)
{
	unwind(taken, taken->memory, &taken->context, 1);
	return &taken->context;
}

uint64_t symbol_of(struct taken *taken, const char *name)
{
	struct rcore_symbol symbol;
	for (size_t i = 0; i < rcore_modules_count(taken->modules); i++)
		if (rcore_module_symbol(taken->modules, rcore_modules_get(taken->modules, i),
					name, &symbol))
			return symbol.address;
	ck_abort_msg("no symbol %s", name);
	return 0;
}

uint64_t word_at(struct taken *taken, uint64_t address)
{
	uint64_t word = 0;
	ck_assert_int_eq(rcore_read_u64(taken->memory, address, &word), RCORE_FAULT_NONE);
	return word;
}

uint64_t load_address(struct taken *taken)
{
	return rcore_modules_get(taken->modules, 0)->start;
}

const char *dump(const struct rcore_unwind_context *context)
{
	static char text[1 << 14];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s\n",
				       context->problem ? context->problem : "no problem");
	for (size_t i = 0; i < context->frame_count && used < sizeof(text) - 512; i++) {
		const struct rcore_native_frame *frame = &context->frames[i];
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"#%zu %" PRIx64 " sp %" PRIx64 " %.99s+%" PRIu64
			" %.99s:%d in %.99s, trust %d%s\n",
			i, frame->pc, frame->sp, frame->function ? frame->function : "?",
			frame->function_offset, frame->file ? frame->file : "?", frame->line,
			frame->module ? frame->module : "?", (int)frame->trust,
			frame->is_inlined ? ", inlined" : "");
	}
	return text;
}

bool is_named(const struct rcore_native_frame *frame, const char *name)
{
	return name ? frame->function && !strcmp(frame->function, name) : !frame->function;
}

const struct rcore_native_frame *named(const struct rcore_unwind_context *context,
				       const char *name)
{
	for (size_t i = 0; i < context->frame_count; i++)
		if (is_named(&context->frames[i], name))
			return &context->frames[i];
	ck_abort_msg("no frame of %s: %s", name ? name : "no name", dump(context));
	return NULL;
}

void is_whole(const struct rcore_unwind_context *context)
{
	ok(!context->problem);
	ok(context->frame_count > 2);
	ok(is_named(&context->frames[context->frame_count - 1], "_start"));
	ok(context->frames[0].trust == RCORE_TRUST_EXACT);
}

void agrees(struct taken *taken, const char *const *functions)
{
	const struct rcore_unwind_context *context = &taken->context;
	uint64_t notes = symbol_of(taken, "notes"), count = 0;
	size_t last = context->frame_count;
	for (; functions[count]; count++) {
		uint64_t pc = word_at(taken, notes + 16 * count);
		uint64_t sp = word_at(taken, notes + 16 * count + 8);
		size_t i = 0;
		while (i < last && (context->frames[i].pc != pc || context->frames[i].sp != sp))
			i++;
		ck_assert_msg(i < last, "%s does not return to %" PRIx64 ", sp %" PRIx64 ": %s",
			      functions[count], pc, sp, dump(context));
		const struct rcore_native_frame *callee = &context->frames[i - 1];
		ok(i > 0 && is_named(callee, functions[count]));
		ok(callee->function_start == symbol_of(taken, functions[count]));
		ok(callee->pc == callee->function_start + callee->function_offset);
		last = i;
	}
	ck_assert_uint_eq(word_at(taken, symbol_of(taken, "note_count")), count);
}

void equals_eu_stack(struct taken *taken)
{
	const struct rcore_unwind_context *context = &taken->context;
	char command[160], line[512];
	size_t next = 0;
	snprintf(command, sizeof(command), "eu-stack -n 0 --core %s", taken->path);
	FILE *in = popen(command, "r");
	ck_assert_ptr_nonnull(in);
	while (fgets(line, sizeof(line), in)) {
		uint64_t pc;
		if (sscanf(line, "#%*d %" SCNx64, &pc) != 1)
			continue;
		while (next < context->frame_count && context->frames[next].is_inlined)
			next++;
		ck_assert_msg(next < context->frame_count, "eu-stack goes on: %s", line);
		ck_assert_msg(context->frames[next++].pc == pc, "%s%s", line, dump(context));
	}
	ck_assert_int_eq(pclose(in), 0);
	ck_assert_uint_eq(next, context->frame_count);
}
