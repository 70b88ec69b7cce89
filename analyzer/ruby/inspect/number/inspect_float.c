/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"

enum { DIGITS = 17 }; /* enough for any double */

/*
 * Adds one to the last digit of "1.239e+05". Returns false if the carry would
 * leave the leftmost digit.
 */
static bool increment(char *text)
{
	for (char *p = strchr(text, 'e') - 1; p >= text; p--) {
		if (*p < '0' || *p > '9')
			continue;
		if (*p < '9') {
			++*p;
			return true;
		}
		*p = '0';
	}
	return false;
}

/*
 * Finds the fewest digits that read back as the same number, and the position
 * of the point: 0.DIGITS * 10^point. Below a power of two, numbers are closer
 * together than above it. So the nearest number with that many digits may read
 * back as another one, while the next one above does not. The decimal point of
 * printf depends on the locale, so only digits are used.
 */
static size_t shortest(double number, char digits[DIGITS + 1], int *point)
{
	char text[64], above[64];
	size_t count = 0;
	for (int precision = 0; precision < DIGITS; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision, number);
		if (strtod(text, NULL) == number)
			break;
		memcpy(above, text, sizeof(above));
		if (increment(above) && strtod(above, NULL) == number) {
			memcpy(text, above, sizeof(text));
			break;
		}
	}
	char *exponent = strchr(text, 'e');
	for (const char *p = text; p < exponent; p++)
		if (*p >= '0' && *p <= '9')
			digits[count++] = *p;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	digits[count] = '\0';
	*point = atoi(exponent + 1) + 1;
	return count;
}

/* flo_to_s of numeric.c */
void rcore_inspect_double(struct rcore_inspect *inspect, double number)
{
	enum { LEAST_POINT = -3, MOST_POINT = 15 /* DBL_DIG */ };
	char digits[DIGITS + 1];
	int point;
	if (isnan(number)) {
		rcore_inspect_puts(inspect, "NaN");
		return;
	}
	if (signbit(number))
		rcore_inspect_puts(inspect, "-");
	if (isinf(number)) {
		rcore_inspect_puts(inspect, "Infinity");
		return;
	}
	int count = (int)shortest(fabs(number), digits, &point);
	if (point > 0 && point < count)
		rcore_inspect_printf(inspect, "%.*s.%s", point, digits, digits + point);
	else if (point > 0 && point <= MOST_POINT)
		rcore_inspect_printf(inspect, "%s%.*s.0", digits, point - count,
				     "0000000000000000");
	else if (point <= 0 && point >= LEAST_POINT)
		rcore_inspect_printf(inspect, "0.%.*s%s", -point, "000", digits);
	else
		rcore_inspect_printf(inspect, "%c.%se%+03d", digits[0],
				     count > 1 ? digits + 1 : "0", point - 1);
}

struct rcore_error *rcore_inspect_float(struct rcore_inspect *inspect, uint64_t value,
					uint64_t flags)
{
	uint64_t bits;
	double number;
	struct rcore_error *err = RCORE_GET(inspect->ruby, value, float_, value, &bits);
	if (err)
		return err;
	memcpy(&number, &bits, sizeof(number));
	rcore_inspect_double(inspect, number);
	return NULL;
}
