/* SPDX-License-Identifier: MIT */
#include "layout/dwarf_member.h"

#include <dwarf.h>
#include <string.h>

enum {
	MAX_PEEL = 32,   /* typedefs and qualifiers around one type */
	MAX_UNNAMED = 8, /* nested unnamed structs and unions */
	MAX_BITS = 1 << 26,
};

bool rcore_dwarf_peel(Dwarf_Die *type)
{
	for (int i = 0; i < MAX_PEEL; i++) {
		Dwarf_Attribute attr;
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			if (!dwarf_attr_integrate(type, DW_AT_type, &attr) ||
			    !dwarf_formref_die(&attr, type))
				return false;
			break;
		default:
			return true;
		}
	}
	return false;
}

static bool is_struct(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);
	return (tag == DW_TAG_structure_type || tag == DW_TAG_union_type) &&
	       !dwarf_hasattr(type, DW_AT_declaration);
}

uint32_t rcore_dwarf_struct_size(Dwarf_Die *type)
{
	int size = is_struct(type) ? dwarf_bytesize(type) : -1;
	return size > 0 ? (uint32_t)size : 0;
}

static bool constant(Dwarf_Die *die, unsigned name, Dwarf_Word *ret)
{
	Dwarf_Attribute attr;
	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, ret);
}

/* DWARF 2 describes the place of a member by an expression. */
static bool location(Dwarf_Die *member, Dwarf_Word *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t count;

	if (constant(member, DW_AT_data_member_location, ret))
		return true;
	if (!dwarf_attr_integrate(member, DW_AT_data_member_location, &attr) ||
	    dwarf_getlocation(&attr, &ops, &count) || count != 1 ||
	    ops[0].atom != DW_OP_plus_uconst)
		return false;
	*ret = ops[0].number;
	return true;
}

static bool type_of(Dwarf_Die *member, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;
	return dwarf_attr_integrate(member, DW_AT_type, &attr) &&
	       dwarf_formref_die(&attr, ret) && rcore_dwarf_peel(ret);
}

/*
 * The number of elements of an array in all dimensions; 0 for a flexible array.
 * In C, indices begin at 0.
 */
static Dwarf_Word element_count(Dwarf_Die *array)
{
	Dwarf_Word total = 1, count;
	Dwarf_Die child;

	if (dwarf_child(array, &child))
		return 0;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (constant(&child, DW_AT_upper_bound, &count))
			count++;
		else if (!constant(&child, DW_AT_count, &count))
			return 0;
		if (__builtin_mul_overflow(total, count, &total))
			return 0;
	} while (dwarf_siblingof(&child, &child) == 0);
	return total;
}

/*
 * dwarf_aggregate_size() fails for an array in a unit without a language, such
 * as dwz writes.
 */
static bool size_of(const Dwarf_Die *type, Dwarf_Word *ret)
{
	Dwarf_Word count = 1, size;
	Dwarf_Die element = *type;

	for (int depth = 0; dwarf_tag(&element) == DW_TAG_array_type; depth++) {
		if (__builtin_mul_overflow(count, element_count(&element), &count) ||
		    depth == MAX_PEEL || !type_of(&element, &element))
			return false;
	}
	return !dwarf_aggregate_size(&element, &size) &&
	       !__builtin_mul_overflow(count, size, ret);
}

/*
 * Returns where a member starts, in bits from the start of its struct or union.
 * A bit-field has DW_AT_data_bit_offset (DWARF 5, sometimes DWARF 4), or
 * DW_AT_bit_offset: bits from the most significant end of a unit of
 * DW_AT_byte_size, which defaults to the type's size.
 */
static bool bit_offset(Dwarf_Die *member, Dwarf_Die *type, Dwarf_Word bits, Dwarf_Word *ret)
{
	Dwarf_Word byte = 0, offset, unit;

	if (constant(member, DW_AT_data_bit_offset, ret))
		return *ret <= MAX_BITS;
	if (dwarf_hasattr_integrate(member, DW_AT_data_member_location) &&
	    !location(member, &byte))
		return false;
	if (byte > MAX_BITS / 8)
		return false;
	*ret = byte * 8;
	if (!bits || !constant(member, DW_AT_bit_offset, &offset))
		return true;
	if (!constant(member, DW_AT_byte_size, &unit) && !size_of(type, &unit))
		return false;
	if (unit > 16 || offset + bits > unit * 8)
		return false;
	*ret += unit * 8 - offset - bits;
	return true;
}

/* A member that the search has reached. */
struct member {
	Dwarf_Die die, type;
	Dwarf_Word start; /* in bits, from the outermost struct */
	Dwarf_Word bits;  /* of a bit-field, otherwise 0 */
};

static bool describe(Dwarf_Die *die, Dwarf_Word start, struct member *ret)
{
	Dwarf_Word own;

	ret->die = *die;
	if (!type_of(die, &ret->type))
		return false;
	if (!constant(die, DW_AT_bit_size, &ret->bits))
		ret->bits = 0;
	if (ret->bits > 64 || !bit_offset(die, &ret->type, ret->bits, &own))
		return false;
	ret->start = start + own;
	return true;
}

/* Finds the member `name` of `outer`, or of an unnamed member of it. */
static bool find(const struct member *outer, const char *name, size_t length,
		 struct member *ret)
{
	struct member stack[MAX_UNNAMED];
	int depth = 0;

	stack[depth++] = *outer;
	while (depth) {
		struct member level = stack[--depth];
		Dwarf_Die child;
		if (!is_struct(&level.type) || dwarf_child(&level.type, &child))
			continue;
		do {
			if (dwarf_tag(&child) != DW_TAG_member)
				continue;
			const char *own = dwarf_diename(&child);
			if (!own && depth < MAX_UNNAMED) {
				if (describe(&child, level.start, &stack[depth]))
					depth++;
			} else if (own && !strncmp(own, name, length) && !own[length]) {
				return describe(&child, level.start, ret);
			}
		} while (dwarf_siblingof(&child, &child) == 0);
	}
	return false;
}

static bool follow(Dwarf_Die *type, const char *path, size_t length, struct rcore_field *ret)
{
	struct member member = {.type = *type};
	Dwarf_Word size;

	while (length) {
		const char *dot = memchr(path, '.', length);
		size_t part = dot ? (size_t)(dot - path) : length;
		if (!find(&member, path, part, &member))
			return false;
		path += part + (dot != NULL);
		length -= part + (dot != NULL);
	}
	if (!size_of(&member.type, &size) || size > UINT16_MAX || member.start > MAX_BITS)
		return false;
	*ret = (struct rcore_field){
		.offset = (int32_t)(member.start / 8),
		.size = (uint16_t)size,
		.bit = member.bits ? member.start % 8 : 0,
		.bits = (uint8_t)member.bits,
	};
	return true;
}

bool rcore_dwarf_member(Dwarf_Die *type, const char *paths, struct rcore_field *ret)
{
	for (;;) {
		size_t length = strcspn(paths, "|");
		if (follow(type, paths, length, ret))
			return true;
		if (!paths[length])
			return false;
		paths += length + 1;
	}
}
