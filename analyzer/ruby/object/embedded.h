/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_EMBEDDED_H
#define RCORE_RUBY_EMBEDDED_H

#include "layout/layout.h"
#include "ruby/object/value.h"

/*
 * How the flags of an object show that its contents are in its slot: all bits
 * of `clear` are 0, and at least one of `any` is 1.
 */
struct rcore_embedding {
	uint64_t clear, any;
};

static inline bool rcore_embedding_fits(struct rcore_embedding embedding, uint64_t flags)
{
	return !(flags & embedding.clear) && flags & embedding.any;
}

/*
 * Returns the embedding of a type: of the bytes of a String, the elements of an
 * Array, the instance variables of a T_OBJECT, the members of a Struct, the
 * digits of a Bignum. It fits no object of a type that has no such flag.
 * Mirrors RSTRING_NOEMBED, RARRAY_EMBED_FLAG, RSTRUCT_EMBED_LEN_MASK,
 * BIGNUM_EMBED_FLAG.
 */
static inline struct rcore_embedding rcore_embedding_of(const struct rcore_layout *layout,
							enum rcore_type type)
{
	const int64_t heap = layout->constant.robject_heap;
	enum {
		ARRAY_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 1),
		STRUCT_LENGTH_SHIFT = RCORE_FL_USHIFT + 1,
		BIGNUM_EMBED_FLAG = 1 << (RCORE_FL_USHIFT + 2),
	};
	switch (type) {
	case RCORE_T_STRING:
		return (struct rcore_embedding){(uint64_t)layout->constant.string_noembed,
						RCORE_T_MASK};
	case RCORE_T_ARRAY:
		return (struct rcore_embedding){.any = ARRAY_EMBED_FLAG};
	case RCORE_T_OBJECT: /* ROBJECT_EMBED; from 4.0 on ROBJECT_HEAP */
		if (heap == RCORE_NO_CONSTANT)
			return (struct rcore_embedding){
				.any = (uint64_t)layout->constant.robject_embed};
		return (struct rcore_embedding){(uint64_t)heap, RCORE_T_MASK};
	case RCORE_T_STRUCT:
		return (struct rcore_embedding){
			.any = (uint64_t)layout->traits.struct_embed_mask
			       << STRUCT_LENGTH_SHIFT};
	case RCORE_T_BIGNUM:
		return (struct rcore_embedding){.any = BIGNUM_EMBED_FLAG};
	default:
		return (struct rcore_embedding){0};
	}
}

static inline bool rcore_is_embedded(const struct rcore_layout *layout, uint64_t flags)
{
	return rcore_embedding_fits(rcore_embedding_of(layout, flags & RCORE_T_MASK), flags);
}

/*
 * Whether the flags of a T_OBJECT, or of an imemo of fields, show that its
 * instance variables are in its slot. 3.3 does not clear the flag if they move
 * to a hash table because the object became too complex; rcore_fields() finds
 * them.
 */
static inline bool rcore_has_embedded_fields(const struct rcore_layout *layout, uint64_t flags)
{
	return rcore_embedding_fits(rcore_embedding_of(layout, RCORE_T_OBJECT), flags);
}

#endif
