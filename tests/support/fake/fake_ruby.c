/* SPDX-License-Identifier: MIT */
#include "fake_ruby.h"

#include <stdlib.h>
#include <string.h>

#include "fake_ivar.h"
#include "ruby/object/value.h"

#define PUT(ruby, base, struct_id, id, value) \
	fake_put_field(&(ruby)->target, base, &(ruby)->layout.struct_id.id, value)

enum {
	UNIT = 512, /* ID_ENTRY_UNIT */
	UNIT_COUNT = 4,
	SLOT = 40, /* the smallest slot */
	FL_USER1 = 1 << 13,
};

uint64_t fake_object(struct fake_ruby *ruby, uint64_t flags, size_t size)
{
	uint64_t value = fake_alloc(&ruby->target, size < SLOT ? SLOT : size, 8);
	PUT(ruby, value, basic, flags, flags);
	return value;
}

uint64_t fake_imemo(struct fake_ruby *ruby, unsigned type, size_t size)
{
	return fake_object(ruby, RCORE_T_IMEMO | type << RCORE_FL_USHIFT, size);
}

/* Up to 3.1, the length of an embedded String is in its flags. */
static bool length_in_flags(const struct rcore_layout *layout)
{
	return layout->string.embed_ary.offset == 16;
}

uint64_t fake_string_embedded(struct fake_ruby *ruby, const char *bytes, size_t length)
{
	size_t offset = (size_t)ruby->layout.string.embed_ary.offset;
	uint64_t flags = RCORE_T_STRING;
	if (length_in_flags(&ruby->layout))
		flags |= (uint64_t)length << (RCORE_FL_USHIFT + 2);
	uint64_t value = fake_object(ruby, flags, offset + length + 1);
	if (!length_in_flags(&ruby->layout))
		fake_put(&ruby->target, value + 16, length);
	fake_write(&ruby->target, value + offset, bytes, length);
	return value;
}

uint64_t fake_string_heap(struct fake_ruby *ruby, const char *bytes, size_t length)
{
	uint64_t text = fake_alloc(&ruby->target, length + 1, 8);
	uint64_t value = fake_object(ruby, RCORE_T_STRING | FL_USER1, SLOT);
	fake_write(&ruby->target, text, bytes, length);
	PUT(ruby, value, string, ptr, text);
	PUT(ruby, value, string, len, length);
	return value;
}

uint64_t fake_string(struct fake_ruby *ruby, const char *text)
{
	size_t length = strlen(text);
	return (size_t)ruby->layout.string.embed_ary.offset + length < SLOT
		       ? fake_string_embedded(ruby, text, length)
		       : fake_string_heap(ruby, text, length);
}

uint64_t fake_array_embedded(struct fake_ruby *ruby, const uint64_t *elements, size_t count)
{
	uint64_t value = fake_object(
		ruby, RCORE_T_ARRAY | FL_USER1 | (uint64_t)count << (RCORE_FL_USHIFT + 3),
		16 + count * 8);
	for (size_t i = 0; i < count; i++)
		fake_put(&ruby->target, value + 16 + i * 8, elements[i]);
	return value;
}

uint64_t fake_array_heap(struct fake_ruby *ruby, const uint64_t *elements, size_t count)
{
	uint64_t heap = fake_alloc(&ruby->target, count * 8, 8);
	uint64_t value = fake_object(ruby, RCORE_T_ARRAY, SLOT);
	for (size_t i = 0; i < count; i++)
		fake_put(&ruby->target, heap + i * 8, elements[i]);
	PUT(ruby, value, array, heap_ptr, heap);
	PUT(ruby, value, array, heap_len, count);
	return value;
}

static uint64_t nil(const struct fake_ruby *ruby)
{
	return (uint64_t)ruby->layout.constant.qnil;
}

static void put_serial(struct fake_ruby *ruby, uint64_t serial, const char *name)
{
	uint64_t element = ruby->units + serial * 2 * sizeof(uint64_t);
	bool is_operator = serial <= (uint64_t)ruby->layout.constant.last_op_id;
	uint64_t id = is_operator ? serial : serial << ruby->layout.constant.id_scope_shift;
	fake_put(&ruby->target, element, fake_string(ruby, name));
	fake_put(&ruby->target, element + sizeof(uint64_t), rcore_static_symbol(id));
	if (serial >= ruby->serials)
		ruby->serials = serial + 1;
	PUT(ruby, ruby->symbols, symbols, last_id, ruby->serials);
}

uint64_t fake_id(struct fake_ruby *ruby, const char *name)
{
	uint64_t serial = ruby->serials;
	if (serial >= UNIT * UNIT_COUNT)
		abort();
	put_serial(ruby, serial, name);
	return serial << ruby->layout.constant.id_scope_shift;
}

/* The units are adjacent, so that the place of a serial can be computed. */
static void make_symbols(struct fake_ruby *ruby)
{
	uint64_t units[UNIT_COUNT], ids;
	ruby->symbols = fake_alloc(&ruby->target, ruby->layout.symbols.size, 8);
	ruby->units = fake_alloc(&ruby->target, UNIT_COUNT * UNIT * 2 * sizeof(uint64_t), 8);
	for (size_t i = 0; i < UNIT_COUNT * UNIT * 2; i++)
		fake_put(&ruby->target, ruby->units + i * sizeof(uint64_t), nil(ruby));
	for (size_t i = 0; i < UNIT_COUNT; i++) {
		units[i] = fake_object(ruby, RCORE_T_ARRAY, SLOT);
		PUT(ruby, units[i], array, heap_ptr, ruby->units + i * UNIT * 16);
		PUT(ruby, units[i], array, heap_len, UNIT * 2);
	}
	ids = fake_array_heap(ruby, units, UNIT_COUNT);
	PUT(ruby, ruby->symbols, symbols, ids, ids);
	for (char c = '!'; c <= '~'; c++)
		if (!strchr("_0123456789", c) && ((c | 32) < 'a' || (c | 32) > 'z'))
			put_serial(ruby, (uint64_t)c, (char[]){c, 0});
	put_serial(ruby, 134, "<=>");
	put_serial(ruby, (uint64_t)ruby->layout.constant.last_op_id - 3, "respond_to?");
	ruby->serials = (uint64_t)ruby->layout.constant.last_op_id + 1;
	fake_id(ruby, "max");
	fake_id(ruby, "min");
	ruby->classpath = fake_id(ruby, "__classpath__");
	ruby->tmp_classpath = fake_id(ruby, "__tmp_classpath__");
	ruby->attached = fake_id(ruby, "__attached__");
}

void fake_ruby_init(struct fake_ruby *ruby, const struct rcore_layout *layout)
{
	*ruby = (struct fake_ruby){.layout = *layout};
	fake_target_init(&ruby->target);
	make_symbols(ruby);
	ruby->statics = fake_alloc(&ruby->target, FAKE_STATICS_SIZE, 8);
	fake_make_shapes(ruby);
}

void fake_ruby_deinit(struct fake_ruby *ruby)
{
	fake_target_deinit(&ruby->target);
}

/* Puts them among variables of other names. */
static void put_names(struct fake_ruby *ruby, uint64_t klass, const struct fake_class *of,
		      uint64_t path)
{
	struct fake_ivar ivars[4];
	size_t count = 0;
	ivars[count++] = (struct fake_ivar){fake_id(ruby, "@other"), nil(ruby)};
	if (path)
		ivars[count++] = (struct fake_ivar){
			of->permanent ? ruby->classpath : ruby->tmp_classpath, path};
	if (of->attached)
		ivars[count++] = (struct fake_ivar){ruby->attached, of->attached};
	fake_set_ivars(ruby, klass, FAKE_IVAR_HEAP, ivars, count);
}

uint64_t fake_class(struct fake_ruby *ruby, const struct fake_class *of)
{
	const struct rcore_layout *layout = &ruby->layout;
	uint64_t flags = of->type | (of->is_singleton ? layout->traits.singleton_flag : 0);
	/* box_classext_tbl of 4.0 follows. */
	size_t size = layout->klass.size + layout->classext.size + sizeof(uint64_t);
	uint64_t klass = fake_object(ruby, flags, size);
	uint64_t path = of->path ? fake_string(ruby, of->path) : 0;
	uint64_t ext = klass + layout->klass.size;
	if (rcore_has(&layout->klass.ptr)) {
		ext = fake_alloc(&ruby->target, layout->classext.size, 8);
		PUT(ruby, klass, klass, ptr, ext);
	}
	PUT(ruby, klass, basic, klass, of->klass);
	if (rcore_has(&layout->classext.classpath)) {
		PUT(ruby, ext, classext, classpath, path);
		PUT(ruby, ext, classext, permanent_classpath, of->permanent);
		PUT(ruby, ext, classext, attached_object, of->attached);
	} else {
		put_names(ruby, klass, of, path);
	}
	return klass;
}

/*
 * Makes what succ_index_table_create() of iseq.c makes of the positions at
 * which entries begin.
 */
static uint64_t succ_index_table(struct fake_ruby *ruby, const uint32_t *positions,
				 uint32_t count, uint32_t size)
{
	enum { IMMEDIATE = 54, PER_WORD = 9, BLOCK = 512 };
	uint32_t words = size < IMMEDIATE ? (size + 8) / PER_WORD : IMMEDIATE / PER_WORD;
	uint32_t blocks = size < IMMEDIATE ? 0 : (size - IMMEDIATE + BLOCK - 1) / BLOCK;
	uint64_t table = fake_alloc(&ruby->target, words * 8 + blocks * 80, 8);
	uint32_t rank = 0;
	for (uint32_t w = 0; w < words; w++) {
		uint64_t word = 0;
		for (uint32_t i = 0; i < PER_WORD; i++) {
			rank += rank < count && positions[rank] == w * PER_WORD + i;
			word |= (uint64_t)rank << 7 * i;
		}
		fake_put(&ruby->target, table + w * 8, word);
	}
	for (uint32_t b = 0; b < blocks; b++) {
		uint64_t at = table + words * 8 + b * 80, small_ranks = 0;
		uint32_t before = rank;
		fake_put(&ruby->target, at, rank);
		for (uint32_t w = 0; w < 8; w++) {
			uint64_t bits = 0;
			if (w)
				small_ranks |= (uint64_t)(rank - before) << 9 * (w - 1);
			for (uint32_t i = 0; i < 64; i++)
				if (rank < count &&
				    positions[rank] == IMMEDIATE + b * BLOCK + w * 64 + i) {
					bits |= UINT64_C(1) << i;
					rank++;
				}
			fake_put(&ruby->target, at + 16 + w * 8, bits);
		}
		fake_put(&ruby->target, at + 8, small_ranks);
	}
	return table;
}

static void put_lines(struct fake_ruby *ruby, uint64_t body, const struct fake_iseq *of,
		      uint32_t size)
{
	size_t step = ruby->layout.insn_info.size;
	uint64_t entries = fake_alloc(&ruby->target, of->line_count * step, 8);
	for (uint32_t i = 0; i < of->line_count; i++)
		PUT(ruby, entries + i * step, insn_info, line_no, (uint64_t)of->lines[i]);
	PUT(ruby, body, iseq_body, insns_info_body, entries);
	PUT(ruby, body, iseq_body, insns_info_size, of->line_count);
	if (of->line_count > 1)
		PUT(ruby, body, iseq_body, succ_index_table,
		    succ_index_table(ruby, of->positions, of->line_count, size));
}

uint64_t fake_iseq(struct fake_ruby *ruby, const struct fake_iseq *of)
{
	const struct rcore_layout *layout = &ruby->layout;
	uint32_t size = of->size ? of->size : 4;
	uint64_t iseq = fake_imemo(ruby, layout->traits.imemo_iseq, layout->iseq.size);
	uint64_t body = fake_alloc(&ruby->target, layout->iseq_body.size, 8);
	uint64_t path = fake_string(ruby, of->path), label = fake_string(ruby, of->label);
	if (of->path_and_realpath)
		path = fake_array_embedded(ruby, (uint64_t[]){path, nil(ruby)}, 2);
	PUT(ruby, iseq, iseq, body, body);
	PUT(ruby, body, iseq_body, type, of->type);
	PUT(ruby, body, iseq_body, iseq_size, size);
	PUT(ruby, body, iseq_body, iseq_encoded, fake_alloc(&ruby->target, size * 8, 8));
	PUT(ruby, body, iseq_body, pathobj, path);
	PUT(ruby, body, iseq_body, label, label);
	PUT(ruby, body, iseq_body, base_label, label);
	/* Up to 3.1, a VALUE. */
	PUT(ruby, body, iseq_body, first_lineno,
	    layout->iseq_body.first_lineno.size == 8 ? (uint64_t)of->first_line * 2 + 1
						     : (uint64_t)of->first_line);
	PUT(ruby, body, iseq_body, parent_iseq, of->parent);
	PUT(ruby, body, iseq_body, local_iseq, of->local ? of->local : iseq);
	PUT(ruby, body, iseq_body, builtin_attrs, of->is_c_trace ? 8 : 0);
	put_lines(ruby, body, of, size);
	return iseq;
}

uint64_t fake_iseq_code(struct fake_ruby *ruby, uint64_t iseq)
{
	uint64_t body = 0, code = 0;
	rcore_read_field(&ruby->target.memory, iseq, &ruby->layout.iseq.body, &body);
	rcore_read_field(&ruby->target.memory, body, &ruby->layout.iseq_body.iseq_encoded,
			 &code);
	return code;
}

uint64_t fake_method(struct fake_ruby *ruby, enum rcore_method_type type, uint64_t owner,
		     uint64_t id, uint64_t body)
{
	const struct rcore_layout *layout = &ruby->layout;
	uint64_t entry = fake_imemo(ruby, layout->traits.imemo_ment, layout->cme.size);
	uint64_t definition = fake_alloc(&ruby->target, layout->method_def.size, 8);
	PUT(ruby, entry, cme, defined_class, owner);
	PUT(ruby, entry, cme, owner, owner);
	PUT(ruby, entry, cme, called_id, id);
	PUT(ruby, entry, cme, def, definition);
	PUT(ruby, definition, method_def, type, type);
	PUT(ruby, definition, method_def, original_id, id);
	if (type == RCORE_METHOD_CFUNC)
		PUT(ruby, definition, method_def, cfunc_func, body);
	else
		PUT(ruby, definition, method_def, iseqptr, body);
	return entry;
}

uint64_t fake_env(struct fake_ruby *ruby, uint64_t me_cref, uint64_t outer, uint64_t flags)
{
	uint64_t env = fake_alloc(&ruby->target, 3 * sizeof(uint64_t), 8);
	fake_put(&ruby->target, env, me_cref);
	fake_put(&ruby->target, env + 8, outer);
	fake_put(&ruby->target, env + 16, flags);
	return env + 16;
}

/* As heap_page_allocate() places the first slot of a page. */
static uint64_t first_slot(uint64_t body, size_t unit, size_t slot_size)
{
	uint64_t start = (body + sizeof(uint64_t) + unit - 1) / unit * unit;
	return (start - body) / unit == 1 ? start + slot_size - unit : start;
}

static uint64_t put_page(struct fake_ruby *ruby, const struct fake_page *page, uint64_t *start)
{
	const struct rcore_layout *layout = &ruby->layout;
	size_t align = layout->traits.heap_page_align;
	size_t slot_size = rcore_has(&layout->heap_page.slot_size)
				   ? page->slot_size
				   : layout->traits.default_slot_size;
	uint64_t header = fake_alloc(&ruby->target, layout->heap_page.size, 8);
	uint64_t body = fake_alloc(&ruby->target, align, align);
	*start = first_slot(body, layout->traits.default_slot_size, slot_size);
	fake_put(&ruby->target, body, header);
	PUT(ruby, header, heap_page, slot_size, slot_size);
	/* The rest is empty. */
	PUT(ruby, header, heap_page, total_slots, (align - (*start - body)) / slot_size);
	PUT(ruby, header, heap_page, start, *start);
	for (size_t i = 0; i < page->slots; i++)
		fake_put(&ruby->target, *start + i * slot_size, page->flags[i]);
	return header;
}

uint64_t fake_objspace(struct fake_ruby *ruby, const struct fake_page *pages, size_t count,
		       uint64_t *starts)
{
	const struct rcore_layout *layout = &ruby->layout;
	size_t head = layout->traits.heap_pages_darray ? layout->darray.size : 0;
	uint64_t objspace = fake_alloc(&ruby->target, layout->objspace.size, 8);
	uint64_t list = fake_alloc(&ruby->target, head + count * sizeof(uint64_t), 8);
	for (size_t i = 0; i < count; i++) {
		uint64_t start;
		fake_put(&ruby->target, list + head + i * sizeof(uint64_t),
			 put_page(ruby, &pages[i], &start));
		if (starts)
			starts[i] = start;
	}
	if (head)
		PUT(ruby, list, darray, length, count);
	PUT(ruby, objspace, objspace, heap_pages_sorted, list);
	PUT(ruby, objspace, objspace, heap_pages_allocated, count);
	return objspace;
}
