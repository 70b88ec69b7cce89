/* SPDX-License-Identifier: MIT */
#ifndef TEST_UNWIND_SUITE_H
#define TEST_UNWIND_SUITE_H

#include <check.h>
#include <stdint.h>

#include "image/unwind/unwind.h"
#include "target/core/core.h"

/*
 * Cores of tests/unit/image/programs/target.c, and checks of the stacks in them.
 */

/* One dead target. */
struct taken {
	char folder[64], path[96];
	struct rcore_core *core;
	const struct rcore_process *process;
	struct rcore_modules *modules;
	struct rcore_memory *memory;
	struct rcore_arena arena;
	struct rcore_unwind_context context; /* of its only thread */
};

/* Fixtures that run once: compile the program, and remove what was made. */
void unwind_suite_set_up(void);
void unwind_suite_tear_down(void);

/* A copy of the program dies in the way that `what` names. */
struct taken *take(const char *program, char *what, char *number);

/*
 * A copy of the program, stopped that many instructions after the start of a
 * function.
 */
struct taken *take_step(const char *program, char *what, const char *function, int steps);

void drop(struct taken *taken);

void unwind(struct taken *taken, struct rcore_memory *memory,
	    struct rcore_unwind_context *contexts, size_t count);

const struct rcore_unwind_context *unwound(struct taken *taken);

uint64_t symbol_of(struct taken *taken, const char *name);

uint64_t word_at(struct taken *taken, uint64_t address);

/* Of the program, which is position independent and starts at 0. */
uint64_t load_address(struct taken *taken);

const char *dump(const struct rcore_unwind_context *context);

bool is_named(const struct rcore_native_frame *frame, const char *name);

const struct rcore_native_frame *named(const struct rcore_unwind_context *context,
				       const char *name);

/* Checks that the stack is whole: it ends where programs start. */
void is_whole(const struct rcore_unwind_context *context);

/*
 * Compares the stack with what the functions recorded about their frames,
 * outermost first.
 */
void agrees(struct taken *taken, const char *const *functions);

/*
 * Compares the stack with that of eu-stack, which uses libdwfl's own callbacks.
 */
void equals_eu_stack(struct taken *taken);

#define ok(condition) ck_assert_msg(condition, "%s: %s", #condition, dump(context))

#endif
