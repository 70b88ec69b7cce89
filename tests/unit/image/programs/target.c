/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/*
 * check_unwind.c takes cores of this program. Functions record their frames:
 * the return address, and the stack pointer there.
 */
enum { MAX_NOTES = 64 };

struct note {
	uint64_t pc, sp;
};
struct note notes[MAX_NOTES]; /* outermost first */
uint64_t note_count;
#define NOTE()                                                                      \
	(notes[note_count++] = (struct note){(uint64_t)__builtin_return_address(0), \
					     (uint64_t)__builtin_dwarf_cfa()})

/* Prevents tail calls. */
#define KEEP()   __asm__ volatile("" ::: "memory")
#define NOINLINE __attribute__((noinline, noclone))

NOINLINE void innermost(void)
{
	NOTE();
	abort();
}

static inline __attribute__((always_inline)) void inlined(int *value)
{
	if (*value)
		innermost();
	*value = 2;
}

NOINLINE int compare(const void *left, const void *right)
{
	int value = 1;
	NOTE();
	inlined(&value);
	return value;
}

NOINLINE void middle(int size)
{
	/* A frame whose size is known only at run time. */
	volatile int *values = __builtin_alloca((size_t)size * sizeof(int));
	NOTE();
	for (int i = 0; i < size; i++)
		values[i] = i;
	qsort((void *)values, (size_t)size, sizeof(int), compare);
	KEEP();
}

NOINLINE void outer(int size)
{
	NOTE();
	middle(size);
	KEEP();
}

#pragma GCC diagnostic ignored "-Winfinite-recursion"
NOINLINE int recurse(volatile int *left)
{
	if (--*left <= 0)
		abort();
	int more = recurse(left);
	KEEP();
	return more + 1;
}

static void on_fault(int signo)
{
	innermost();
}

static void catch_faults(void)
{
	stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
	struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
}

NOINLINE void fault(volatile int *where)
{
	NOTE();
	*where = 1;
	KEEP();
}

NOINLINE void call(void (*function)(void))
{
	NOTE();
	function();
	KEEP();
}

/*
 * Saves registers like CRuby's coroutine/amd64/Context.S and
 * coroutine/arm64/Context.S.
 */
void *parked_sp, *created_sp;
char parked_stack[1 << 16] __attribute__((aligned(16)));
char created_stack[1 << 12] __attribute__((aligned(16)));
void transfer(void **from, void **to);
void no_information(void (*function)(void));
void with_frame_pointer(void (*function)(void));
extern const char jit[], jit_end[];
/*
 * Each calls a function of the C library through a stub, in .plt and in
 * .plt.got.
 */
void call_lazily(void);
void call_bound(void);

#ifdef __aarch64__
enum { SAVED = 20, START = 19 };
__asm__(".text\n"
	"transfer:\n"
	"	sub sp, sp, 0xa0\n"
	"	stp d8, d9, [sp, 0x00]\n"
	"	stp d10, d11, [sp, 0x10]\n"
	"	stp d12, d13, [sp, 0x20]\n"
	"	stp d14, d15, [sp, 0x30]\n"
	"	stp x19, x20, [sp, 0x40]\n"
	"	stp x21, x22, [sp, 0x50]\n"
	"	stp x23, x24, [sp, 0x60]\n"
	"	stp x25, x26, [sp, 0x70]\n"
	"	stp x27, x28, [sp, 0x80]\n"
	"	stp x29, x30, [sp, 0x90]\n"
	"	mov x2, sp\n"
	"	str x2, [x0]\n"
	"	ldr x3, [x1]\n"
	"	mov sp, x3\n"
	"	ldp x19, x20, [sp, 0x40]\n"
	"	ldp x29, x30, [sp, 0x90]\n"
	"	add sp, sp, 0xa0\n"
	"	ret\n"
	".macro calls name\n"
	".type \\name, %function\n"
	"\\name:\n"
	"	stp x29, x30, [sp, #-48]!\n"
	"	mov x29, sp\n"
	"	blr x0\n"
	"	ldp x29, x30, [sp], #48\n"
	"	ret\n"
	".size \\name, . - \\name\n"
	".endm\n"
	"calls no_information\n"
	"calls with_frame_pointer\n"
	"calls jit\n"
	"jit_end:\n"
	".macro calls_stub name, function\n"
	".globl \\name\n"
	".type \\name, %function\n"
	"\\name:\n"
	"	.cfi_startproc\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29, -16\n"
	"	.cfi_offset 30, -8\n"
	"	bl \\function\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_def_cfa_offset 0\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size \\name, . - \\name\n"
	".endm\n"
	"calls_stub call_lazily, labs\n"
	"calls_stub call_bound, abs\n");
#else
enum { SAVED = 8, START = 6 };
__asm__(".text\n"
	"transfer:\n"
	"	sub $48, %rsp\n"
	"	mov %rbp, 40(%rsp)\n"
	"	mov %rbx, 32(%rsp)\n"
	"	mov %r12, 24(%rsp)\n"
	"	mov %r13, 16(%rsp)\n"
	"	mov %r14, 8(%rsp)\n"
	"	mov %r15, (%rsp)\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	mov 40(%rsp), %rbp\n"
	"	mov 32(%rsp), %rbx\n"
	"	mov 24(%rsp), %r12\n"
	"	mov 16(%rsp), %r13\n"
	"	mov 8(%rsp), %r14\n"
	"	mov (%rsp), %r15\n"
	"	add $48, %rsp\n"
	"	ret\n"
	".type no_information, @function\n"
	"no_information:\n"
	"	sub $40, %rsp\n"
	"	call *%rdi\n"
	"	add $40, %rsp\n"
	"	ret\n"
	".size no_information, . - no_information\n"
	".type with_frame_pointer, @function\n"
	"with_frame_pointer:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $1024, %rsp\n"
	"	call *%rdi\n"
	"	leave\n"
	"	ret\n"
	".size with_frame_pointer, . - with_frame_pointer\n"
	"jit:\n"
	"	push %rbx\n"
	"	sub $32, %rsp\n"
	"	call *%rdi\n"
	"	add $32, %rsp\n"
	"	pop %rbx\n"
	"	ret\n"
	"jit_end:\n"
	/*
	 * Like YJIT's gen_entry_prologue(), with and without frame_setup(), and
	 * with that many words kept during the call.
	 */
	".macro compiled name, pointer, words\n"
	"\\name:\n"
	".if \\pointer\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %rbp\n"
	".endif\n"
	"	push %r13\n"
	"	push %r12\n"
	"	push %rbx\n"
	"	mov %rdi, %r12\n"
	"	mov %rsi, %r13\n"
	"	xor %ebx, %ebx\n"
	".rept \\words\n"
	"	push %rsi\n"
	".endr\n"
	"	call *%rdx\n"
	".rept \\words\n"
	"	pop %rsi\n"
	".endr\n"
	"	pop %rbx\n"
	"	pop %r12\n"
	"	pop %r13\n"
	".if \\pointer\n"
	"	pop %rbp\n"
	"	pop %rbp\n"
	".endif\n"
	"	mov $36, %eax\n"
	"	ret\n"
	".endm\n"
	"compiled compiled_plain, 0, 0\n"
	"compiled compiled_pair, 0, 2\n"
	"compiled compiled_pointer, 1, 0\n"
	"compiled compiled_most, 1, 10\n"
	/* As ZJIT has it: gen_entry_trampoline(), and methods that call each other, the first
	 * time through gen_function_stub(). Words that nobody uses hold older return
	 * addresses. */
	"compiled_records:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	push %r13\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	pushq 8(%rbp)\n"
	"	mov %rdi, %r12\n"
	"	mov %rdx, %r13\n"
	"	xor %ebx, %ebx\n"
	"	lea records_outer(%rip), %rdx\n"
	"	call *%rdx\n"
	"	mov -8(%rbp), %r13\n"
	"	mov -16(%rbp), %rbx\n"
	"	mov -24(%rbp), %r12\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"records_outer:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov (%rbp), %rax\n"
	"	pushq 8(%rax)\n"
	"	pushq 8(%rbp)\n"
	"	call records_stub\n"
	"	cmp $36, %rax\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	"records_stub:\n"
	"	movabs $1, %r11\n"
	"	.byte 0xe9\n" /* jmp, never short */
	"	.long records_compile - . - 4\n"
	"records_compile:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	lea records_inner(%rip), %r11\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	jmp *%r11\n"
	"records_inner:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	sub $32, %rsp\n"
	"	call *%r13\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	mov $36, %eax\n"
	"	ret\n"
	"compiled_end:\n"
	/* Its frame is known by a register that the code above saves. */
	".globl enter\n"
	".type enter, @function\n"
	"enter:\n"
	"	.cfi_startproc\n"
	"	push %rbx\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset rbx, -16\n"
	"	mov %rsp, %rbx\n"
	"	.cfi_def_cfa_register rbx\n"
	"	sub $40, %rsp\n"
	"	and $-16, %rsp\n"
	"	call *%rsi\n"
	"	mov %rbx, %rsp\n"
	"	.cfi_def_cfa_register rsp\n"
	"	pop %rbx\n"
	"	.cfi_def_cfa_offset 8\n"
	"	.cfi_restore rbx\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size enter, . - enter\n"
	".macro calls_stub name, function\n"
	".globl \\name\n"
	".type \\name, @function\n"
	"\\name:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	call \\function@PLT\n"
	"	add $8, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size \\name, . - \\name\n"
	".endm\n"
	"calls_stub call_lazily, labs\n"
	"calls_stub call_bound, abs\n");
#endif

int (*volatile bound)(int);

static void *main_sp;

/*
 * Like CRuby's fiber_switch(), it has something in a register during the call.
 */
NOINLINE void park(void)
{
	uint64_t kept = 1;
	NOTE();
	__asm__ volatile("" : "+r"(kept));
	transfer(&parked_sp, &main_sp);
	__asm__ volatile("" : "+r"(kept));
}

NOINLINE void entry(void)
{
	park();
	abort();
}

/*
 * Like CRuby's raise: __builtin_longjmp leaves the frame before it continues.
 */
static void *landing[5];

NOINLINE void jump(void)
{
	NOTE();
	__builtin_longjmp(landing, 1);
}

NOINLINE void land(void)
{
	if (!__builtin_setjmp(landing))
		jump();
	KEEP();
}

static void *prepare(char *stack, size_t size)
{
	void **top = (void **)(stack + size) - SAVED;
	top[START] = (void *)entry;
	return top;
}

static void run_jit(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(code, jit, (size_t)(jit_end - jit));
	__builtin___clear_cache(code, (char *)code + 4096);
	((void (*)(void (*)(void)))code)(innermost);
	KEEP();
}

#ifdef __x86_64__
extern const char compiled_end[];
extern const char compiled_plain[], compiled_pair[], compiled_pointer[], compiled_most[];
extern const char compiled_records[];
void enter(void *ec, void *code, void (*function)(void));

uint64_t ec[1];
static char *compiled;

NOINLINE void leaf(void)
{
	KEEP();
}

NOINLINE void again(void)
{
	NOTE();
	enter(ec, compiled, innermost);
	KEEP();
}

/* Does not touch the frame pointer, which is the compiled caller's. */
NOINLINE void deeper(void)
{
	enter(ec, compiled, leaf);
	KEEP();
}

/* Compiled code calls C, which enters such code again, or returns. */
static void run_compiled(int number, void (*function)(void))
{
	const char *const codes[] = {compiled_plain, compiled_pair, compiled_pointer,
				     compiled_most, compiled_records};
	enum { PAGE = 4096 };
	/* Code may begin and end where nothing else is mapped. */
	char *copy = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(copy, PAGE);
	munmap(copy + 2 * PAGE, PAGE);
	compiled = copy + PAGE;
	memcpy(compiled, codes[number], (size_t)(compiled_end - codes[number]));
	enter(ec, compiled, function);
	KEEP();
}
#endif

static void through_no_information(void)
{
	no_information(innermost);
	KEEP();
}

static void through_frame_pointer(void)
{
	with_frame_pointer(innermost);
	KEEP();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int number = argc > 2 ? atoi(argv[2]) : 0;
	if (strchr(what, '-'))
		unlink(argv[0]);
	if (!strncmp(what, "nest", 4))
		outer(16);
	if (!strcmp(what, "recurse"))
		return recurse(&number);
	if (!strcmp(what, "fault")) {
		catch_faults();
		fault(NULL);
	}
	if (!strcmp(what, "void")) {
		catch_faults();
		call(NULL);
	}
	if (!strcmp(what, "uncaught"))
		call(NULL);
	if (!strcmp(what, "jit"))
		call(run_jit);
#ifdef __x86_64__
	if (!strcmp(what, "compiled"))
		run_compiled(number, again);
	if (!strncmp(what, "leaf", 4))
		run_compiled(what[4] - '0', leaf);
	if (!strncmp(what, "deep", 4))
		run_compiled(what[4] - '0', deeper);
#endif
	if (!strcmp(what, "no_information"))
		call(through_no_information);
	if (!strcmp(what, "frame_pointer"))
		call(through_frame_pointer);
	if (!strcmp(what, "stubs")) {
		/* Using its address moves a stub to .plt.got. */
		bound = abs;
		call_lazily();
		call_bound();
	}
	if (!strcmp(what, "clock")) {
		struct timespec time;
		return clock_gettime(CLOCK_MONOTONIC, &time);
	}
	if (!strcmp(what, "jump"))
		land();
	if (!strcmp(what, "parked")) {
		created_sp = prepare(created_stack, sizeof(created_stack));
		parked_sp = prepare(parked_stack, sizeof(parked_stack));
		transfer(&main_sp, &parked_sp);
		abort();
	}
	return 64;
}
