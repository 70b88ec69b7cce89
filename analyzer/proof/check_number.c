/* SPDX-License-Identifier: MIT */
/* Numbers and Times. */
#include "proof/check.h"

enum {
	BIGNUM_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 2),
	BIGNUM_EMBED_SHIFT = RCORE_FL_USHIFT + 3, /* BIGNUM_EMBED_LEN_SHIFT */
	BIGNUM_EMBED_MASK = 0x7f,
};

#define NUMERIC (TYPE(FLOAT) | TYPE(BIGNUM) | TYPE(RATIONAL))

/*
 * A Float is an object only if it cannot be a flonum: its exponent is extreme,
 * and it is not 0.
 */
CHECK(float_value)
{
	enum { EXPONENT_SHIFT = 60, LEAST = 3 };
	uint64_t bits;
	if (!get(s, base, field, &bits))
		return RCORE_FAILS;
	uint64_t high = bits >> EXPONENT_SHIFT & 7;
	return verdict_of(bits && high != LEAST && high != LEAST + 1 &&
			  follows_class(s, base, field));
}

/* Its highest digit is not zero. */
static enum rcore_verdict is_normal(const struct rcore_samples *s, uint64_t digits,
				    uint64_t count)
{
	uint32_t digit;
	return verdict_of(count && count < COUNT_LIMIT &&
			  !rcore_read(s->ruby->memory, digits + (count - 1) * sizeof(digit),
				      &digit, sizeof(digit)) &&
			  digit);
}

CHECK(bignum_heap)
{
	uint64_t digits, count;
	const struct rcore_layout *layout = layout_of(s);
	if (flags_of(s, base) & BIGNUM_EMBED_FLAG)
		return RCORE_SILENT;
	return get(s, base, &layout->bignum.digits, &digits) &&
			       get(s, base, &layout->bignum.heap_len, &count)
		       ? is_normal(s, digits, count)
		       : RCORE_FAILS;
}

CHECK(bignum_embedded)
{
	uint64_t flags = flags_of(s, base);
	if (!(flags & BIGNUM_EMBED_FLAG))
		return RCORE_SILENT;
	return follows_class(s, base, field)
		       ? is_normal(s, member(base, field),
				   flags >> BIGNUM_EMBED_SHIFT & BIGNUM_EMBED_MASK)
		       : RCORE_FAILS;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* In lowest terms, with a positive denominator. */
CHECK(rational_parts)
{
	uint64_t num, den;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, &layout->rational.num, &num) ||
	    !get(s, base, &layout->rational.den, &den))
		return RCORE_FAILS;
	if (is_object(s, num, TYPE(BIGNUM)) || is_object(s, den, TYPE(BIGNUM)))
		return RCORE_SILENT;
	int64_t n = (int64_t)num >> 1, d = (int64_t)den >> 1;
	return verdict_of(num & 1 && den & 1 && d > 0 &&
			  common_divisor(n < 0 ? -(uint64_t)n : (uint64_t)n, (uint64_t)d) ==
				  1 &&
			  follows_class(s, base, &layout->rational.num));
}

static bool is_number(const struct rcore_samples *s, uint64_t value)
{
	enum rcore_immediate immediate = rcore_immediate(s->ruby, value);
	return immediate == RCORE_FIXNUM || immediate == RCORE_FLONUM ||
	       is_object(s, value, NUMERIC);
}

CHECK(complex_parts)
{
	uint64_t real, imag;
	const struct rcore_layout *layout = layout_of(s);
	return verdict_of(get(s, base, &layout->complex_.real, &real) &&
			  get(s, base, &layout->complex_.imag, &imag) && is_number(s, real) &&
			  is_number(s, imag) && follows_class(s, base, &layout->complex_.real));
}

/* nanoseconds, an integer or a rational */
CHECK(time_number)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (rcore_is_nil(s->ruby, value))
		return RCORE_SILENT;
	return verdict_of(rcore_immediate(s->ruby, value) == RCORE_FIXNUM ||
			  is_object(s, value, TYPE(BIGNUM) | TYPE(RATIONAL)));
}

/*
 * Year, month and so on, once a program has asked the Time for them: each is in
 * the range of a clock.
 */
CHECK(time_shown)
{
	enum {
		MONTHS = 12,
		DAYS = 31,
		HOURS = 24,
		MINUTES = 59,
		SECONDS = 60,
		MODES = 2,
		YEARS = 100000
	};
	const struct rcore_layout *layout = layout_of(s);
	uint64_t got, year, mon, mday, hour, min, sec, mode;
	if (!get(s, base, &layout->time.tm_got, &got) ||
	    !get(s, base, &layout->time.year, &year) ||
	    !get(s, base, &layout->time.mon, &mon) ||
	    !get(s, base, &layout->time.mday, &mday) ||
	    !get(s, base, &layout->time.hour, &hour) ||
	    !get(s, base, &layout->time.min, &min) || !get(s, base, &layout->time.sec, &sec) ||
	    !get(s, base, &layout->time.tzmode, &mode))
		return RCORE_FAILS;
	if (!got)
		return RCORE_SILENT;
	return verdict_of(rcore_immediate(s->ruby, year) == RCORE_FIXNUM &&
			  (int64_t)year >> 1 < YEARS && (int64_t)year >> 1 > -YEARS && mon &&
			  mon <= MONTHS && mday && mday <= DAYS && hour <= HOURS &&
			  min <= MINUTES && sec <= SECONDS && mode <= MODES);
}

CHECK(time_utc_offset)
{
	enum { LIMIT = 24 * 60 * 60 };
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (rcore_is_nil(s->ruby, value))
		return RCORE_SILENT;
	int64_t seconds = (int64_t)value >> 1;
	return verdict_of(rcore_immediate(s->ruby, value) == RCORE_FIXNUM && seconds < LIMIT &&
			  seconds > -LIMIT);
}
