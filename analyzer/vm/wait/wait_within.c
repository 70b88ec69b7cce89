/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "ruby/object/value.h"
#include "vm/stack/frame_values.h"
#include "vm/wait/wait_private.h"

/*
 * Timeout.timeout(sec, klass = nil, message = nil) of lib/timeout.rb ends every
 * wait of its block: another thread raises an exception in the thread that
 * called it, or the fiber scheduler does. All releases (gem timeout 0.1 to 0.6)
 * have these parameters, and set no limit if `sec` is nil or 0. A program that
 * includes the module calls Timeout#timeout. RubyGems and Bundler have a copy.
 * The first parameter of the gem async's with_timeout is the time, too. If
 * rcore reports that time as the timeout of the wait itself, wait_async.c reads
 * it.
 */
static const struct {
	const char *label, *method;
	bool is_async;
} blocks[] = {
	{"Timeout.timeout", "Timeout.timeout", false},
	{"Timeout#timeout", "Timeout.timeout", false},
	{"Gem::Timeout.timeout", "Gem::Timeout.timeout", false},
	{"Async::Scheduler#with_timeout", "Async::Task#with_timeout", true},
	{"Async::Reactor#with_timeout", "Async::Task#with_timeout", true},
};

/* How many fibers to follow, each of which resumed the one before. */
enum { RESUMED_LIMIT = 64 };

/*
 * Reads a number as Ruby inspects it: "5", "0.5" or "(1/2)". Returns false if
 * it is not a number. It must begin with a digit, because strtod() also reads
 * names of classes that begin like NaN or Infinity.
 */
static bool is_number(const char *text, double *ret)
{
	char *end;
	bool is_rational = *text == '(';
	text += is_rational;
	if (text[strspn(text, "-")] < '0' || text[strspn(text, "-")] > '9')
		return false;
	*ret = strtod(text, &end);
	if (is_rational && *end == '/')
		*ret /= strtod(end + 1, &end);
	return !strcmp(end, is_rational ? ")" : "");
}

/*
 * Whether the frame has variables with these names, so that it is the method of
 * timeout.rb and not one of the program. If they cannot be read, returns true.
 */
static bool has_its_parameters(struct rcore_waits *waits, const struct rcore_frame *frame)
{
	static const char *const names[] = {"sec", "klass", "message"};
	for (size_t i = 0; i < RCORE_COUNT(names); i++) {
		uint64_t address = 0;
		struct rcore_error *err = rcore_frame_local_address(waits->loader->ruby, frame,
								    names[i], &address);
		bool is_missing = !err && !address;
		rcore_error_free(err);
		if (is_missing)
			return false;
	}
	return true;
}

static bool may_be(struct rcore_waits *waits, const struct rcore_wait *wait,
		   const struct rcore_frame *frame, bool is_async)
{
	return is_async ? !rcore_wait_takes_block_time(wait) : has_its_parameters(waits, frame);
}

/* Of several blocks around a wait, keeps the one with the fewest seconds. */
static struct rcore_error *add(struct rcore_waits *waits, struct rcore_wait *wait,
			       const struct rcore_frame *frame, const char *method)
{
	const char *seconds = NULL;
	uint64_t value;
	double number = 0, known;
	if (rcore_wait_parameter(waits, frame, 0, &value)) {
		if (rcore_is_nil(waits->loader->ruby, value))
			return NULL;
		struct rcore_error *err = rcore_wait_seconds(waits, value, &seconds);
		if (err)
			return err;
	}
	if (seconds && !is_number(seconds, &number))
		seconds = NULL;
	if (seconds && number == 0)
		return NULL;
	bool is_less = seconds && wait->within_seconds &&
		       is_number(wait->within_seconds, &known) && number < known;
	if (!wait->within || (seconds && !wait->within_seconds) || is_less) {
		wait->within = method;
		wait->within_seconds = seconds;
	}
	return NULL;
}

static struct rcore_error *look_at(struct rcore_waits *waits, struct rcore_wait *wait,
				   const struct rcore_fiber *fiber)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < fiber->frame_count; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		for (size_t j = 0;
		     !err && frame->kind == RCORE_FRAME_RUBY && j < RCORE_COUNT(blocks); j++)
			if (rcore_same_text(frame->label, blocks[j].label) &&
			    may_be(waits, wait, frame, blocks[j].is_async))
				err = add(waits, wait, frame, blocks[j].method);
	}
	return err;
}

/*
 * The exception is raised in the current fiber of the thread, even if the block
 * belongs to a fiber that resumed this one. It does not end a wait for the GVL.
 */
struct rcore_error *rcore_wait_within(struct rcore_waits *waits, int index)
{
	const struct rcore_loader *loader = waits->loader;
	struct rcore_wait *wait = loader->fibers.items[index].wait;
	bool is_current = loader->fibers.items[index].is_current;
	struct rcore_error *err = NULL;
	if (!wait || wait->kind == RCORE_WAIT_GVL)
		return NULL;
	for (int i = 0; !err && index >= 0 && i < RESUMED_LIMIT; i++) {
		const struct rcore_fiber *fiber = &loader->fibers.items[index];
		err = look_at(waits, wait, fiber);
		index = is_current ? fiber->resumed_by : -1;
	}
	return err;
}
