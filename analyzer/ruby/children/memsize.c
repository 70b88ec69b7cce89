/* SPDX-License-Identifier: MIT */
#include "ruby/children/memsize.h"

#include <string.h>

#include "ruby/children/children_private.h"
#include "ruby/object/class.h"
#include "ruby/object/data.h"
#include "ruby/object/fields.h"
#include "ruby/object/generic_ivar.h"
#include "ruby/object/id_table.h"
#include "ruby/object/shape.h"

/* A length that no object has. */
#define LENGTH_LIMIT (UINT64_C(1) << 44)
enum { POWER_LIMIT = 40, TABLE_LIMIT = 1 << 20, WORD = sizeof(uint64_t) };

struct sizing {
	struct rcore_ruby *ruby;
	const struct rcore_layout *layout;
	uint64_t object, flags;
	const void *copy;
	size_t size;
	bool failed; /* not all of it is known */
};

static uint64_t field(struct sizing *sizing, const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) && !rcore_field_of(sizing->copy, sizing->size, field, &value))
		sizing->failed = true;
	return value;
}

static uint64_t read_at(struct sizing *sizing, uint64_t base, const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) && rcore_read_field(sizing->ruby->memory, base, field, &value)) {
		sizing->failed = true;
		return 0;
	}
	return value;
}

#define FIELD(struct_id, id)      field(sizing, &sizing->layout->struct_id.id)
#define READ(base, struct_id, id) read_at(sizing, base, &sizing->layout->struct_id.id)

static uint64_t bounded(struct sizing *sizing, uint64_t count, uint64_t each)
{
	if (count <= LENGTH_LIMIT / (each ? each : 1))
		return count * each;
	sizing->failed = true;
	return 0;
}

/* st_memsize() of st.c. */
static uint64_t st_size(struct sizing *sizing, uint64_t table)
{
	uint64_t power = READ(table, st_table, entry_power), bytes = 0;
	if (!table)
		return 0;
	if (power > POWER_LIMIT) {
		sizing->failed = true;
		return 0;
	}
	if (READ(table, st_table, bins)) {
		uint64_t bin_power = READ(table, st_table, bin_power);
		uint64_t index = READ(table, st_table, size_ind);
		if (bin_power > POWER_LIMIT || index > 3)
			sizing->failed = true;
		else
			bytes = (UINT64_C(1) << bin_power) << index;
		bytes = (bytes + WORD - 1) / WORD * WORD;
	}
	return sizing->layout->st_table.size + bytes +
	       ((uint64_t)sizing->layout->st_entry.size << power);
}

static uint64_t id_table_size(struct sizing *sizing, uint64_t table)
{
	if (!table)
		return 0;
	return sizing->layout->id_table.size +
	       bounded(sizing, READ(table, id_table, capacity), sizing->layout->id_item.size);
}

/* rb_enc_mbminlen() of the encodings that every Ruby has (encindex.h). */
static uint64_t terminator_length(uint64_t flags)
{
	enum { ENCODING_SHIFT = RCORE_FL_USHIFT + 10, ENCODING_MASK = 0x7f };
	static const uint8_t lengths[] = {1, 1, 1, 2, 2, 4, 4, 2, 4};
	uint64_t index = flags >> ENCODING_SHIFT & ENCODING_MASK;
	return index < sizeof(lengths) ? lengths[index] : 1;
}

static uint64_t of_string(struct sizing *sizing)
{
	const uint64_t noembed = (uint64_t)sizing->layout->constant.string_noembed;
	const uint64_t others = sizing->layout->traits.shared_flag | RCORE_FL_USER(18);
	if ((sizing->flags & (noembed | others)) != noembed)
		return 0;
	return bounded(sizing, FIELD(string, shared), 1) + terminator_length(sizing->flags);
}

static uint64_t of_array(struct sizing *sizing)
{
	/* RARRAY_EMBED_FLAG, RARRAY_SHARED_ROOT_FLAG */
	const uint64_t embedded = RCORE_FL_USER(1);
	const uint64_t root = sizing->layout->traits.shared_root_flag;
	if (sizing->flags & (embedded | sizing->layout->traits.shared_flag))
		return 0;
	return bounded(sizing,
		       sizing->flags & root ? FIELD(array, heap_len)
					    : FIELD(array, shared_root),
		       WORD);
}

static uint64_t of_hash(struct sizing *sizing)
{
	const uint64_t is_st = RCORE_FL_USER(3);     /* RHASH_ST_TABLE_FLAG */
	if (!rcore_has(&sizing->layout->hash.table)) /* in the slot */
		return sizing->flags & is_st
			       ? st_size(sizing, sizing->object + sizing->layout->hash.size) -
					 sizing->layout->st_table.size
			       : 0;
	uint64_t table = FIELD(hash, table);
	if (sizing->flags & is_st)
		return st_size(sizing, table);
	return table ? sizing->layout->ar_table.size : 0;
}

/* The capacity of a shape's object; up to 3.1 there are no shapes. */
static uint64_t shape_capacity(struct sizing *sizing, uint32_t id)
{
	uint64_t place = id & sizing->layout->traits.shape_id_mask;
	if (!sizing->ruby->shape_list) {
		sizing->failed = true;
		return 0;
	}
	return READ(sizing->ruby->shape_list + place * sizing->layout->shape.size, shape,
		    capacity);
}

static uint64_t of_object(struct sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	bool embedded = layout->constant.robject_heap == RCORE_NO_CONSTANT
				? sizing->flags & (uint64_t)layout->constant.robject_embed
				: !(sizing->flags & (uint64_t)layout->constant.robject_heap);
	struct rcore_fields fields;
	if (embedded)
		return 0;
	if (!layout->traits.shapes)
		return FIELD(object, ivptr) ? bounded(sizing, FIELD(object, numiv), WORD) : 0;
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
		return st_size(sizing, fields.at);
	return bounded(sizing, shape_capacity(sizing, rcore_shape_id(sizing->flags)), WORD);
}

static uint64_t of_struct(struct sizing *sizing)
{
	enum { EMBED_LENGTH_SHIFT = RCORE_FL_USHIFT + 1 };
	if (sizing->flags >> EMBED_LENGTH_SHIFT & sizing->layout->traits.struct_embed_mask ||
	    !FIELD(rstruct, heap_ptr))
		return 0;
	return bounded(sizing, FIELD(rstruct, heap_len), WORD);
}

static uint64_t of_bignum(struct sizing *sizing)
{
	const uint64_t embedded = RCORE_FL_USER(2); /* BIGNUM_EMBED_FLAG */
	if (sizing->flags & embedded || !FIELD(bignum, digits))
		return 0;
	/* BDIGIT */
	return bounded(sizing, FIELD(bignum, heap_len), sizeof(uint32_t));
}

/* onig_memsize() of regcomp.c. A chain has one part, or a few. */
static uint64_t of_regexp(struct sizing *sizing)
{
	enum { CHAIN_LIMIT = 64, MAP_SIZE = 256 * sizeof(int) };
	uint64_t bytes = 0, pattern = FIELD(regexp, ptr);
	for (int steps = 0; pattern && steps < CHAIN_LIMIT; steps++) {
		bytes += sizing->layout->pattern.size;
		if (READ(pattern, pattern, code))
			bytes += READ(pattern, pattern, alloc);
		if (READ(pattern, pattern, exact))
			bytes += bounded(sizing,
					 READ(pattern, pattern, exact_end) -
						 READ(pattern, pattern, exact),
					 1);
		if (READ(pattern, pattern, int_map))
			bytes += MAP_SIZE;
		if (READ(pattern, pattern, int_map_backward))
			bytes += MAP_SIZE;
		if (READ(pattern, pattern, repeat_range))
			bytes += bounded(sizing, READ(pattern, pattern, repeat_range_alloc),
					 sizing->layout->repeat_range.size);
		pattern = READ(pattern, pattern, chain);
	}
	return bytes;
}

/* onig_region_memsize() of regexec.c counts its struct, which is in rmatch. */
static uint64_t of_match(struct sizing *sizing)
{
	enum { REGISTERS_SIZE = 24, REGISTER_SIZE = 2 * WORD };
	const struct rcore_layout *layout = sizing->layout;
	bool apart = rcore_has(&layout->match.rmatch);
	uint64_t at = apart ? FIELD(match, rmatch) : sizing->object + layout->match.size;
	if (!at)
		return 0;
	return REGISTERS_SIZE + bounded(sizing, READ(at, rmatch, allocated), REGISTER_SIZE) +
	       bounded(sizing, READ(at, rmatch, offsets_allocated), layout->match_offset.size) +
	       (apart ? layout->rmatch.size : 0);
}

/* rb_io_memsize() of io.c. Converters have sizes of their own. */
static uint64_t of_file(struct sizing *sizing)
{
	uint64_t io = FIELD(file, fptr);
	if (!io)
		return 0;
	if (READ(io, io, readconv) || READ(io, io, writeconv))
		sizing->failed = true;
	return sizing->layout->io.size + READ(io, io, rbuf_capacity) +
	       READ(io, io, wbuf_capacity) + READ(io, io, cbuf_capacity);
}

/* cc_table_memsize() of gc.c; 3.0 to 3.4. */
static uint64_t call_caches_size(struct sizing *sizing, uint64_t table)
{
	struct rcore_id_iterator iterator;
	uint64_t serial, entries, bytes = id_table_size(sizing, table);
	bool found = true;
	if (!table)
		return 0;
	struct rcore_error *err = rcore_id_table_begin(&iterator, sizing->ruby, table);
	while (!err && found) {
		err = rcore_id_table_next(&iterator, &found, &serial, &entries);
		if (!err && found)
			bytes += sizing->layout->cc_entries.size +
				 bounded(sizing, READ(entries, cc_entries, capacity),
					 sizing->layout->cc_entry.size);
	}
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	return bytes;
}

/* SIZEOF_VALUE << bit_length(count) */
static uint64_t class_ivars_size(struct sizing *sizing)
{
	uint64_t count = 0;
	uint64_t place = rcore_shape_id(sizing->flags);
	unsigned bits = 0;
	if (!sizing->ruby->shape_list)
		sizing->failed = true;
	else
		count = READ(sizing->ruby->shape_list + place * sizing->layout->shape.size,
			     shape, next_index);
	while (count >> bits && bits < POWER_LIMIT)
		bits++;
	return (uint64_t)WORD << bits;
}

static uint64_t method_table_of(struct sizing *sizing, uint64_t ext)
{
	return rcore_has(&sizing->layout->klass.m_tbl) ? FIELD(klass, m_tbl)
						       : READ(ext, classext, m_tbl);
}

static uint64_t of_class(struct sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	/* RCLASS_SUPERCLASSES_INCLUDE_SELF */
	const uint64_t with_self = RCORE_FL_USER(2);
	uint64_t ext = 0, bytes, table;
	struct rcore_error *err = rcore_classext(sizing->ruby, sizing->object, &ext);
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	if (!ext)
		return 0;
	bytes = id_table_size(sizing, method_table_of(sizing, ext));
	bytes += id_table_size(sizing, READ(ext, classext, const_tbl));
	if (rcore_has(&layout->classext.superclasses_with_self)) { /* 4.0 */
		if (READ(ext, classext, superclasses_with_self))
			bytes += 2 * WORD * (READ(ext, classext, superclass_depth) + 1);
		return bytes;
	}
	/* counted twice, up to 3.1 */
	if (rcore_has(&layout->classext.iv_tbl)) {
		table = READ(ext, classext, iv_tbl);
		bytes += table ? 2 * st_size(sizing, table) : 0;
		table = READ(ext, classext, iv_index_tbl);
		bytes += table ? st_size(sizing, table) : 0;
		bytes += layout->classext.size;
	} else {
		bytes += class_ivars_size(sizing);
		if (sizing->flags & with_self)
			bytes += WORD * (READ(ext, classext, superclass_depth) + 1);
	}
	bytes += id_table_size(sizing, READ(ext, classext, cvc_tbl));
	return bytes + call_caches_size(sizing, READ(ext, classext, cc_tbl));
}

static uint64_t of_iclass(struct sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	uint64_t ext = 0, bytes = 0;
	bool owns;
	struct rcore_error *err = rcore_classext(sizing->ruby, sizing->object, &ext);
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	if (!ext)
		return 0;
	if (rcore_has(&layout->classext.is_origin))
		owns = READ(ext, classext, is_origin) &&
		       !READ(ext, classext, origin_shared_mtbl);
	else
		owns = sizing->flags & layout->traits.iclass_origin_flag &&
		       !(sizing->flags & layout->traits.iclass_shared_mtbl_flag);
	if (owns)
		bytes = id_table_size(sizing, method_table_of(sizing, ext));
	if (!rcore_has(&layout->classext.super))
		bytes += call_caches_size(sizing, READ(ext, classext, cc_tbl));
	return bytes;
}

/* Names of constants that a cache is of; each list ends with 0. 3.2 on. */
static uint64_t segments_size(struct sizing *sizing, uint64_t body)
{
	enum { SEGMENT_LIMIT = 4096 };
	const struct rcore_layout *layout = sizing->layout;
	uint64_t count = READ(body, iseq_body, ic_size), bytes = 0;
	uint64_t at = READ(body, iseq_body, is_entries) +
		      layout->inline_storage.size * (READ(body, iseq_body, ivc_size) +
						     READ(body, iseq_body, icvarc_size) +
						     READ(body, iseq_body, ise_size));
	if (!rcore_has(&layout->inline_constant.segments) || count > TABLE_LIMIT)
		return 0;
	for (uint64_t i = 0; i < count; i++, at += layout->inline_storage.size) {
		uint64_t list = READ(at, inline_constant, segments), id = 0;
		for (unsigned k = 0; list && k < SEGMENT_LIMIT; k++) {
			if (rcore_read_u64(sizing->ruby->memory, list + k * WORD, &id))
				sizing->failed = true;
			bytes += WORD;
			if (!id || sizing->failed)
				break;
		}
	}
	return bytes;
}

/* rb_iseq_memsize() of iseq.c. */
static uint64_t of_iseq(struct sizing *sizing)
{
	enum { BITS = 64 };
	const struct rcore_layout *layout = sizing->layout;
	/* ISEQ_NOT_LOADED_YET, ISEQ_USE_COMPILE_DATA */
	const uint64_t compiling = RCORE_IMEMO_FL_USER(2);
	const uint64_t other = RCORE_IMEMO_FL_USER(1) | compiling;
	uint64_t body = FIELD(iseq, body), keyword, table, bytes;
	if (sizing->flags & compiling)
		sizing->failed = true;
	if (sizing->flags & other || !body)
		return 0;
	uint64_t size = READ(body, iseq_body, iseq_size);
	bytes = layout->iseq_body.size + bounded(sizing, size, WORD);
	bytes += bounded(sizing, READ(body, iseq_body, insns_info_size),
			 layout->insn_info.size + sizeof(uint32_t));
	bytes += bounded(sizing, READ(body, iseq_body, local_table_size), WORD);
	if (rcore_has(&layout->iseq_body.mark_bits))
		bytes += (size + BITS - 1) / BITS * WORD;
	table = READ(body, iseq_body, catch_table);
	if (table)
		bytes += (uint64_t)layout->catch_table.entries.offset +
			 bounded(sizing, READ(table, catch_table, count),
				 layout->catch_entry.size);
	bytes += bounded(sizing, READ(body, iseq_body, opt_num) + 1, WORD);
	keyword = READ(body, iseq_body, keyword);
	if (keyword)
		bytes += layout->keyword.size +
			 bounded(sizing,
				 READ(keyword, keyword, num) -
					 READ(keyword, keyword, required_num),
				 WORD);
	bytes += bounded(sizing,
			 READ(body, iseq_body, is_size) + READ(body, iseq_body, ic_size) +
				 READ(body, iseq_body, ise_size) +
				 READ(body, iseq_body, ivc_size) +
				 READ(body, iseq_body, icvarc_size),
			 layout->inline_storage.size);
	bytes += segments_size(sizing, body);
	/* Up to 2.7, calls with keywords are larger. */
	if (READ(body, iseq_body, ci_kw_size))
		sizing->failed = true;
	return bytes + bounded(sizing, READ(body, iseq_body, ci_size), layout->call_data.size);
}

static uint64_t of_imemo(struct sizing *sizing)
{
	const struct rcore_traits *traits = &sizing->layout->traits;
	unsigned type = (unsigned)rcore_imemo_type(sizing->flags);
	if (type == traits->imemo_ment)
		return WORD;
	if (type == traits->imemo_iseq)
		return of_iseq(sizing);
	if (type == traits->imemo_env)
		return bounded(sizing, FIELD(env, count), WORD);
	if (type == traits->imemo_tmpbuf)
		return bounded(sizing, FIELD(tmpbuf, count), WORD);
	if (type == sizing->layout->constant.imemo_fields)
		return of_object(sizing);
	return 0;
}

/* rb_objspace_data_type_memsize() of gc.c. */
static uint64_t of_data(struct sizing *sizing)
{
	/* RUBY_TYPED_EMBEDDABLE, 3.3 on */
	const uint64_t embeddable = RCORE_FL_USER(3);
	struct rcore_data data;
	struct rcore_error *err = rcore_data_head(sizing->ruby, sizing->object, &data);
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	if (err || !data.is_typed || !data.data)
		return 0;
	if (READ(data.type, data_type, dsize) ||
	    (READ(data.type, data_type, flags) & embeddable && !data.is_embedded))
		sizing->failed = true;
	return 0;
}

/* Up to 3.4: rb_generic_ivar_memsize() of variable.c. */
static uint64_t generic_size(struct sizing *sizing)
{
	const struct rcore_layout *layout = sizing->layout;
	uint64_t table = 0;
	struct rcore_fields fields;
	enum rcore_type type = sizing->flags & RCORE_T_MASK;
	if (!rcore_has(&layout->gen_ivtbl.ivptr) || type == RCORE_T_IMEMO ||
	    !(sizing->flags & (uint64_t)layout->constant.fl_exivar))
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
		return layout->gen_ivtbl.size + st_size(sizing, fields.at);
	return (uint64_t)layout->gen_ivtbl.ivptr.offset +
	       bounded(sizing, READ(table, gen_ivtbl, numiv), WORD);
}

typedef uint64_t size_of(struct sizing *sizing);

static size_of *const sizes[RCORE_T_MASK + 1] = {
	[RCORE_T_OBJECT] = of_object, [RCORE_T_CLASS] = of_class,
	[RCORE_T_MODULE] = of_class,  [RCORE_T_ICLASS] = of_iclass,
	[RCORE_T_STRING] = of_string, [RCORE_T_REGEXP] = of_regexp,
	[RCORE_T_ARRAY] = of_array,   [RCORE_T_HASH] = of_hash,
	[RCORE_T_STRUCT] = of_struct, [RCORE_T_BIGNUM] = of_bignum,
	[RCORE_T_FILE] = of_file,     [RCORE_T_DATA] = of_data,
	[RCORE_T_MATCH] = of_match,   [RCORE_T_IMEMO] = of_imemo,
};

bool rcore_memsize(struct rcore_ruby *ruby, uint64_t object, const void *copy, size_t size,
		   uint64_t *ret)
{
	struct sizing sizing = {
		.ruby = ruby,
		.layout = ruby->layout,
		.object = object,
		.copy = copy,
		.size = size,
	};
	*ret = 0;
	if (size < sizeof(sizing.flags))
		return false;
	memcpy(&sizing.flags, copy, sizeof(sizing.flags));
	*ret = generic_size(&sizing);
	if (sizes[sizing.flags & RCORE_T_MASK])
		*ret += sizes[sizing.flags & RCORE_T_MASK](&sizing);
	if (*ret > LENGTH_LIMIT)
		*ret = 0;
	return !sizing.failed;
}
