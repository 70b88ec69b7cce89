/* SPDX-License-Identifier: MIT */
/*
 * Lines of ObjectSpace.dump_all: dump_object() of ext/objspace/objspace_dump.c,
 * and rb_obj_gc_flags() of gc.c (4.0: rb_gc_object_metadata()).
 */
#include "ruby/children/line.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "ruby/children/children_private.h"
#include "ruby/children/graph.h"
#include "ruby/children/imemo_name.h"
#include "ruby/children/memsize.h"
#include "ruby/children/page_bits.h"
#include "ruby/object/array.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "ruby/object/data.h"
#include "ruby/object/embedded.h"
#include "ruby/object/encoding.h"
#include "ruby/object/hash.h"
#include "ruby/heap/heap.h"
#include "ruby/object/shape.h"
#include "ruby/object/string.h"
#include "ruby/symbol/id.h"

enum {
	TEXT_LIMIT = 1 << 24, /* bytes of one String */
	FREEZE = 1 << 11,     /* RUBY_FL_FREEZE */
	SHAREABLE = 1 << 8,
	CODERANGE_SHIFT = RCORE_FL_USHIFT + 8,
	CODERANGE_MASK = 3,
	CODERANGE_7BIT = 1,
};

struct lines {
	struct rcore_children children;
	struct rcore_ruby *ruby;
	rcore_line_visit *visit;
	void *context;
	struct rcore_heap_line line;
	uint64_t klass;           /* not among the references */
	char *text;               /* TEXT_LIMIT bytes, or NULL until needed */
	struct rcore_arena arena; /* names of this object */
	struct rcore_page_bits bits;
	size_t page_count;
	struct rcore_error *err;
};

static struct rcore_attribute *add(struct lines *lines, const char *key,
				   enum rcore_attribute_kind kind)
{
	struct rcore_heap_line *line = &lines->line;
	/* The last one is overwritten; there are never that many. */
	if (line->attribute_count == RCORE_ATTRIBUTE_LIMIT)
		line->attribute_count--;
	struct rcore_attribute *attribute = &line->attributes[line->attribute_count++];
	*attribute = (struct rcore_attribute){.key = key, .kind = kind};
	return attribute;
}

static void add_number(struct lines *lines, const char *key, uint64_t number)
{
	add(lines, key, RCORE_ATTRIBUTE_NUMBER)->number = number;
}

static void add_address(struct lines *lines, const char *key, uint64_t address)
{
	add(lines, key, RCORE_ATTRIBUTE_ADDRESS)->number = address;
}

static void add_true(struct lines *lines, const char *key, bool value)
{
	if (value)
		add(lines, key, RCORE_ATTRIBUTE_TRUE);
}

static void add_text(struct lines *lines, const char *key, enum rcore_attribute_kind kind,
		     const char *text)
{
	if (!text)
		return;
	struct rcore_attribute *attribute = add(lines, key, kind);
	attribute->text = text;
	attribute->length = strlen(text);
}

/* Returns a copy of a text that belongs to something shorter-lived. */
static const char *keep(struct lines *lines, const char *text)
{
	const char *copy = rcore_arena_copy(&lines->arena, text);
	if (text && !copy && !lines->err)
		lines->err = rcore_error_no_memory();
	return copy;
}

static bool is_ascii(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] & 0x80)
			return false;
	return true;
}

/* dump_append_string_content() */
static void add_contents(struct lines *lines, uint64_t string)
{
	uint64_t bytes, length, flags, capacity;
	const struct rcore_layout *layout = lines->ruby->layout;
	struct rcore_error *err = rcore_flags(lines->ruby, string, &flags);
	if (!err)
		err = rcore_string_bytes(lines->ruby, string, &bytes, &length);
	if (err) {
		rcore_child_failed(&lines->children, err);
		return;
	}
	add_number(lines, "bytesize", length);
	if (flags & (uint64_t)layout->constant.string_noembed &&
	    !(flags & layout->traits.shared_flag)) {
		capacity = rcore_child_read(&lines->children, string, &layout->string.shared);
		if (capacity != length)
			add_number(lines, "capacity", capacity);
	}
	unsigned range = flags >> CODERANGE_SHIFT & CODERANGE_MASK;
	if (length > TEXT_LIMIT || range > CODERANGE_7BIT || lines->ruby->hides_text)
		return;
	if (!lines->text)
		lines->text = malloc(TEXT_LIMIT);
	if (!lines->text) {
		lines->err = lines->err ? lines->err : rcore_error_no_memory();
		return;
	}
	if (length && rcore_read(lines->ruby->memory, bytes, lines->text, length)) {
		lines->children.state |= RCORE_HEAP_PARTIAL;
		return;
	}
	if (!is_ascii(lines->text, length))
		return;
	struct rcore_attribute *attribute = add(lines, "value", RCORE_ATTRIBUTE_TEXT);
	attribute->text = lines->text;
	attribute->length = length;
}

static void of_string(struct lines *lines, uint64_t flags)
{
	/*
	 * By enum rcore_encoding_index. The name of a binary one is left out.
	 */
	static const char *const encodings[] = {
		NULL,       "UTF-8",  "US-ASCII", "UTF-16BE", "UTF-16LE", "UTF-32BE",
		"UTF-32LE", "UTF-16", "UTF-32",   "UTF8-MAC", "EUC-JP",   "Windows-31J",
	};
	static const char *const ranges[] = {"unknown", "7bit", "valid", "broken"};
	const struct rcore_layout *layout = lines->ruby->layout;
	const bool noembed = flags & (uint64_t)layout->constant.string_noembed;
	const bool shared = noembed && flags & layout->traits.shared_flag;
	add_true(lines, "embedded", !noembed);
	add_true(lines, "chilled", flags & layout->traits.chilled_flags);
	add_true(lines, "fstring", flags & RCORE_FL_USER(17));
	if (shared)
		add_true(lines, "shared", true);
	else
		add_contents(lines, lines->children.object);
	unsigned encoding = rcore_encoding_index(flags);
	if (encoding < RCORE_COUNT(encodings))
		add_text(lines, "encoding", RCORE_ATTRIBUTE_WORD, encodings[encoding]);
	add_text(lines, "coderange", RCORE_ATTRIBUTE_WORD,
		 ranges[flags >> CODERANGE_SHIFT & CODERANGE_MASK]);
	add_true(lines, "broken", (flags >> CODERANGE_SHIFT & CODERANGE_MASK) == 3);
}

static void of_symbol(struct lines *lines, uint64_t flags)
{
	bool is_symbol;
	uint64_t string;
	(void)flags;
	struct rcore_error *err =
		rcore_symbol_string(lines->ruby, lines->children.object, &is_symbol, &string);
	if (!err && is_symbol)
		add_contents(lines, string);
	rcore_child_failed(&lines->children, err);
}

static void of_hash(struct lines *lines, uint64_t flags)
{
	struct rcore_hash_iterator iterator;
	struct rcore_error *err =
		rcore_hash_begin(&iterator, lines->ruby, lines->children.object);
	if (!err)
		add_number(lines, "size", iterator.count);
	if (flags & RCORE_FL_USER(2)) /* RHASH_PROC_DEFAULT */
		add_address(lines, "default",
			    RCORE_CHILD_FIELD(&lines->children, hash, ifnone));
	rcore_child_failed(&lines->children, err);
}

static void of_array(struct lines *lines, uint64_t flags)
{
	uint64_t elements, length = 0;
	const bool embedded = flags & RCORE_FL_USER(1); /* RARRAY_EMBED_FLAG */
	struct rcore_error *err =
		rcore_array(lines->ruby, lines->children.object, &elements, &length);
	if (!err)
		add_number(lines, "length", length);
	add_true(lines, "shared",
		 length && !embedded && flags & lines->ruby->layout->traits.shared_flag);
	add_true(lines, "embedded", embedded);
	rcore_child_failed(&lines->children, err);
}

/* rb_class_get_superclass(): RCLASS_SUPER */
static void add_superclass(struct lines *lines)
{
	uint64_t super = 0;
	struct rcore_error *err =
		rcore_class_super(lines->ruby, lines->children.object, &super);
	if (!err && super)
		add_address(lines, "superclass", super);
	rcore_child_failed(&lines->children, err);
}

static void of_iclass(struct lines *lines, uint64_t flags)
{
	(void)flags;
	add_superclass(lines);
}

static void of_class(struct lines *lines, uint64_t flags)
{
	struct rcore_class_name name;
	const struct rcore_layout *layout = lines->ruby->layout;
	add_superclass(lines);
	if (!lines->klass)
		return;
	struct rcore_error *err = rcore_class_name(lines->ruby, lines->children.object, &name);
	if (!err && name.path && !name.is_singleton)
		add_text(lines, "name", RCORE_ATTRIBUTE_NAME, name.path);
	rcore_error_free(err);
	add_true(lines, "singleton",
		 (flags & RCORE_T_MASK) == RCORE_T_CLASS &&
			 flags & layout->traits.singleton_flag);
}

static void of_data(struct lines *lines, uint64_t flags)
{
	struct rcore_data data;
	char name[RCORE_DATA_NAME_SIZE];
	(void)flags;
	struct rcore_error *err = rcore_data_head(lines->ruby, lines->children.object, &data);
	if (!err && data.is_typed)
		err = rcore_data_type_name(lines->ruby, data.type, name, sizeof(name));
	if (!err && data.is_typed)
		add_text(lines, "struct", RCORE_ATTRIBUTE_NAME, keep(lines, name));
	rcore_child_failed(&lines->children, err);
}

static void of_float(struct lines *lines, uint64_t flags)
{
	uint64_t bits = RCORE_CHILD_FIELD(&lines->children, float_, value);
	(void)flags;
	memcpy(&add(lines, "value", RCORE_ATTRIBUTE_FLOAT)->real, &bits, sizeof(bits));
}

static void of_object(struct lines *lines, uint64_t flags)
{
	const struct rcore_layout *layout = lines->ruby->layout;
	struct rcore_shape shape;
	bool embedded = rcore_has_embedded_fields(layout, flags);
	add_true(lines, "embedded", embedded);
	if (!layout->traits.shapes) {
		add_number(lines, "ivars",
			   embedded ? layout->object.ary.size / sizeof(uint64_t)
				    : RCORE_CHILD_FIELD(&lines->children, object, numiv));
		return;
	}
	struct rcore_error *err = rcore_shape(lines->ruby, rcore_shape_id(flags), &shape);
	if (!err && shape.is_too_complex)
		add_true(lines, "too_complex_shape", true);
	else if (!err)
		add_number(lines, "ivars", (uint32_t)(shape.index + 1));
	rcore_child_failed(&lines->children, err);
}

static void of_file(struct lines *lines, uint64_t flags)
{
	uint64_t io = RCORE_CHILD_FIELD(&lines->children, file, fptr);
	(void)flags;
	if (io)
		add(lines, "fd", RCORE_ATTRIBUTE_SIGNED)->number =
			RCORE_CHILD_READ(&lines->children, io, io, fd);
}

static void add_id(struct lines *lines, const char *key, uint64_t id)
{
	const char *name;
	struct rcore_error *err = id ? rcore_id_name(lines->ruby, id, &name) : NULL;
	if (id && !err)
		add_text(lines, key, RCORE_ATTRIBUTE_NAME, name);
	rcore_error_free(err);
}

static void of_imemo(struct lines *lines, uint64_t flags)
{
	const struct rcore_layout *layout = lines->ruby->layout;
	const struct rcore_traits *traits = &layout->traits;
	const unsigned type = (unsigned)rcore_imemo_type(flags);
	add_text(lines, "imemo_type", RCORE_ATTRIBUTE_WORD, rcore_imemo_name(layout, type));
	if (traits->imemo_callinfo && type == traits->imemo_callinfo)
		add_id(lines, "mid", RCORE_CHILD_FIELD(&lines->children, callinfo, mid));
	if (!traits->imemo_callcache || type != traits->imemo_callcache)
		return;
	uint64_t klass = RCORE_CHILD_FIELD(&lines->children, callcache, klass);
	uint64_t cme = RCORE_CHILD_FIELD(&lines->children, callcache, cme);
	if (!rcore_child_is_imemo(&lines->children, cme, traits->imemo_ment))
		return;
	add_id(lines, "called_id", RCORE_CHILD_READ(&lines->children, cme, cme, called_id));
	if (rcore_is_object(lines->ruby, klass))
		add_address(lines, "receiver_class", klass);
}

typedef void describe(struct lines *lines, uint64_t flags);

static describe *const descriptions[RCORE_T_MASK + 1] = {
	[RCORE_T_OBJECT] = of_object, [RCORE_T_CLASS] = of_class,   [RCORE_T_MODULE] = of_class,
	[RCORE_T_ICLASS] = of_iclass, [RCORE_T_STRING] = of_string, [RCORE_T_ARRAY] = of_array,
	[RCORE_T_HASH] = of_hash,     [RCORE_T_FILE] = of_file,     [RCORE_T_DATA] = of_data,
	[RCORE_T_SYMBOL] = of_symbol, [RCORE_T_FLOAT] = of_float,   [RCORE_T_IMEMO] = of_imemo,
};

static void add_reference(void *context, const struct rcore_child *child)
{
	struct lines *lines = context;
	struct rcore_heap_line *line = &lines->line;
	if (child->value == lines->klass || lines->err)
		return;
	/* A word that only looks like a reference must lead to a used slot. */
	if (child->kind == RCORE_EDGE_CONSERVATIVE) {
		uint64_t value;
		enum rcore_type type;
		if (!rcore_heap_slot(lines->ruby, child->value, &value, &type) ||
		    value != child->value || !rcore_type_is_used(type))
			return;
	}
	if (!rcore_grow((void **)&line->references, line->reference_count,
			&line->reference_capacity, sizeof(*line->references)))
		lines->err = rcore_error_no_memory();
	else
		line->references[line->reference_count++] = child->value;
}

static void add_flag(struct lines *lines, const char *key, bool value)
{
	struct rcore_heap_line *line = &lines->line;
	if (value)
		line->flags[line->flag_count++] =
			(struct rcore_attribute){.key = key, .kind = RCORE_ATTRIBUTE_TRUE};
}

static void add_gc_flags(struct lines *lines, uint64_t address, uint64_t flags)
{
	const struct rcore_layout *layout = lines->ruby->layout;
	const struct rcore_page_bits *bits = &lines->bits;
	unsigned age = rcore_page_age(bits, address, flags);
	add_flag(lines, "wb_protected",
		 !rcore_page_bit(bits, &layout->heap_page.wb_unprotected_bits, address));
	if (layout->traits.dump_has_age) {
		lines->line.flags[lines->line.flag_count++] = (struct rcore_attribute){
			.key = "age", .kind = RCORE_ATTRIBUTE_NUMBER, .number = age};
	}
	add_flag(lines, "old", age == RCORE_OLD_AGE);
	add_flag(lines, "uncollectible",
		 rcore_page_bit(bits, &layout->heap_page.uncollectible_bits, address));
	add_flag(lines, "marking",
		 rcore_page_bit(bits, &layout->heap_page.marking_bits, address));
	add_flag(lines, "marked", rcore_page_bit(bits, &layout->heap_page.mark_bits, address));
	add_flag(lines, "pinned",
		 rcore_page_bit(bits, &layout->heap_page.pinned_bits, address));
	if (!layout->traits.dump_has_age)
		return;
	add_flag(lines, "remembered",
		 rcore_page_bit(bits, &layout->heap_page.remembered_bits, address));
	add_flag(lines, "shareable", flags & SHAREABLE);
}

static void describe_slot(struct lines *lines, uint64_t address, const unsigned char *copy,
			  size_t size, uint64_t flags)
{
	const struct rcore_layout *layout = lines->ruby->layout;
	const enum rcore_type type = flags & RCORE_T_MASK;
	const char *name = rcore_type_name(type);
	const bool is_imemo = type == RCORE_T_IMEMO;
	const bool is_fields =
		is_imemo && rcore_imemo_type(flags) == layout->constant.imemo_fields;
	add_address(lines, "address", address);
	add_text(lines, "type", RCORE_ATTRIBUTE_WORD, name ? name + 2 : "UNKNOWN");
	if (layout->traits.shapes && (!is_imemo || is_fields || !layout->traits.dump_has_age))
		add_number(lines, "shape_id",
			   rcore_shape_id(flags) & layout->traits.shape_id_mask);
	add_number(lines, "slot_size", size);
	lines->klass = 0;
	if (!is_imemo || is_fields)
		rcore_field_of(copy, size, &layout->basic.klass, &lines->klass);
	if (lines->klass)
		add_address(lines, "class", lines->klass);
	add_true(lines, "frozen", flags & FREEZE);
}

static void add_line(struct lines *lines, uint64_t address, const unsigned char *copy,
		     size_t size)
{
	struct rcore_heap_line *line = &lines->line;
	uint64_t flags;
	memcpy(&flags, copy, sizeof(flags));
	const enum rcore_type type = flags & RCORE_T_MASK;
	if (!rcore_type_is_used(type))
		return;
	line->attribute_count = line->reference_count = line->flag_count = 0;
	describe_slot(lines, address, copy, size, flags);
	rcore_children_of(&lines->children, address, copy, size);
	uint8_t state = lines->children.state;
	if (descriptions[type])
		descriptions[type](lines, flags);
	line->is_opaque = state & RCORE_HEAP_OPAQUE;
	line->is_partial = state & RCORE_HEAP_PARTIAL;
	line->has_memsize = rcore_memsize(lines->ruby, address, copy, size, &line->memsize);
	line->memsize += size;
	add_gc_flags(lines, address, flags);
	if (!lines->err)
		lines->err = lines->visit(lines->context, line);
	rcore_arena_deinit(&lines->arena);
}

static bool add_page(void *context, uint64_t heap_page, const struct rcore_heap_page *page,
		     const unsigned char *slots)
{
	struct lines *lines = context;
	rcore_page_bits_read(&lines->bits, lines->ruby, heap_page);
	for (size_t i = 0; slots && i < page->slots && !lines->err; i++)
		add_line(lines, page->start + i * page->slot_size, slots + i * page->slot_size,
			 page->slot_size);
	rcore_graph_release(lines->ruby, ++lines->page_count);
	return !lines->err;
}

struct rcore_error *rcore_heap_lines(struct rcore_ruby *ruby, uint64_t objspace,
				     rcore_line_visit *visit, void *context,
				     size_t *unreadable_pages)
{
	struct lines *lines = calloc(1, sizeof(*lines));
	if (!lines)
		return rcore_error_no_memory();
	lines->ruby = ruby;
	lines->visit = visit;
	lines->context = context;
	struct rcore_error *err =
		rcore_children_init(&lines->children, ruby, add_reference, lines);
	if (!err)
		err = rcore_heap_walk_pages(ruby, objspace, add_page, lines, unreadable_pages);
	if (!err)
		err = lines->err;
	rcore_children_deinit(&lines->children);
	free(lines->line.references);
	free(lines->text);
	free(lines);
	return err;
}
