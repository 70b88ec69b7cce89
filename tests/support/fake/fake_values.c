/* SPDX-License-Identifier: MIT */
#include "fake_values.h"

#include <stdlib.h>
#include <string.h>

#include "fake_ivar.h"
#include "ruby/object/value.h"

#define PUT(base, struct_id, id, value) \
	fake_put_field(&ruby->target, base, &ruby->layout.struct_id.id, value)

enum { FL_USER1 = 1 << 13, FL_USER2 = 1 << 14, FL_USER3 = 1 << 15 };

uint64_t fake_symbol(struct fake_ruby *ruby, const char *name)
{
	return fake_id(ruby, name) << RCORE_SPECIAL_SHIFT | 0x0c;
}

uint64_t fake_named_class(struct fake_ruby *ruby, const char *name, uint64_t super)
{
	struct fake_class of = {.type = RCORE_T_CLASS, .path = name, .permanent = true};
	uint64_t klass = fake_class(ruby, &of);
	uint64_t ext = klass + (rcore_has(&ruby->layout.klass_and_ext.classext)
					? (uint64_t)ruby->layout.klass_and_ext.classext.offset
					: ruby->layout.klass.size);
	PUT(klass, klass, super, super);
	if (!rcore_has(&ruby->layout.klass.super))
		PUT(ext, classext, super, super);
	return klass;
}

uint64_t fake_instance(struct fake_ruby *ruby, uint64_t object, uint64_t klass)
{
	PUT(object, basic, klass, klass);
	return object;
}

uint64_t fake_float(struct fake_ruby *ruby, double number)
{
	uint64_t bits, value = fake_object(ruby, RCORE_T_FLOAT, 40);
	memcpy(&bits, &number, sizeof(bits));
	PUT(value, float_, value, bits);
	return value;
}

uint64_t fake_bignum(struct fake_ruby *ruby, const uint32_t *digits, size_t count,
		     bool negative, bool embedded)
{
	uint64_t flags = RCORE_T_BIGNUM | (negative ? 0 : FL_USER1);
	if (embedded)
		flags |= FL_USER2 | (uint64_t)count << (RCORE_FL_USHIFT + 3);
	uint64_t value = fake_object(ruby, flags, 16 + count * sizeof(*digits));
	uint64_t at = value + (uint64_t)ruby->layout.bignum.embed_ary.offset;
	if (!embedded) {
		at = fake_alloc(&ruby->target, count * sizeof(*digits), 8);
		PUT(value, bignum, digits, at);
		PUT(value, bignum, heap_len, count);
	}
	fake_write(&ruby->target, at, digits, count * sizeof(*digits));
	return value;
}

uint64_t fake_rational(struct fake_ruby *ruby, uint64_t num, uint64_t den)
{
	uint64_t value = fake_object(ruby, RCORE_T_RATIONAL, 40);
	PUT(value, rational, num, num);
	PUT(value, rational, den, den);
	return value;
}

uint64_t fake_complex(struct fake_ruby *ruby, uint64_t real, uint64_t imag)
{
	uint64_t value = fake_object(ruby, RCORE_T_COMPLEX, 40);
	PUT(value, complex_, real, real);
	PUT(value, complex_, imag, imag);
	return value;
}

/* Where a Hash has its table: after the Hash itself, or at `table`. */
static uint64_t hash_slot(struct fake_ruby *ruby, uint64_t flags, size_t table_size,
			  uint64_t *table)
{
	const struct rcore_layout *layout = &ruby->layout;
	bool in_slot = !rcore_has(&layout->hash.table);
	size_t size = layout->hash.size + (in_slot ? table_size : 0);
	uint64_t value = fake_object(ruby, RCORE_T_HASH | flags, size);
	*table = in_slot ? value + layout->hash.size : fake_alloc(&ruby->target, table_size, 8);
	PUT(value, hash, table, *table);
	return value;
}

uint64_t fake_hash_ar(struct fake_ruby *ruby, const struct fake_pair *pairs, size_t count,
		      size_t deleted)
{
	const struct rcore_layout *layout = &ruby->layout;
	uint64_t flags = (uint64_t)(count - deleted) << (RCORE_FL_USHIFT + 4) |
			 (uint64_t)count << (RCORE_FL_USHIFT + 8);
	uint64_t offset = (uint64_t)layout->ar_table.pairs.offset, table;
	uint64_t value = hash_slot(ruby, flags, offset + 8 * layout->ar_pair.size, &table);
	for (size_t i = 0; i < count; i++) {
		uint64_t pair = table + offset + i * layout->ar_pair.size;
		PUT(pair, ar_pair, hash, i < deleted ? UINT64_MAX : 77);
		PUT(pair, ar_pair, key,
		    i < deleted ? (uint64_t)layout->constant.qundef : pairs[i].key);
		PUT(pair, ar_pair, value, pairs[i].value);
	}
	return value;
}

uint64_t fake_hash_st(struct fake_ruby *ruby, const struct fake_pair *pairs, size_t count,
		      size_t deleted)
{
	unsigned char bytes[256];
	size_t size = ruby->layout.st_table.size;
	uint64_t table, made;
	uint64_t value = hash_slot(ruby, FL_USER3, size, &table);
	struct fake_ivar entries[64];
	for (size_t i = 0; i < count; i++)
		entries[i] = (struct fake_ivar){pairs[i].key, pairs[i].value};
	made = fake_st_table(ruby, entries, count, deleted);
	if (size > sizeof(bytes) || count > 64 ||
	    rcore_read(&ruby->target.memory, made, bytes, size) != RCORE_FAULT_NONE)
		abort();
	fake_write(&ruby->target, table, bytes, size);
	return value;
}

uint64_t fake_struct(struct fake_ruby *ruby, uint64_t klass, const uint64_t *members,
		     size_t count, bool embedded)
{
	uint64_t flags =
		RCORE_T_STRUCT | (embedded ? (uint64_t)count << (RCORE_FL_USHIFT + 1) : 0);
	uint64_t value = fake_object(ruby, flags, 16 + count * 8);
	uint64_t at = value + (uint64_t)ruby->layout.rstruct.embed_ary.offset;
	if (!embedded) {
		at = fake_alloc(&ruby->target, count * 8, 8);
		PUT(value, rstruct, heap_ptr, at);
		PUT(value, rstruct, heap_len, count);
	}
	for (size_t i = 0; i < count; i++)
		fake_put(&ruby->target, at + i * 8, members[i]);
	return fake_instance(ruby, value, klass);
}

uint64_t fake_regexp(struct fake_ruby *ruby, const char *source, unsigned options)
{
	uint64_t pattern = fake_alloc(&ruby->target, ruby->layout.pattern.size, 8);
	uint64_t value = fake_object(ruby, RCORE_T_REGEXP, 40);
	PUT(pattern, pattern, options, options);
	PUT(value, regexp, ptr, pattern);
	PUT(value, regexp, src, fake_string(ruby, source));
	return value;
}

uint64_t fake_file(struct fake_ruby *ruby, int fd, uint64_t path)
{
	uint64_t io = fake_alloc(&ruby->target, ruby->layout.io.size, 8);
	uint64_t value = fake_object(ruby, RCORE_T_FILE, 40);
	PUT(io, io, fd, (uint32_t)fd);
	PUT(io, io, pathv, path ? path : (uint64_t)ruby->layout.constant.qnil);
	PUT(value, file, fptr, io);
	return value;
}
