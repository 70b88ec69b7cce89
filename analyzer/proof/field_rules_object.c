/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the fields of objects. Bytes, elements and members are where, and as many as, the
 * object says.
 */
#include <math.h>
#include <string.h>

#include "ruby/ivar.h"
#include "proof/check.h"

enum {
	EMBED_SHIFT = RCORE_FL_USHIFT + 3, /* RARRAY_EMBED_LEN_SHIFT, BIGNUM_EMBED_LEN_SHIFT */
	STRING_EMBED_SHIFT = RCORE_FL_USHIFT + 2,
	STRUCT_EMBED_SHIFT = RCORE_FL_USHIFT + 1,
	ARRAY_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 1),
	BIGNUM_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 2),
	EMBED_MASK = 0x7f,
	STRING_EMBED_MASK = 0x1f,
	TEXT_LIMIT = 1024, /* bytes of a String that are looked at */
	COUNT_LIMIT = 1 << 24,
	IVARS = 64,
};

#define NUMERIC (TYPE(FLOAT) | TYPE(BIGNUM) | TYPE(RATIONAL))

static uint64_t flags_of(const struct rcore_samples *s, uint64_t object)
{
	uint64_t flags;
	return get(s, object, &layout_of(s)->basic.flags, &flags) ? flags : 0;
}

static bool word_at(const struct rcore_samples *s, uint64_t address, uint64_t *ret)
{
	return address % sizeof(*ret) == 0 && !rcore_read_u64(s->ruby->memory, address, ret);
}

/* What a slot holds besides begins right behind RBasic.klass. */
static bool follows_class(const struct rcore_samples *s, uint64_t object,
			  const struct rcore_field *field)
{
	uint64_t klass, before;
	return get(s, object, &layout_of(s)->basic.klass, &klass) &&
	       word_at(s, member(object, field) - sizeof(before), &before) && klass == before;
}

/* Ruby ends the bytes of its Strings with a NUL; most have no other. */
static enum rcore_verdict is_text(const struct rcore_samples *s, uint64_t address,
				  uint64_t length)
{
	char text[TEXT_LIMIT + 1];
	if (!length)
		return RCORE_SILENT;
	if (length > INT64_MAX)
		return RCORE_FAILS;
	if (length > TEXT_LIMIT)
		return RCORE_SILENT;
	return told(!rcore_read(s->ruby->memory, address, text, length + 1) &&
		    strnlen(text, length + 1) == length);
}

static bool is_heap_string(const struct rcore_samples *s, uint64_t string)
{
	return flags_of(s, string) & (uint64_t)layout_of(s)->constant.string_noembed;
}

JUDGE(string_len)
{
	uint64_t bytes, length;
	if (!is_heap_string(s, base))
		return RCORE_SILENT;
	if (!get(s, base, field, &length) || !get(s, base, &layout_of(s)->string.ptr, &bytes))
		return RCORE_FAILS;
	return is_text(s, bytes, length);
}

JUDGE(string_ptr)
{
	uint64_t bytes, length;
	if (!is_heap_string(s, base))
		return RCORE_SILENT;
	if (!get(s, base, field, &bytes) || !get(s, base, &layout_of(s)->string.len, &length))
		return RCORE_FAILS;
	return is_text(s, bytes, length);
}

/* Its length stands in the slot or, where the bytes begin in that place, in the flags. */
static bool embedded_length(const struct rcore_samples *s, uint64_t string, uint64_t *ret)
{
	const struct rcore_layout *layout = layout_of(s);
	if (rcore_has(&layout->string.embed_len))
		return get(s, string, &layout->string.embed_len, ret);
	if (layout->string.embed_ary.offset != layout->string.len.offset)
		return get(s, string, &layout->string.len, ret);
	*ret = flags_of(s, string) >> STRING_EMBED_SHIFT & STRING_EMBED_MASK;
	return true;
}

JUDGE(string_embedded)
{
	uint64_t length;
	if (is_heap_string(s, base))
		return RCORE_SILENT;
	if (!embedded_length(s, base, &length))
		return RCORE_FAILS;
	return is_text(s, member(base, &layout_of(s)->string.embed_ary), length);
}

/* The first and the last are VALUEs. */
static enum rcore_verdict are_values(const struct rcore_samples *s, uint64_t elements,
				     uint64_t count)
{
	uint64_t first, last;
	if (!count)
		return RCORE_SILENT;
	return told(count < COUNT_LIMIT && elements && word_at(s, elements, &first) &&
		    word_at(s, elements + (count - 1) * sizeof(last), &last) &&
		    is_value(s, first) && is_value(s, last));
}

JUDGE(array_heap)
{
	uint64_t elements, count;
	const struct rcore_layout *layout = layout_of(s);
	if (flags_of(s, base) & ARRAY_EMBED_FLAG)
		return RCORE_SILENT;
	if (!get(s, base, &layout->array.heap_ptr, &elements) ||
	    !get(s, base, &layout->array.heap_len, &count))
		return RCORE_FAILS;
	return are_values(s, elements, count);
}

JUDGE(array_embedded)
{
	uint64_t flags = flags_of(s, base), count = flags >> EMBED_SHIFT & EMBED_MASK;
	if (!(flags & ARRAY_EMBED_FLAG) || !count)
		return RCORE_SILENT;
	return follows_class(s, base, field) ? are_values(s, member(base, field), count)
					     : RCORE_FAILS;
}

static uint64_t struct_count(const struct rcore_samples *s, uint64_t object)
{
	return flags_of(s, object) >> STRUCT_EMBED_SHIFT &
	       layout_of(s)->traits.struct_embed_mask;
}

JUDGE(struct_heap)
{
	uint64_t elements, count;
	const struct rcore_layout *layout = layout_of(s);
	if (struct_count(s, base))
		return RCORE_SILENT;
	if (!get(s, base, &layout->rstruct.heap_ptr, &elements) ||
	    !get(s, base, &layout->rstruct.heap_len, &count))
		return RCORE_FAILS;
	return are_values(s, elements, count);
}

JUDGE(struct_embedded)
{
	uint64_t count = struct_count(s, base);
	if (!count)
		return RCORE_SILENT;
	return follows_class(s, base, field) ? are_values(s, member(base, field), count)
					     : RCORE_FAILS;
}

/* Only what cannot be a flonum is an object: that has an exponent near 0, and is not 0. */
JUDGE(float_value)
{
	enum { EXPONENT_SHIFT = 60, LEAST = 3 };
	uint64_t bits;
	if (!get(s, base, field, &bits))
		return RCORE_FAILS;
	uint64_t high = bits >> EXPONENT_SHIFT & 7;
	return told(bits && high != LEAST && high != LEAST + 1 &&
		    follows_class(s, base, field));
}

/* Its highest digit is not zero. */
static enum rcore_verdict is_normal(const struct rcore_samples *s, uint64_t digits,
				    uint64_t count)
{
	uint32_t digit;
	return told(count && count < COUNT_LIMIT &&
		    !rcore_read(s->ruby->memory, digits + (count - 1) * sizeof(digit), &digit,
				sizeof(digit)) &&
		    digit);
}

JUDGE(bignum_heap)
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

JUDGE(bignum_embedded)
{
	uint64_t flags = flags_of(s, base);
	if (!(flags & BIGNUM_EMBED_FLAG))
		return RCORE_SILENT;
	return follows_class(s, base, field)
		       ? is_normal(s, member(base, field), flags >> EMBED_SHIFT & EMBED_MASK)
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

/* In lowest terms, the denominator positive. */
JUDGE(a_fraction)
{
	uint64_t num, den;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, &layout->rational.num, &num) ||
	    !get(s, base, &layout->rational.den, &den))
		return RCORE_FAILS;
	if (is_object(s, num, TYPE(BIGNUM)) || is_object(s, den, TYPE(BIGNUM)))
		return RCORE_SILENT;
	int64_t n = (int64_t)num >> 1, d = (int64_t)den >> 1;
	return told(num & 1 && den & 1 && d > 0 &&
		    common_divisor(n < 0 ? -(uint64_t)n : (uint64_t)n, (uint64_t)d) == 1 &&
		    follows_class(s, base, &layout->rational.num));
}

static bool is_number(const struct rcore_samples *s, uint64_t value)
{
	enum rcore_immediate immediate = rcore_immediate(s->ruby, value);
	return immediate == RCORE_FIXNUM || immediate == RCORE_FLONUM ||
	       is_object(s, value, NUMERIC);
}

JUDGE(complex_parts)
{
	uint64_t real, imag;
	const struct rcore_layout *layout = layout_of(s);
	return told(get(s, base, &layout->complex_.real, &real) &&
		    get(s, base, &layout->complex_.imag, &imag) && is_number(s, real) &&
		    is_number(s, imag) && follows_class(s, base, &layout->complex_.real));
}

JUDGE(a_string)
{
	return object_of(s, base, field, TYPE(STRING));
}

/* A Symbol of a String that nothing has used as a name yet has but the scope of an ID. */
JUDGE(symbol_id)
{
	enum { SCOPE_BITS = 0xf };
	uint64_t id;
	if (!get(s, base, field, &id))
		return RCORE_FAILS;
	return id <= SCOPE_BITS ? RCORE_SILENT : an_id(s, base, field);
}

JUDGE(a_regexp)
{
	return object_of(s, base, field, TYPE(REGEXP));
}

/* Of malloc(): neither the source nor the class. */
JUDGE(a_pattern)
{
	uint64_t pattern, options;
	return told(get(s, base, field, &pattern) && readable(s, pattern) &&
		    !is_object(s, pattern, TYPE(STRING) | TYPE(CLASS)) &&
		    get(s, pattern, &layout_of(s)->pattern.options, &options) &&
		    options < 1 << 16);
}

JUDGE(pattern_options)
{
	return at_most(s, base, field, (1 << 16) - 1);
}

/*
 * The whole match lies in its String. A MatchData has no groups before its first search (match_alloc() of re.c); one that
 * is used again for a search that finds nothing has groups that are nowhere (onig_region_clear() of regexec.c).
 */
JUDGE(match_groups)
{
	const uint64_t nowhere = UINT64_MAX;
	uint64_t groups, begins, ends, begin, end;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, &layout->rmatch.num_regs, &groups) ||
	    !get(s, base, &layout->rmatch.beg, &begins) ||
	    !get(s, base, &layout->rmatch.end, &ends))
		return RCORE_FAILS;
	if (!groups && !begins && !ends)
		return RCORE_SILENT;
	if (!groups || groups >= COUNT_LIMIT || !word_at(s, begins, &begin) ||
	    !word_at(s, ends, &end))
		return RCORE_FAILS;
	if (begin == nowhere && end == nowhere)
		return RCORE_SILENT;
	return told(begin <= end && end <= INT64_MAX);
}

/* A new one has nothing yet, its String neither. */
JUDGE(match_rmatch)
{
	uint64_t rmatch;
	if (!get(s, base, field, &rmatch))
		return RCORE_FAILS;
	if (!rmatch && leads(s, base, &layout_of(s)->match.str, 0))
		return RCORE_SILENT;
	return match_groups(s, rmatch, field);
}

/* That of a T_FILE is what its path says. */
JUDGE(io_of_file)
{
	uint64_t io, path, fd;
	const struct rcore_layout *layout = layout_of(s);
	enum { FD_LIMIT = 1 << 20 };
	if (!get(s, base, &layout->file.fptr, &io))
		return RCORE_FAILS;
	return io ? told(get(s, io, &layout->io.fd, &fd) &&
			 (fd < FD_LIMIT || fd == UINT32_MAX) &&
			 get(s, io, &layout->io.pathv, &path) &&
			 (rcore_is_nil(s->ruby, path) || is_object(s, path, TYPE(STRING))))
		  : RCORE_SILENT;
}

JUDGE(io_write_lock)
{
	return object_of(s, base, field, TYPE(DATA));
}

static bool in_slot(const struct rcore_samples *s, uint64_t object)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t flags = flags_of(s, object);
	return layout->constant.robject_heap != RCORE_NO_CONSTANT
		       ? !(flags & (uint64_t)layout->constant.robject_heap)
		       : flags & (uint64_t)layout->constant.robject_embed;
}

/* Its instance variables have names, and are VALUEs. */
JUDGE(named_values)
{
	struct rcore_ivars ivars = {0};
	rcore_auto_error err = rcore_ivars(s->ruby, base, IVARS, &ivars);
	bool holds = !err || err->code == RCORE_ERROR_LIMIT;
	size_t named = 0; /* and neither false nor memory that is not in use */
	for (size_t i = 0; holds && i < ivars.count; i++) {
		holds = is_value(s, ivars.items[i].value);
		named += ivars.items[i].value && has_name(s, ivars.items[i].id);
	}
	free(ivars.items);
	return holds && !named ? RCORE_SILENT : told(holds);
}

JUDGE(values_in_slot)
{
	return in_slot(s, base) ? named_values(s, base, field) : RCORE_SILENT;
}

JUDGE(values_outside)
{
	return in_slot(s, base) ? RCORE_SILENT : named_values(s, base, field);
}

JUDGE(typed_flag)
{
	enum { TYPED = 1, EMBEDDED = 2 };
	uint64_t flag;
	return told(get(s, base, field, &flag) && (flag & ~(uint64_t)EMBEDDED) == TYPED);
}

JUDGE(fields_object)
{
	uint64_t fields;
	if (!get(s, base, field, &fields))
		return RCORE_FAILS;
	return fields ? told(is_imemo(s, fields, (unsigned)layout_of(s)->constant.imemo_fields))
		      : RCORE_SILENT;
}

JUDGE(type_of_data)
{
	uint64_t flags;
	return told(get(s, base, field, &flags) && (flags & RCORE_T_MASK) == RCORE_T_DATA);
}

JUDGE(class_of_data)
{
	return object_of(s, base, field, TYPE(CLASS));
}

const struct rcore_field_rule rcore_object_rules[] = {
	RULE_ON(data, basic, flags, type_of_data),
	RULE_ON(data, basic, klass, class_of_data),
	RULE(string, len, string_len),
	RULE(string, ptr, string_ptr),
	RULE(string, embed_len, string_embedded),
	RULE(string, embed_ary, string_embedded),
	RULE(array, heap_len, array_heap),
	RULE(array, heap_ptr, array_heap),
	RULE(array, embed_ary, array_embedded),
	RULE(rstruct, heap_len, struct_heap),
	RULE(rstruct, heap_ptr, struct_heap),
	RULE(rstruct, embed_ary, struct_embedded),
	RULE(float_, value, float_value),
	RULE(bignum, heap_len, bignum_heap),
	RULE(bignum, digits, bignum_heap),
	RULE(bignum, embed_ary, bignum_embedded),
	RULE(rational, num, a_fraction),
	RULE(rational, den, a_fraction),
	RULE(complex_, real, complex_parts),
	RULE(complex_, imag, complex_parts),
	RULE(regexp, ptr, a_pattern),
	RULE(regexp, src, a_string),
	RULE(pattern, options, pattern_options),
	RULE(match, str, a_string),
	RULE(match, rmatch, match_rmatch),
	RULE(match, regexp, a_regexp),
	RULE(rmatch, num_regs, match_groups),
	RULE(rmatch, beg, match_groups),
	RULE(rmatch, end, match_groups),
	RULE(symbol, fstr, a_string),
	RULE(symbol, id, symbol_id),
	RULE(file, fptr, io_of_file),
	RULE_ON(file, io, fd, io_of_file),
	RULE_ON(file, io, pathv, io_of_file),
	RULE(io, write_lock, io_write_lock),
	RULE(io, blocking_operations, a_list),
	RULE(object, ary, values_in_slot),
	RULE(object, ivptr, values_outside),
	RULE(object, numiv, values_outside),
	RULE(object, iv_index_tbl, values_outside),
	RULE_ON(object, iv_index, index, named_values),
	RULE_ON(object, shape, edge_name, named_values),
	RULE_ON(generic, gen_ivtbl, numiv, named_values),
	RULE_ON(generic, gen_ivtbl, ivptr, named_values),
	RULE(data, typed_flag, typed_flag),
	RULE(data, fields_obj, fields_object),
};

const size_t rcore_object_rules_count =
	sizeof(rcore_object_rules) / sizeof(*rcore_object_rules);
