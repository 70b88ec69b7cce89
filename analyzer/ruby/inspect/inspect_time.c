/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "ruby/get.h"
#include "ruby/inspect/inspect_types.h"

/*
 * A Time counts nanoseconds since 1970 (timew), and caches year, month and so
 * on once a program has asked for them (tm_got). If it has not, they are
 * computed here: for a local time as UTC, because only the target knows its
 * zone. Mirrors struct time_object and time_inspect of time.c.
 */
enum tzmode { LOCAL, UTC, FIXED_OFFSET };

struct broken_down {
	int64_t year;
	uint64_t mon, mday, hour, min, sec;
	int64_t utc_offset; /* seconds */
	bool is_utc;
	uint64_t nanoseconds;
	/* If there is part of a nanosecond: the second as a fraction. */
	unsigned __int128 numerator, denominator; /* 0: none */
};

enum { DAY = 24 * 60 * 60, TIME_SCALE = 1000000000 };

/* 36 thousand million years */
#define SECONDS_LIMIT (INT64_C(1) << 60)

static bool fixnum(const struct rcore_ruby *ruby, uint64_t value, int64_t *ret)
{
	if (rcore_immediate(ruby, value) != RCORE_FIXNUM)
		return false;
	*ret = (int64_t)value >> 1;
	return true;
}

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/*
 * Converts days since 1970 to a date of the Gregorian calendar, using eras of
 * 400 years that begin in March.
 */
static void civil(int64_t days, struct broken_down *ret)
{
	enum { ERA = 146097, TO_MARCH_OF_YEAR_0 = 719468 };
	days += TO_MARCH_OF_YEAR_0;
	int64_t era = floor_div(days, ERA), day = days - era * ERA;
	int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t of_year = day - (365 * year + year / 4 - year / 100);
	int64_t month = (5 * of_year + 2) / 153; /* 0: March */
	ret->mday = (uint64_t)(of_year - (153 * month + 2) / 5 + 1);
	ret->mon = (uint64_t)(month < 10 ? month + 3 : month - 9);
	ret->year = year + era * 400 + (ret->mon <= 2);
}

static void reckon(int64_t seconds, struct broken_down *ret)
{
	seconds += ret->utc_offset;
	int64_t days = floor_div(seconds, DAY), of_day = seconds - days * DAY;
	civil(days, ret);
	ret->hour = (uint64_t)of_day / 3600;
	ret->min = (uint64_t)of_day / 60 % 60;
	ret->sec = (uint64_t)of_day % 60;
}

static unsigned __int128 common_divisor(unsigned __int128 a, unsigned __int128 b)
{
	while (b) {
		unsigned __int128 rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static struct rcore_error *integer(struct rcore_ruby *ruby, uint64_t value, __int128 *ret)
{
	bool fits;
	enum rcore_type type = RCORE_T_NONE;
	struct rcore_error *err = rcore_integer(ruby, value, ret, &fits);
	if (err || fits)
		return err;
	if (rcore_is_object(ruby, value))
		err = rcore_type(ruby, value, &type);
	if (err)
		return err;
	if (type != RCORE_T_BIGNUM)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "a Time with 0x%" PRIx64 ", which is no number",
					  value);
	return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
				  "a Time with a number that 16 bytes cannot hold");
}

/* A number of nanoseconds. */
struct exact {
	__int128 numerator, denominator;
};

/*
 * Reads an Integer or Rational. Time.at(1.1) has a Rational of 2^43, because no
 * Float is 1.1; for the time of today, the numerator is no longer a fixnum.
 */
static struct rcore_error *read_exact(struct rcore_ruby *ruby, uint64_t value,
				      struct exact *ret)
{
	uint64_t num = value, den = 0;
	enum rcore_type type = RCORE_T_NONE;
	struct rcore_error *err = NULL;
	ret->denominator = 1;
	if (rcore_is_object(ruby, value))
		err = rcore_type(ruby, value, &type);
	if (!err && type == RCORE_T_RATIONAL) {
		err = RCORE_GET(ruby, value, rational, num, &num);
		if (!err)
			err = RCORE_GET(ruby, value, rational, den, &den);
		if (!err)
			err = integer(ruby, den, &ret->denominator);
	}
	if (!err)
		err = integer(ruby, num, &ret->numerator);
	/* So that the denominator of seconds fits, too. */
	if (!err && (ret->denominator <= 0 || ret->denominator >> (126 - 30)))
		err = rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					 "a Time with a part of a second that is too exact");
	return err;
}

/* `part` is less than a second. */
static void set_subsecond(struct exact part, struct broken_down *ret)
{
	ret->nanoseconds = (uint64_t)(part.numerator / part.denominator);
	if (part.numerator % part.denominator == 0)
		return;
	ret->numerator = (unsigned __int128)part.numerator;
	ret->denominator = (unsigned __int128)part.denominator * TIME_SCALE;
	unsigned __int128 divisor = common_divisor(ret->numerator, ret->denominator);
	ret->numerator /= divisor;
	ret->denominator /= divisor;
}

/* vtm.subsecx: nanoseconds, or a Rational if they are not whole. */
static struct rcore_error *read_subsecond(struct rcore_ruby *ruby, uint64_t data,
					  struct broken_down *ret)
{
	uint64_t value;
	struct exact part;
	struct rcore_error *err = RCORE_GET(ruby, data, time, subsecx, &value);
	if (!err)
		err = read_exact(ruby, value, &part);
	if (err)
		return err;
	if (part.numerator < 0 || part.numerator / part.denominator >= TIME_SCALE)
		return rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"a Time whose part of a second is not below one second");
	set_subsecond(part, ret);
	return NULL;
}

/* Splits the time into whole seconds and the rest. */
static struct rcore_error *read_seconds(struct rcore_ruby *ruby, uint64_t timew,
					struct broken_down *ret, int64_t *seconds)
{
	struct exact time;
	struct rcore_error *err = read_exact(ruby, timew, &time);
	if (err)
		return err;
	__int128 second = time.denominator * TIME_SCALE;
	__int128 whole = time.numerator / second, rest = time.numerator % second;
	/* `whole` times `second` may not fit. */
	if (rest < 0) {
		whole--;
		rest += second;
	}
	if (whole > SECONDS_LIMIT || whole < -SECONDS_LIMIT)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "a Time whose year is not a small Integer");
	time.numerator = rest;
	set_subsecond(time, ret);
	*seconds = (int64_t)whole;
	return NULL;
}

static struct rcore_error *read_fields(struct rcore_ruby *ruby, uint64_t data,
				       struct broken_down *ret)
{
	uint64_t year;
	struct rcore_error *err = RCORE_GET(ruby, data, time, year, &year);
	if (!err && !fixnum(ruby, year, &ret->year))
		err = rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					 "a Time whose year is not a small Integer");
	if (!err)
		err = RCORE_GET(ruby, data, time, mon, &ret->mon);
	if (!err)
		err = RCORE_GET(ruby, data, time, mday, &ret->mday);
	if (!err)
		err = RCORE_GET(ruby, data, time, hour, &ret->hour);
	if (!err)
		err = RCORE_GET(ruby, data, time, min, &ret->min);
	if (!err)
		err = RCORE_GET(ruby, data, time, sec, &ret->sec);
	return err ? err : read_subsecond(ruby, data, ret);
}

static void write_integer(struct rcore_inspect *inspect, unsigned __int128 number)
{
	char digits[40], *p = digits + sizeof(digits);
	*--p = '\0';
	do {
		*--p = (char)('0' + (int)(number % 10));
		number /= 10;
	} while (number);
	rcore_inspect_puts(inspect, p);
}

static void write_time(struct rcore_inspect *inspect, const struct broken_down *time)
{
	rcore_inspect_printf(inspect, "%s%04" PRId64 "-%02d-%02d %02d:%02d:%02d",
			     time->year < 0 ? "-" : "",
			     time->year < 0 ? -time->year : time->year, (int)time->mon,
			     (int)time->mday, (int)time->hour, (int)time->min, (int)time->sec);
	if (!inspect->ruby->layout->traits.time_fraction) {
		/* It is left out. */
	} else if (time->denominator) {
		rcore_inspect_puts(inspect, " ");
		write_integer(inspect, time->numerator);
		rcore_inspect_puts(inspect, "/");
		write_integer(inspect, time->denominator);
	} else if (time->nanoseconds) {
		int digits = 9;
		uint64_t fraction = time->nanoseconds;
		for (; fraction % 10 == 0; digits--)
			fraction /= 10;
		rcore_inspect_printf(inspect, ".%0*" PRIu64, digits, fraction);
	}
	if (time->is_utc) {
		rcore_inspect_puts(inspect, " UTC");
		return;
	}
	int64_t offset = llabs(time->utc_offset);
	rcore_inspect_printf(inspect, " %c%02d%02d", time->utc_offset < 0 ? '-' : '+',
			     (int)(offset / 3600), (int)(offset / 60 % 60));
	if (offset % 60 && inspect->ruby->layout->traits.time_offset_seconds)
		rcore_inspect_printf(inspect, "%02d", (int)(offset % 60));
}

struct rcore_error *rcore_inspect_time(struct rcore_inspect *inspect, uint64_t value,
				       uint64_t data)
{
	struct rcore_ruby *ruby = inspect->ruby;
	struct broken_down time = {0};
	uint64_t timew, tzmode, tm_got = 0, offset;
	int64_t seconds = 0;
	struct rcore_error *err = RCORE_GET(ruby, data, time, timew, &timew);
	if (!err)
		err = RCORE_GET(ruby, data, time, tzmode, &tzmode);
	if (!err)
		err = RCORE_GET(ruby, data, time, tm_got, &tm_got);
	if (!err)
		err = RCORE_GET(ruby, data, time, utc_offset, &offset);
	if (err)
		return err;
	bool has_offset =
		(tm_got || tzmode == FIXED_OFFSET) && fixnum(ruby, offset, &time.utc_offset);
	time.is_utc = tzmode == UTC || !has_offset;
	if (time.is_utc || llabs(time.utc_offset) >= DAY)
		time.utc_offset = 0;
	if (tm_got)
		err = read_fields(ruby, data, &time);
	else
		err = read_seconds(ruby, timew, &time, &seconds);
	if (err)
		return err;
	if (!tm_got)
		reckon(seconds, &time);
	write_time(inspect, &time);
	return NULL;
}
