/* SPDX-License-Identifier: MIT */
/*
 * Reads the top-level DIEs of the C units once. Finds structs and enumerators
 * by name, and members in a struct once it is found. If a unit only declares a
 * struct, continues until a unit defines it.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "layout/dwarf_file.h"
#include "layout/dwarf_member.h"
#include "layout/schema.h"

/* One of the names of an item in fields.def. */
struct name {
	const char *text;
	size_t length;
	const struct rcore_item *item;
};

struct names {
	struct name *list;  /* sorted */
	size_t count, left; /* `left`: items that are not found yet */
};

struct search {
	struct rcore_layout *layout;
	/*
	 * The folder of the release's headers, or NULL to read the sources'
	 * own.
	 */
	const char *headers;
	struct names structs, constants;
	/* For each item: whether a struct with members was found. */
	bool *is_settled;
};

static int compare(const void *a, const void *b)
{
	const struct name *left = a, *right = b;
	size_t length = left->length < right->length ? left->length : right->length;
	int order = memcmp(left->text, right->text, length);
	return order ? order : (left->length > right->length) - (left->length < right->length);
}

static struct rcore_error *collect(enum rcore_item_kind kind, struct names *ret)
{
	for (size_t i = 0; i < rcore_item_count; i++) {
		const char *text = rcore_items[i].names;
		if (rcore_items[i].kind != kind)
			continue;
		ret->left++;
		for (size_t length; *text; text += length + (text[length] == '|')) {
			struct name *grown =
				realloc(ret->list, (ret->count + 1) * sizeof(*grown));
			if (!grown)
				return rcore_error_no_memory();
			length = strcspn(text, "|");
			grown[ret->count++] = (struct name){text, length, &rcore_items[i]};
			ret->list = grown;
		}
	}
	qsort(ret->list, ret->count, sizeof(*ret->list), compare);
	return NULL;
}

static const struct rcore_item *lookup(const struct names *names, const char *text)
{
	if (!text)
		return NULL;
	struct name key = {text, strlen(text), NULL};
	const struct name *found =
		bsearch(&key, names->list, names->count, sizeof(key), compare);
	return found ? found->item : NULL;
}

/* Looks up a struct's fields; returns whether it has any of them. */
static bool take_members(struct search *search, const struct rcore_item *item, Dwarf_Die *type)
{
	const struct rcore_item *end = rcore_items + rcore_item_count;
	bool any = false;

	for (item++; item < end && item->kind == RCORE_ITEM_FIELD; item++)
		any |= rcore_dwarf_member(type, item->names,
					  rcore_item_field(search->layout, item));
	return any;
}

/*
 * Whether the header that declares a type is in the folder, by its name or with
 * the name of its own folder.
 */
static bool is_of_headers(const struct search *search, Dwarf_Die *type)
{
	const char *file = dwarf_decl_file(type);
	bool found = false;
	for (const char *end = file ? file + strlen(file) : NULL; end && !found;) {
		const char *slash = memrchr(file, '/', (size_t)(end - file));
		char *path;
		if (asprintf(&path, "%s/%s", search->headers, slash ? slash + 1 : file) < 0)
			return false;
		found = access(path, F_OK) == 0;
		free(path);
		end = slash;
	}
	return found;
}

/*
 * A program that embeds Ruby may have its own struct of that name. One with any
 * of the members is preferred to one with none.
 */
static void take_struct(struct search *search, Dwarf_Die *die)
{
	const struct rcore_item *item = lookup(&search->structs, dwarf_diename(die));
	if (!item || search->is_settled[item - rcore_items])
		return;
	Dwarf_Die type = *die;
	uint32_t size = rcore_dwarf_peel(&type) ? rcore_dwarf_struct_size(&type) : 0;
	if (!size)
		return;
	uint32_t *known = rcore_item_size(search->layout, item);
	*rcore_item_borrowed(search->layout, item) =
		search->headers && !is_of_headers(search, &type);
	if (take_members(search, item, &type)) {
		*known = size;
		search->is_settled[item - rcore_items] = true;
		search->structs.left--;
	} else if (!*known) {
		*known = size;
	}
}

/*
 * Compilers write a negative enumerator as DW_FORM_sdata, which
 * dwarf_formudata() sign-extends. They may write 169 as an unsigned
 * DW_FORM_data1, which dwarf_formsdata() would read as negative.
 */
static void take_enumerators(struct search *search, Dwarf_Die *enumeration)
{
	Dwarf_Die child;

	if (dwarf_child(enumeration, &child))
		return;
	do {
		const struct rcore_item *item =
			lookup(&search->constants, dwarf_diename(&child));
		Dwarf_Attribute attr;
		Dwarf_Word value;
		if (!item || *rcore_item_constant(search->layout, item) != RCORE_NO_CONSTANT ||
		    !dwarf_attr(&child, DW_AT_const_value, &attr) ||
		    dwarf_formudata(&attr, &value))
			continue;
		*rcore_item_constant(search->layout, item) = (int64_t)value;
		search->constants.left--;
	} while (dwarf_siblingof(&child, &child) == 0);
}

static void search_unit(struct search *search, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (!rcore_dwarf_may_be_c(unit) || dwarf_child(unit, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_typedef:
			if (search->structs.left)
				take_struct(search, &die);
			break;
		case DW_TAG_enumeration_type:
			if (search->constants.left)
				take_enumerators(search, &die);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void search_units(struct search *search, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die whole, inner;
	uint8_t type;

	while ((search->structs.left || search->constants.left) &&
	       !dwarf_get_units(dwarf, unit, &unit, NULL, &type, &whole, &inner))
		search_unit(search, type == DW_UT_skeleton && inner.addr ? &inner : &whole);
}

static struct rcore_error *find_version(struct rcore_dwarf_file *file, unsigned ret[3])
{
	char text[16];

	if (!rcore_dwarf_file_string(file, "ruby_version", text, sizeof(text)) ||
	    !rcore_version_parse(text, ret))
		return rcore_error_create(
			RCORE_ERROR_FORMAT,
			"it does not contain a Ruby version (ruby_version); name the version");
	return NULL;
}

static struct rcore_error *read_layout(struct rcore_dwarf_file *file, const char *headers,
				       struct rcore_layout *layout)
{
	struct search search = {.layout = layout, .headers = headers};

	search.is_settled = calloc(rcore_item_count, sizeof(*search.is_settled));
	struct rcore_error *err = search.is_settled
					  ? collect(RCORE_ITEM_STRUCT, &search.structs)
					  : rcore_error_no_memory();
	if (!err)
		err = collect(RCORE_ITEM_ENUM, &search.constants);
	if (!err) {
		search_units(&search, file->dwarf);
		Dwarf *shared = dwarf_getalt(file->dwarf);
		if (shared)
			search_units(&search, shared);
	}
	free(search.structs.list);
	free(search.constants.list);
	free(search.is_settled);
	if (!err && !(layout->vm.size && layout->thread.size && layout->ec.size))
		err = rcore_error_create(
			RCORE_ERROR_FORMAT,
			"its debug information does not describe Ruby's VM (rb_vm_struct, "
			"rb_thread_struct, rb_execution_context_struct)");
	return err;
}

struct rcore_error *rcore_dwarf_layout(const char *path, const unsigned version[3],
				       const char *headers, struct rcore_layout *ret)
{
	struct rcore_dwarf_file file = {0};
	struct rcore_layout layout;

	rcore_layout_init_absent(&layout);
	struct rcore_error *err = rcore_dwarf_open(path, headers != NULL, &file);
	if (!err && version)
		memcpy(layout.version, version, sizeof(layout.version));
	else if (!err)
		err = find_version(&file, layout.version);
	if (!err)
		err = read_layout(&file, headers, &layout);
	layout.last_patch = layout.version[2];
	layout.machine = file.machine;
	rcore_dwarf_close(&file);
	if (err)
		return rcore_error_wrap(err, "%s", path);
	snprintf(layout.name, sizeof(layout.name), "%s", rcore_base_name(path));
	layout.source = RCORE_LAYOUT_DWARF;
	rcore_layout_set_traits(&layout);
	*ret = layout;
	return NULL;
}
