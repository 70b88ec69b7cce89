/* SPDX-License-Identifier: MIT */
#include "ruby/children/memsize.h"

#include <string.h>

#include "ruby/children/memsize_private.h"
#include "ruby/object/embedded.h"
#include "ruby/object/fields.h"
#include "ruby/object/generic_ivar.h"
#include "ruby/object/shape.h"

/* rb_enc_mbminlen() of the encodings that every Ruby has (encindex.h). */
static uint64_t terminator_length(uint64_t flags)
{
	enum { ENCODING_SHIFT = RCORE_FL_USHIFT + 10, ENCODING_MASK = 0x7f };
	static const uint8_t lengths[] = {1, 1, 1, 2, 2, 4, 4, 2, 4};
	uint64_t index = flags >> ENCODING_SHIFT & ENCODING_MASK;
	return index < sizeof(lengths) ? lengths[index] : 1;
}

static uint64_t of_string(struct rcore_sizing *sizing)
{
	const uint64_t noembed = (uint64_t)sizing->layout->constant.string_noembed;
	const uint64_t others = sizing->layout->traits.shared_flag | RCORE_FL_USER(18);
	if ((sizing->flags & (noembed | others)) != noembed)
		return 0;
	return rcore_sizing_bounded(sizing, FIELD(string, shared), 1) +
	       terminator_length(sizing->flags);
}

static uint64_t of_array(struct rcore_sizing *sizing)
{
	const uint64_t root = sizing->layout->traits.shared_root_flag;
	if (rcore_is_embedded(sizing->layout, sizing->flags) ||
	    sizing->flags & sizing->layout->traits.shared_flag)
		return 0;
	return rcore_sizing_bounded(sizing,
				    sizing->flags & root ? FIELD(array, heap_len)
							 : FIELD(array, shared_root),
				    WORD);
}

static uint64_t of_hash(struct rcore_sizing *sizing)
{
	const uint64_t is_st = RCORE_FL_USER(3);     /* RHASH_ST_TABLE_FLAG */
	if (!rcore_has(&sizing->layout->hash.table)) /* in the slot */
		return sizing->flags & is_st
			       ? rcore_sizing_st(sizing,
						 sizing->object + sizing->layout->hash.size) -
					 sizing->layout->st_table.size
			       : 0;
	uint64_t table = FIELD(hash, table);
	if (sizing->flags & is_st)
		return rcore_sizing_st(sizing, table);
	return table || sizing->layout->traits.memsize_of_no_table
		       ? sizing->layout->ar_table.size
		       : 0;
}

/* The capacity of a shape's object; up to 3.1 there are no shapes. */
static uint64_t shape_capacity(struct rcore_sizing *sizing, uint32_t id)
{
	uint64_t place = id & sizing->layout->traits.shape_id_mask;
	uint64_t list = rcore_shape_list(sizing->ruby);
	if (!list) {
		sizing->failed = true;
		return 0;
	}
	return READ(list + place * sizing->layout->shape.size, shape, capacity);
}

/*
 * From 3.2 to 3.4, an object that becomes too complex stays flagged as
 * embedded: only its shape shows that it has a table.
 */
static bool may_be_too_complex(struct rcore_sizing *sizing)
{
	if (sizing->layout->constant.shape_too_complex < 0)
		return false;
	return !sizing->ruby ||
	       rcore_shape_id(sizing->flags) == rcore_shape_of_too_complex(sizing->ruby);
}

static uint64_t of_object(struct rcore_sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	struct rcore_fields fields;
	if (rcore_has_embedded_fields(layout, sizing->flags) && !may_be_too_complex(sizing))
		return 0;
	if (!layout->traits.shapes)
		return FIELD(object, ivptr)
			       ? rcore_sizing_bounded(sizing, FIELD(object, numiv), WORD)
			       : 0;
	if (!rcore_sizing_can_decode(sizing))
		return 0;
	struct rcore_error *err =
		rcore_imemo_type(sizing->flags) < 0
			? rcore_fields(sizing->ruby, sizing->object, &fields)
			: rcore_fields_of_imemo(sizing->ruby, sizing->object, &fields);
	if (err) {
		rcore_error_free(err);
		sizing->failed = true;
		return 0;
	}
	if (fields.kind == RCORE_FIELDS_TABLE)
		return rcore_sizing_st(sizing, fields.at);
	return rcore_sizing_bounded(
		sizing, shape_capacity(sizing, rcore_shape_id(sizing->flags)), WORD);
}

static uint64_t of_struct(struct rcore_sizing *sizing)
{
	if (rcore_is_embedded(sizing->layout, sizing->flags) || !FIELD(rstruct, heap_ptr))
		return 0;
	return rcore_sizing_bounded(sizing, FIELD(rstruct, heap_len), WORD);
}

static uint64_t of_bignum(struct rcore_sizing *sizing)
{
	if (rcore_is_embedded(sizing->layout, sizing->flags) || !FIELD(bignum, digits))
		return 0;
	/* BDIGIT */
	return rcore_sizing_bounded(sizing, FIELD(bignum, heap_len), sizeof(uint32_t));
}

/* onig_memsize() of regcomp.c. A chain has one part, or a few. */
static uint64_t of_regexp(struct rcore_sizing *sizing)
{
	enum { CHAIN_LIMIT = 64, MAP_SIZE = 256 * sizeof(int) };
	uint64_t bytes = 0, pattern = FIELD(regexp, ptr);
	for (int steps = 0; pattern && steps < CHAIN_LIMIT; steps++) {
		bytes += sizing->layout->pattern.size;
		if (READ(pattern, pattern, code))
			bytes += READ(pattern, pattern, alloc);
		if (READ(pattern, pattern, exact))
			bytes += rcore_sizing_bounded(sizing,
						      READ(pattern, pattern, exact_end) -
							      READ(pattern, pattern, exact),
						      1);
		if (READ(pattern, pattern, int_map))
			bytes += MAP_SIZE;
		if (READ(pattern, pattern, int_map_backward))
			bytes += MAP_SIZE;
		if (READ(pattern, pattern, repeat_range))
			bytes += rcore_sizing_bounded(
				sizing, READ(pattern, pattern, repeat_range_alloc),
				sizing->layout->repeat_range.size);
		pattern = READ(pattern, pattern, chain);
	}
	return bytes;
}

/* onig_region_memsize() of regexec.c counts its struct, which is in rmatch. */
static uint64_t of_match(struct rcore_sizing *sizing)
{
	enum { REGISTER_SIZE = 2 * WORD };
	const struct rcore_layout *layout = sizing->layout;
	bool apart = rcore_has(&layout->match.rmatch);
	uint64_t at = apart ? FIELD(match, rmatch) : sizing->object + layout->match.size;
	if (!at)
		return 0;
	return layout->traits.registers_size +
	       rcore_sizing_bounded(sizing, READ(at, rmatch, allocated), REGISTER_SIZE) +
	       rcore_sizing_bounded(sizing, READ(at, rmatch, offsets_allocated),
				    layout->match_offset.size) +
	       (apart ? layout->rmatch.size : 0);
}

/* rb_io_memsize() of io.c. Converters have sizes of their own. */
static uint64_t of_file(struct rcore_sizing *sizing)
{
	uint64_t io = FIELD(file, fptr);
	if (!io)
		return 0;
	if (READ(io, io, readconv) || READ(io, io, writeconv))
		sizing->failed = true;
	return sizing->layout->io.size + READ(io, io, rbuf_capacity) +
	       READ(io, io, wbuf_capacity) + READ(io, io, cbuf_capacity);
}

static uint64_t of_imemo(struct rcore_sizing *sizing)
{
	const struct rcore_traits *traits = &sizing->layout->traits;
	unsigned type = (unsigned)rcore_imemo_type(sizing->flags);
	if (!traits->memsize_of_imemo && type != traits->imemo_tmpbuf)
		return 0;
	if (type == traits->imemo_ment)
		return WORD;
	if (type == traits->imemo_iseq)
		return rcore_sizing_of_iseq(sizing);
	if (type == traits->imemo_env)
		return rcore_sizing_bounded(sizing, FIELD(env, count), WORD);
	if (type == traits->imemo_tmpbuf)
		return rcore_sizing_bounded(sizing, FIELD(tmpbuf, count), WORD);
	if (type == sizing->layout->constant.imemo_fields)
		return of_object(sizing);
	return 0;
}

/* Whether the instance variables of an object may be in a gen_ivtbl. */
static inline bool has_generic(const struct rcore_layout *layout, uint64_t flags)
{
	return rcore_has(&layout->gen_ivtbl.ivptr) &&
	       flags & (uint64_t)layout->constant.fl_exivar;
}

/* Up to 3.4: rb_generic_ivar_memsize() of variable.c. */
static uint64_t generic_size(struct rcore_sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	uint64_t table = 0;
	struct rcore_fields fields;
	enum rcore_type type = sizing->flags & RCORE_T_MASK;
	if (type == RCORE_T_IMEMO || !has_generic(layout, sizing->flags) ||
	    !rcore_sizing_can_decode(sizing))
		return 0;
	struct rcore_error *err = rcore_generic_ivar(sizing->ruby, sizing->object, &table);
	if (!err)
		err = rcore_fields(sizing->ruby, sizing->object, &fields);
	if (err) {
		rcore_error_free(err);
		sizing->failed = true;
		return 0;
	}
	if (fields.kind == RCORE_FIELDS_TABLE)
		return layout->gen_ivtbl.size + rcore_sizing_st(sizing, fields.at);
	return (uint64_t)layout->gen_ivtbl.ivptr.offset +
	       rcore_sizing_bounded(sizing, READ(table, gen_ivtbl, numiv), WORD);
}

typedef uint64_t size_of(struct rcore_sizing *sizing);

static size_of *const sizes[RCORE_T_MASK + 1] = {
	[RCORE_T_OBJECT] = of_object,
	[RCORE_T_CLASS] = rcore_sizing_of_class,
	[RCORE_T_MODULE] = rcore_sizing_of_class,
	[RCORE_T_ICLASS] = rcore_sizing_of_iclass,
	[RCORE_T_STRING] = of_string,
	[RCORE_T_REGEXP] = of_regexp,
	[RCORE_T_ARRAY] = of_array,
	[RCORE_T_HASH] = of_hash,
	[RCORE_T_STRUCT] = of_struct,
	[RCORE_T_BIGNUM] = of_bignum,
	[RCORE_T_FILE] = of_file,
	[RCORE_T_DATA] = rcore_sizing_of_data,
	[RCORE_T_MATCH] = of_match,
	[RCORE_T_IMEMO] = of_imemo,
};

struct rcore_slot_only rcore_slot_only(struct rcore_ruby *ruby)
{
	const struct rcore_layout *layout = ruby->layout;
	struct rcore_slot_only rules = {.too_complex = rcore_shape_of_too_complex(ruby)};
	for (int type = 0; type <= RCORE_T_MASK; type++) {
		struct rcore_embedding *embedding = &rules.types[type];
		*embedding = sizes[type] ? rcore_embedding_of(layout, (enum rcore_type)type)
					 : (struct rcore_embedding){.any = RCORE_T_MASK};
		if (rcore_has(&layout->gen_ivtbl.ivptr))
			embedding->clear |= (uint64_t)layout->constant.fl_exivar;
	}
	return rules;
}

static bool compute(struct rcore_sizing *sizing, uint64_t *ret)
{
	*ret = 0;
	if (sizing->size < sizeof(sizing->flags))
		return false;
	memcpy(&sizing->flags, sizing->copy, sizeof(sizing->flags));
	*ret = generic_size(sizing);
	if (sizes[sizing->flags & RCORE_T_MASK])
		*ret += sizes[sizing->flags & RCORE_T_MASK](sizing);
	if (*ret > RCORE_MEMSIZE_LIMIT)
		*ret = 0;
	return !sizing->failed;
}

bool rcore_memsize(struct rcore_ruby *ruby, uint64_t object, const void *copy, size_t size,
		   uint64_t *ret)
{
	struct rcore_sizing sizing = {
		.ruby = ruby,
		.memory = ruby->memory,
		.layout = ruby->layout,
		.object = object,
		.copy = copy,
		.size = size,
	};
	return compute(&sizing, ret);
}

bool rcore_memsize_simple(const struct rcore_layout *layout, struct rcore_memory *memory,
			  uint64_t object, const void *copy, size_t size, uint64_t *ret)
{
	struct rcore_sizing sizing = {
		.memory = memory,
		.layout = layout,
		.object = object,
		.copy = copy,
		.size = size,
	};
	return compute(&sizing, ret);
}
