/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_EMBEDDED_H
#define RCORE_RUBY_EMBEDDED_H

#include "layout/layout.h"
#include "ruby/object/value.h"

/*
 * Whether the flags of a T_OBJECT, or of an imemo of fields, show that its
 * instance variables are in its slot: ROBJECT_EMBED or, from 4.0 on,
 * ROBJECT_HEAP. 3.3 does not clear the flag if they move to a hash table
 * because the object became too complex; rcore_fields() finds them.
 */
static inline bool rcore_has_embedded_fields(const struct rcore_layout *layout, uint64_t flags)
{
	return layout->constant.robject_heap == RCORE_NO_CONSTANT
		       ? flags & (uint64_t)layout->constant.robject_embed
		       : !(flags & (uint64_t)layout->constant.robject_heap);
}

/*
 * The same for objects of other types, too: the bytes of a String, the elements
 * of an Array, the members of a Struct, the digits of a Bignum. False for types
 * that have no such flag. Mirrors RSTRING_NOEMBED, RARRAY_EMBED_FLAG,
 * RSTRUCT_EMBED_LEN_MASK, BIGNUM_EMBED_FLAG.
 */
static inline bool rcore_is_embedded(const struct rcore_layout *layout, uint64_t flags)
{
	enum {
		ARRAY_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 1),
		STRUCT_LENGTH_SHIFT = RCORE_FL_USHIFT + 1,
		BIGNUM_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 2),
	};
	switch (flags & RCORE_T_MASK) {
	case RCORE_T_STRING:
		return !(flags & (uint64_t)layout->constant.string_noembed);
	case RCORE_T_ARRAY:
		return flags & ARRAY_EMBED_FLAG;
	case RCORE_T_OBJECT:
		return rcore_has_embedded_fields(layout, flags);
	case RCORE_T_STRUCT:
		return flags >> STRUCT_LENGTH_SHIFT & layout->traits.struct_embed_mask;
	case RCORE_T_BIGNUM:
		return flags & BIGNUM_EMBED_FLAG;
	default:
		return false;
	}
}

#endif
