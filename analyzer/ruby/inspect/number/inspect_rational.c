/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"

static struct rcore_error *next_rational(struct rcore_inspect *inspect,
					 struct rcore_inspect_frame *frame, bool *more,
					 uint64_t *child)
{
	*more = frame->index < frame->count;
	if (!*more)
		return NULL;
	if (frame->index++ == 0)
		return RCORE_GET(inspect->ruby, frame->value, rational, num, child);
	rcore_inspect_puts(inspect, "/");
	return RCORE_GET(inspect->ruby, frame->value, rational, den, child);
}

/* "(1/3)": nurat_inspect of rational.c */
struct rcore_error *rcore_inspect_rational(struct rcore_inspect *inspect, uint64_t value,
					   uint64_t flags)
{
	if (rcore_inspect_is_open(inspect, value))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "a Rational is part of itself");
	rcore_inspect_puts(inspect, "(");
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = value,
						   .next = next_rational,
						   .count = 2,
						   .is_whole = true,
						   .close = ")",
					   });
}

/*
 * The sign is between the parts, also that of "(-1/3)". A part that does not
 * end in a digit gets a "*".
 */
static void finish_imaginary(struct rcore_inspect *inspect, size_t start)
{
	char *part = inspect->text.items + start;
	size_t length = inspect->text.count - start;
	if (inspect->out_of_memory || inspect->full)
		return;
	if (length > 1 && part[0] == '(' && part[1] == '-') {
		part[0] = '-';
		part[1] = '(';
	} else if (length && part[0] != '-') {
		rcore_inspect_puts(inspect, "+");
		if (inspect->out_of_memory)
			return;
		part = inspect->text.items + start;
		memmove(part + 1, part, length);
		part[0] = '+';
	}
	char last = inspect->text.items[inspect->text.count - 1];
	rcore_inspect_puts(inspect, last >= '0' && last <= '9' ? "i" : "*i");
}

/* In frame->data: the offset of the imaginary part in the text. */
enum { START };

static struct rcore_error *next_complex(struct rcore_inspect *inspect,
					struct rcore_inspect_frame *frame, bool *more,
					uint64_t *child)
{
	*more = frame->index < frame->count;
	switch (frame->index++) {
	case 0:
		return RCORE_GET(inspect->ruby, frame->value, complex_, real, child);
	case 1:
		frame->data[START] = inspect->text.count;
		return RCORE_GET(inspect->ruby, frame->value, complex_, imag, child);
	default:
		finish_imaginary(inspect, frame->data[START]);
		return NULL;
	}
}

/* "(1+2i)": nucomp_inspect of complex.c */
struct rcore_error *rcore_inspect_complex(struct rcore_inspect *inspect, uint64_t value,
					  uint64_t flags)
{
	if (rcore_inspect_is_open(inspect, value))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "a Complex is part of itself");
	rcore_inspect_puts(inspect, "(");
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = value,
						   .next = next_complex,
						   .count = 2,
						   .is_whole = true,
						   .close = ")",
					   });
}
