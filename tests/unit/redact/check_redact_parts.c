/* SPDX-License-Identifier: MIT */
/*
 * Checks that nothing in the model escapes the redactor: walks the debug
 * information of struct rcore_snapshot and struct rcore_print in this program,
 * and compares it with the table of redact_parts.c.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "model/printed.h"
#include "model/snapshot.h"
#include "redact/redact_parts.h"
#include "suite.h"

/* Makes sure that this program has the structs' debug information. */
static struct {
	struct rcore_snapshot snapshot;
	struct rcore_print print;
} models;

/* A struct that is being walked, or one within it. */
struct place {
	const struct rcore_parts *parts;
	Dwarf_Word offset;
	const char *name; /* for messages */
};

static int complaints;

static void walk_struct(Dwarf_Die *type, const struct place *place);

__attribute__((format(printf, 2, 3))) static void complain(const char *name, const char *format,
							   ...)
{
	va_list list;
	va_start(list, format);
	fprintf(stderr, "%s: ", name);
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	complaints++;
}

/*
 * Finds the type of an attribute, without typedefs and qualifiers. Returns
 * false for void.
 */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;
	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret) && dwarf_peel_type(ret, ret) == 0;
}

static bool is_character(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;
	return dwarf_tag(type) == DW_TAG_base_type &&
	       dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attribute), &encoding) == 0 &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static bool is_struct(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/*
 * Returns the row of a member, if it is of one of those kinds; -1 ends the
 * list.
 */
static const struct rcore_part *row_at(const struct place *place, const int *kinds)
{
	for (size_t i = 0; i < place->parts->count; i++)
		for (const int *kind = kinds; *kind >= 0; kind++)
			if (place->parts->items[i].offset == place->offset &&
			    (int)place->parts->items[i].kind == *kind)
				return &place->parts->items[i];
	return NULL;
}

static void demand(const struct place *place, const int *kinds)
{
	if (!row_at(place, kinds))
		complain(place->name, "has no fitting row in redact_parts.c");
}

static void walk_parts(Dwarf_Die *type, const struct rcore_part *row, const char *name)
{
	struct place place = {row->parts, 0, name};
	Dwarf_Word size = 0;
	if (!row->parts)
		return;
	if (dwarf_aggregate_size(type, &size) != 0 || size != row->parts->size)
		complain(name, "its row is of a struct of another size (%zu, not %zu)",
			 row->parts->size, (size_t)size);
	else
		walk_struct(type, &place);
}

static const int texts[] = {RCORE_PART_SAFE,
			    RCORE_PART_NAME,
			    RCORE_PART_TEXT,
			    RCORE_PART_INSPECT,
			    RCORE_PART_VALUE,
			    RCORE_PART_COMMAND,
			    -1};
static const int arrays_of_text[] = {RCORE_PART_SAFE, -1};
static const int lists_of_texts[] = {RCORE_PART_SAFE_TEXTS, RCORE_PART_TEXTS, -1};
static const int inner[] = {RCORE_PART_OPAQUE, RCORE_PART_WITHIN, -1};
static const int inner_arrays[] = {RCORE_PART_OPAQUE, RCORE_PART_ARRAY, -1};
static const int pointers[] = {RCORE_PART_OPAQUE, RCORE_PART_ONE, RCORE_PART_MANY,
			       RCORE_PART_CHAIN, -1};
static const int opaque[] = {RCORE_PART_OPAQUE, -1};

static void walk_pointer(Dwarf_Die *pointer, const struct place *place)
{
	Dwarf_Die type;
	const struct rcore_part *row;
	if (!type_of(pointer, &type) || dwarf_tag(&type) == DW_TAG_subroutine_type) {
		demand(place, opaque);
	} else if (is_character(&type)) {
		demand(place, texts);
	} else if (dwarf_tag(&type) == DW_TAG_pointer_type) {
		demand(place, lists_of_texts);
	} else if (is_struct(&type)) {
		row = row_at(place, pointers);
		demand(place, pointers);
		if (row && row->kind != RCORE_PART_OPAQUE && row->kind != RCORE_PART_CHAIN)
			walk_parts(&type, row, place->name);
	}
}

static void walk_array(Dwarf_Die *array, const struct place *place)
{
	Dwarf_Die type;
	const struct rcore_part *row;
	if (!type_of(array, &type)) {
		complain(place->name, "an array of nothing");
	} else if (is_character(&type)) {
		demand(place, arrays_of_text);
	} else if (dwarf_tag(&type) == DW_TAG_pointer_type) {
		complain(place->name, "no row can describe an array of pointers");
	} else if (is_struct(&type)) {
		row = row_at(place, inner_arrays);
		demand(place, inner_arrays);
		if (row)
			walk_parts(&type, row, place->name);
	}
}

/*
 * A struct in a struct has a row, or its members have rows in the outer struct.
 */
static void walk_inner(Dwarf_Die *type, const struct place *place)
{
	const struct rcore_part *row = row_at(place, inner);
	if (row)
		walk_parts(type, row, place->name);
	else
		walk_struct(type, place);
}

static void walk_member(Dwarf_Die *member, const struct place *outer)
{
	Dwarf_Die type;
	Dwarf_Attribute attribute;
	Dwarf_Word offset = 0;
	char name[256];
	const char *own = dwarf_diename(member);
	dwarf_formudata(dwarf_attr(member, DW_AT_data_member_location, &attribute), &offset);
	snprintf(name, sizeof(name), "%s.%s", outer->name, own ? own : "(no name)");
	const struct place place = {outer->parts, outer->offset + offset, name};
	if (!type_of(member, &type))
		complain(name, "has no type");
	else if (dwarf_tag(&type) == DW_TAG_pointer_type)
		walk_pointer(&type, &place);
	else if (dwarf_tag(&type) == DW_TAG_array_type)
		walk_array(&type, &place);
	else if (is_struct(&type))
		walk_inner(&type, &place);
}

static void walk_struct(Dwarf_Die *type, const struct place *place)
{
	Dwarf_Die member;
	if (dwarf_hasattr(type, DW_AT_declaration))
		complain(place->name, "its struct is only declared");
	for (int more = dwarf_child(type, &member); more == 0;
	     more = dwarf_siblingof(&member, &member))
		if (dwarf_tag(&member) == DW_TAG_member)
			walk_member(&member, place);
}

/* Finds a struct of the unit. Returns false if it has none. */
static bool find_struct(Dwarf_Die *unit, const char *name, Dwarf_Die *ret)
{
	for (int more = dwarf_child(unit, ret); more == 0; more = dwarf_siblingof(ret, ret)) {
		const char *own = dwarf_diename(ret);
		if (dwarf_tag(ret) == DW_TAG_structure_type && own && strcmp(own, name) == 0 &&
		    !dwarf_hasattr(ret, DW_AT_declaration))
			return true;
	}
	return false;
}

static void walk_model(const char *name, const struct rcore_parts *parts)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die, type;
	bool found = false;
	int fd = open("/proc/self/exe", O_RDONLY);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	ck_assert_msg(dwarf != NULL, "no debug information: build with -g");
	while (!found && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0)
		found = find_struct(&die, name, &type);
	ck_assert_msg(found, "no debug information of struct %s", name);
	const struct rcore_part all = {RCORE_PART_WITHIN, 0, 0, parts};
	complaints = 0;
	walk_parts(&type, &all, name);
	dwarf_end(dwarf);
	close(fd);
	ck_assert_msg(complaints == 0, "%d members of the model escape redaction", complaints);
}

START_TEST(snapshot)
{
	ck_assert_uint_eq(sizeof(models.snapshot), rcore_snapshot_parts.size);
	walk_model("rcore_snapshot", &rcore_snapshot_parts);
}
END_TEST

START_TEST(print)
{
	ck_assert_uint_eq(sizeof(models.print), rcore_print_parts.size);
	walk_model("rcore_print", &rcore_print_parts);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {snapshot, print};
	const struct rcore_test_suite suite = {
		.name = "redact_parts",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
