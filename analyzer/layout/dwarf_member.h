/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_DWARF_MEMBER_H
#define RCORE_LAYOUT_DWARF_MEMBER_H

#include <elfutils/libdw.h>

#include "layout/layout.h"

/*
 * The type behind typedefs and qualifiers; false where DWARF has none (void).
 */
bool rcore_dwarf_peel(Dwarf_Die *type);

/* The size in bytes of a struct or union; 0 for a declaration. */
uint32_t rcore_dwarf_struct_size(Dwarf_Die *type);

/*
 * The member that one of `paths` ('|' between, '.' into nested structs) names
 * in the struct `type`; unnamed members are looked through. False: it has none.
 */
bool rcore_dwarf_member(Dwarf_Die *type, const char *paths, struct rcore_field *ret);

#endif
