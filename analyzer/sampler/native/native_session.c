/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "sampler/native/native_private.h"
#include "session/load.h"
#include "session/weave.h"

enum {
	SECOND = 1000000000,
	FAILURES_MAX = 5, /* then it tries every 32 seconds */
};

static bool is_code_of_file(const char *line, size_t length)
{
	/* "START-END r-xp OFFSET DEVICE INODE PATH" */
	const char *rights = memchr(line, ' ', length);
	return rights && (size_t)(rights - line) + 4 < length && rights[3] == 'x' &&
	       memchr(line, '/', length);
}

/* Changes if a library is loaded or unloaded, but not if a JIT compiles. */
static uint64_t mapped_code(const struct rcore_sampler *sampler)
{
	char *text = rcore_live_file(rcore_live_folder(sampler->live), "maps", NULL);
	uint64_t hash = 0;
	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n');
		if (is_code_of_file(line, (size_t)(end - line)))
			hash = XXH3_64bits_withSeed(line, (size_t)(end - line), hash);
		line = *end ? end + 1 : end;
	}
	free(text);
	return hash;
}

static struct rcore_error *find_in_code(struct rcore_native *native,
					const struct rcore_moment *moment)
{
	struct rcore_snapshot *snapshot = moment->snapshot;
	struct rcore_interpreter interpreter = {.instructions = moment->instructions.items,
						.count = moment->instructions.count,
						.activation = snapshot->activation.address};
	struct rcore_code *code;
	struct rcore_error *err = rcore_target_code(&native->session->target, &code);
	if (!err)
		err = rcore_unwind(code, &snapshot->arena, NULL, &interpreter, NULL, 0);
	native->activation = snapshot->activation;
	if (!native->activation.address && interpreter.activation)
		native->activation = (struct rcore_activation){RCORE_ACTIVATION_CODE,
							       interpreter.activation};
	native->core = interpreter.core;
	return err;
}

/*
 * Finds the function that runs the interpreter. Parts that are read of a
 * running process may not fit together; follow() tries again later.
 */
static struct rcore_error *find_activation(struct rcore_native *native)
{
	struct rcore_target *target = &native->session->target;
	struct rcore_moment moment;
	rcore_live_forget(target->live);
	struct rcore_error *err = rcore_session_read(native->session, &moment);
	if (!err) {
		struct rcore_snapshot *snapshot = moment.snapshot;
		rcore_session_known_activation(target, native->located, snapshot);
		err = find_in_code(native, &moment);
		rcore_snapshot_free(snapshot);
	}
	rcore_live_forget(target->live);
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	return NULL;
}

static struct rcore_error *open_session(struct rcore_sampler *sampler)
{
	struct rcore_native *native = sampler->native;
	struct rcore_options options = sampler->open;
	rcore_close(native->session);
	native->session = NULL;
	native->activation = (struct rcore_activation){RCORE_ACTIVATION_UNKNOWN, 0};
	native->core = 0;
	options.no_stop = options.no_native = false;
	options.redact = RCORE_REDACT_NONE;
	struct rcore_error *err =
		rcore_open_pid(rcore_sampler_pid(sampler), &options, &native->session);
	if (err)
		return err;
	struct rcore_target *target = &native->session->target;
	rcore_stack_copy_init(&native->copy, target->memory, target->live);
	target->memory = &native->copy.memory;
	rcore_live_never_wait(target->live);
	return rcore_session_find(native->session, &native->located);
}

struct rcore_error *rcore_native_follow(struct rcore_sampler *sampler, uint64_t now)
{
	struct rcore_native *native = sampler->native;
	struct rcore_error *err = NULL;
	if (native->looked && now - native->looked < (uint64_t)SECOND << native->failures)
		return NULL;
	native->looked = now;
	uint64_t mapped = mapped_code(sampler);
	if (!native->session || mapped != native->mapped)
		err = open_session(sampler);
	native->mapped = err ? 0 : mapped;
	if (!err && (!native->activation.address || !native->core))
		err = find_activation(native);
	bool failed = err || !native->activation.address || !native->core;
	if (err) {
		rcore_close(native->session);
		native->session = NULL;
	}
	/* Each try reads the whole VM. */
	native->failures = !failed                           ? 0
			   : native->failures < FAILURES_MAX ? native->failures + 1
							     : FAILURES_MAX;
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	return NULL;
}

struct rcore_error *rcore_native_new(struct rcore_sampler *sampler)
{
	sampler->native = calloc(1, sizeof(*sampler->native));
	return sampler->native ? rcore_native_follow(sampler, rcore_clock_ns())
			       : rcore_error_no_memory();
}

void rcore_native_free(struct rcore_native *native)
{
	if (!native)
		return;
	rcore_snapshot_free(native->snapshot);
	rcore_close(native->session);
	rcore_callers_deinit(&native->callers);
	free(native);
}
