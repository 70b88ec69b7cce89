/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_DWARF_MEMBER_H
#define RCORE_LAYOUT_DWARF_MEMBER_H

#include <elfutils/libdw.h>

#include "layout/layout.h"

/*
 * Removes typedefs and qualifiers from a type. Returns false if DWARF has no
 * type (void).
 */
bool rcore_dwarf_peel(Dwarf_Die *type);

/* Returns the size in bytes of a struct or union; 0 for a declaration. */
uint32_t rcore_dwarf_struct_size(Dwarf_Die *type);

/*
 * Finds the member of the struct `type` that one of `paths` names. '|'
 * separates paths, '.' leads into nested structs; unnamed members are searched,
 * too. Returns false if there is none.
 */
bool rcore_dwarf_member(Dwarf_Die *type, const char *paths, struct rcore_field *ret);

#endif
