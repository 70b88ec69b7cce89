/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/arena.h"
#include "image/elf/modules.h"
#include "image/unwind/unwind.h"
#include "sampler/stack/stack_copy.h"
#include "target.h"
#include "target/process.h"

/*
 * The input is a machine stack that the BPF program has copied from a hostile
 * process: its registers, where its parts are and how large, and its words. It
 * is unwound with the code of a process that sleeps, as `rcore record --native`
 * does.
 */

enum { FRAMES_MAX = 1024, TEXTS_MAX = 16 };

static const uint64_t stack = 0x10000000000;
static struct rcore_live *live;
static struct rcore_modules *modules;
static struct rcore_stack_copy copy;
static struct rcore_code *code;
static struct {
	uint64_t start, size;
} texts[TEXTS_MAX];
static size_t text_count;

static void must(struct rcore_error *err)
{
	if (err)
		abort();
}

static void find_texts(const struct rcore_process *process)
{
	struct rcore_segment segment;
	for (size_t i = 0; rcore_live_segment(live, i, &segment) && text_count < TEXTS_MAX;
	     i++) {
		if (!segment.executable || !rcore_process_mapping(process, segment.start))
			continue;
		texts[text_count].start = segment.start;
		texts[text_count++].size = segment.size;
	}
}

static void begin(void)
{
	int child = fork();
	if (child < 0)
		abort();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("sleep", "sleep", "1000000", NULL);
		_exit(127);
	}
	/* By then, the child runs sleep and has loaded libc. */
	usleep(300000);
	must(rcore_live_open(child, &live));
	const struct rcore_process *process = rcore_live_process(live);
	struct rcore_memory *memory = rcore_live_memory(live);
	must(rcore_modules_open(process, memory, NULL, &modules));
	rcore_stack_copy_init(&copy, rcore_modules_overlay(modules, memory), live);
	must(rcore_code_open(modules, &copy.memory, process->machine, &code));
	rcore_code_limit(code, FRAMES_MAX);
	find_texts(process);
	if (!text_count)
		abort();
}

/*
 * Turns half of the words into addresses of code or of the stack itself, as a
 * real stack has them: random words hardly ever are.
 */
static uint64_t translate(uint64_t word, size_t size)
{
	uint64_t value = word >> 16;
	size_t text = (size_t)(word >> 4) % text_count;
	switch (word & 3) {
	case 0:
		return texts[text].start + value % texts[text].size;
	case 1:
		return stack + value % (size + 64);
	default:
		return word;
	}
}

static void unwind(const struct rcore_bpf_record *record, size_t size)
{
	const struct rcore_bpf_machine *machine = rcore_bpf_machine(record);
	struct rcore_unwind_context context = {
		.known = UINT64_MAX,
		.stack_start = stack,
		.stack_end = stack + size,
	};
	struct rcore_arena arena = {0};
	memcpy(context.registers, machine->registers, sizeof(context.registers));
	rcore_stack_copy_set(&copy, record);
	rcore_error_free(rcore_unwind(code, &arena, NULL, NULL, &context, 1));
	if (context.frame_count > FRAMES_MAX)
		abort();
	rcore_stack_copy_set(&copy, NULL);
	rcore_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const size_t head = offsetof(struct rcore_bpf_record, slots);
	size_t words = size / sizeof(uint64_t), registers = RCORE_BPF_REGISTERS;
	if (words <= registers + 1)
		return 0;
	if (!live)
		begin();
	size_t stack_size = (words - registers - 1) * sizeof(uint64_t);
	size_t total = head + sizeof(struct rcore_bpf_machine) + stack_size;
	/* The block ends where the stack does: ASan finds a read beyond it. */
	struct rcore_bpf_record *record = calloc(1, total);
	if (!record)
		abort();
	record->machine_bytes = sizeof(struct rcore_bpf_machine);
	struct rcore_bpf_machine *machine = (void *)((uint8_t *)record + head);
	uint64_t *copied = (void *)(machine + 1), first = 0;
	for (size_t i = 0; i < words; i++) {
		uint64_t word;
		memcpy(&word, bytes + i * sizeof(word), sizeof(word));
		word = i ? translate(word, stack_size) : word;
		if (!i)
			first = word;
		else if (i <= registers)
			machine->registers[i - 1] = word;
		else
			copied[i - registers - 1] = word;
	}
	/* The first word divides the stack into its two parts. */
	uint64_t inner = first % (stack_size + 1) & ~7ull;
	machine->parts[RCORE_BPF_INNER].start = stack;
	machine->parts[RCORE_BPF_INNER].bytes = inner;
	machine->parts[RCORE_BPF_OUTER].start =
		stack + inner + (first >> 32) % 4096 * sizeof(uint64_t);
	machine->parts[RCORE_BPF_OUTER].bytes = stack_size - inner;
	int sp = rcore_register_sp(rcore_live_process(live)->machine);
	machine->registers[sp] = stack + machine->registers[sp] % (stack_size + 1);
	unwind(record, stack_size);
	free(record);
	return 0;
}
