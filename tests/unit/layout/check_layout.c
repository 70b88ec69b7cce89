/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "layout/schema.h"
#include "tables.h"
#include "suite.h"

/* The file from which a table was made, without its comments. */
static char *file_of(const char *name)
{
	char path[128], line[512], *text = NULL;
	size_t size;
	snprintf(path, sizeof(path), "analyzer/layout/tables/%s.layout", name);
	FILE *in = fopen(path, "r"), *out = open_memstream(&text, &size);
	ck_assert_msg(in && out, "%s", path);
	bool has_provenance = false;
	while (fgets(line, sizeof(line), in))
		if (*line == '#')
			has_provenance = true;
		else
			fputs(line, out);
	fclose(in);
	fclose(out);
	ck_assert_msg(has_provenance, "%s does not say what it was made of", path);
	return text;
}

/*
 * The tables are packed: each is stored as its differences from the first of
 * its series.
 */
START_TEST(round_trip)
{
	struct rcore_layout layout = table_at(_i), again;
	char *text = table_printed(layout), *file = file_of(layout.name);

	ck_assert_str_eq(layout.name, rcore_layout_builtin_name((size_t)_i));
	ck_assert_str_eq(text, file);
	ck_assert_ptr_null(rcore_layout_parse(text, "printed", &again));
	free(file);
	file = table_printed(again);
	ck_assert_str_eq(text, file);
	free(file);
	free(text);

	again = layout;
	rcore_layout_set_table_name(&again);
	ck_assert_str_eq(again.name, layout.name);
}
END_TEST

/* Arrays that extend to the struct's end. */
static bool is_flexible(const struct rcore_item *item)
{
	return (!strcmp(item->group, "gen_ivtbl") && !strcmp(item->id, "ivptr")) ||
	       ((!strcmp(item->group, "catch_table") || !strcmp(item->group, "cc_entries")) &&
		!strcmp(item->id, "entries"));
}

/* Structs with unions among the fields that are read. */
static bool has_unions(const char *group)
{
	static const char *const groups[] = {"array",    "string", "classext",  "method_def",
					     "location", "object", "gen_ivtbl", "bignum",
					     "rstruct",  "block",  "iseq"};

	for (size_t i = 0; i < RCORE_COUNT(groups); i++)
		if (!strcmp(groups[i], group))
			return true;
	return false;
}

static void bit_range(const struct rcore_field *field, long *start, long *end)
{
	*start = field->offset * 8L + field->bit;
	*end = *start + (field->bits ? field->bits : field->size * 8L);
}

START_TEST(no_overlap)
{
	struct rcore_layout layout = table_at(_i);

	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind != RCORE_ITEM_FIELD || has_unions(item->group))
			continue;
		const struct rcore_field *field = rcore_item_field(&layout, item);
		for (size_t j = i + 1; j < rcore_item_count; j++) {
			const struct rcore_item *other_item = &rcore_items[j];
			if (other_item->kind != RCORE_ITEM_FIELD ||
			    strcmp(item->group, other_item->group))
				break;
			const struct rcore_field *other = rcore_item_field(&layout, other_item);
			long start, end, other_start, other_end;
			if (field->offset < 0 || other->offset < 0)
				continue;
			bit_range(field, &start, &end);
			bit_range(other, &other_start, &other_end);
			ck_assert_msg(end <= other_start || other_end <= start,
				      "%s: %s.%s and %s overlap", layout.name, item->group,
				      item->id, other_item->id);
		}
	}
}
END_TEST

START_TEST(sizes)
{
	struct rcore_layout layout = table_at(_i);
	uint32_t size = 0;

	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind == RCORE_ITEM_STRUCT)
			size = *rcore_item_size(&layout, item);
		if (item->kind != RCORE_ITEM_FIELD)
			continue;
		const struct rcore_field *field = rcore_item_field(&layout, item);
		ck_assert(size || field->offset < 0);
		ck_assert(field->offset < 0 || field->size || is_flexible(item));
	}
	ck_assert_uint_gt(layout.vm.size, 1000);
	ck_assert_int_eq(layout.ec.vm_stack.offset, 0);
	ck_assert_int_eq(layout.cfp.pc.offset, 0);
}
END_TEST

START_TEST(every_field_exists_somewhere)
{
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		bool found = item->kind != RCORE_ITEM_FIELD;
		for (int t = 0; !found && t < table_count(); t++) {
			struct rcore_layout layout = table_at(t);
			found = rcore_has(rcore_item_field(&layout, item));
		}
		ck_assert_msg(found, "%s.%s is in no table", item->group, item->id);
	}
}
END_TEST

static bool same_build(const struct rcore_layout *a, const struct rcore_layout *b)
{
	return a->version[0] == b->version[0] && a->version[1] == b->version[1] &&
	       !strcmp(strchr(a->name, '-'), strchr(b->name, '-'));
}

/*
 * For 4.0.6 there were only headers: what they do not show is marked, and the
 * layout is approximate.
 */
START_TEST(borrowed)
{
	struct rcore_layout layout = table_of("4.0.6-x86_64"),
			    before = table_of("4.0.5-x86_64");
	static const unsigned neighbour[3] = {4, 0, 5};
	ck_assert_mem_eq(layout.neighbour, neighbour, sizeof(neighbour));
	ck_assert_int_eq(layout.source, RCORE_LAYOUT_APPROXIMATE);
	ck_assert(layout.fiber.is_borrowed && layout.objspace.is_borrowed);
	ck_assert(!layout.vm.is_borrowed && !layout.thread.is_borrowed);
	ck_assert_mem_eq(&layout.fiber.status, &before.fiber.status,
			 sizeof(before.fiber.status));
	ck_assert_uint_eq(before.neighbour[0], 0);
	ck_assert(!before.fiber.is_borrowed);
}
END_TEST

/* Each release has one table for its build, from the first release on. */
START_TEST(every_release)
{
	struct rcore_layout layout = table_at(_i);
	bool is_first = layout.version[2] == 0;

	for (int i = 0; i < table_count(); i++) {
		struct rcore_layout other = table_at(i);
		if (i == _i || !same_build(&layout, &other))
			continue;
		ck_assert_msg(other.last_patch < layout.version[2] ||
				      layout.last_patch < other.version[2],
			      "%s and %s", layout.name, other.name);
		is_first |= other.last_patch + 1 == layout.version[2];
	}
	ck_assert_msg(is_first, "no table of the release before %s", layout.name);
}
END_TEST

/*
 * What patch releases moved: the fields of `group` from `from` on (NULL: none
 * that is read), and its end, by that many bytes; 0: in another order.
 */
static const struct drift {
	const char *release, *group, *from;
	int by;
	unsigned machine; /* 0: all */
} drifts[] = {
	{"2.7.3", "time", NULL, 0, EM_AARCH64},
	{"2.7.3", "queue", NULL, 0, EM_AARCH64},
	{"2.7.3", "szqueue", NULL, 0, EM_AARCH64},
	{"2.7.3", "io", NULL, 0, EM_AARCH64},
	{"2.7.3", "catch_table", NULL, 0, EM_AARCH64},
	{"3.0.1", "vm", NULL, 8184, 0},
	/* the cache of a constant became an object */
	{"3.0.1", "constcache", NULL, 0, 0},
	{"3.0.1", "inline_constant", NULL, 0, 0},
	{"3.0.1", "inline_storage", NULL, 0, 0},
	{"3.0.4", "objspace", NULL, 0, 0},
	{"3.1.3", "method", "me", 8, 0},
	{"3.1.5", "vm", "progname", 8, 0},
	{"3.1.5", "cvar_entry", "class_value", 8, 0},
	{"3.2.3", "vm", "progname", 8, 0},
	{"3.2.3", "time", NULL, 0, 0},
	{"3.2.3", "cvar_entry", "class_value", 8, 0},
	{"3.2.4", "vm", "progname", 8, 0},
	{"3.2.7", "vm", NULL, 8, 0},
	{"3.3.1", "vm", NULL, 8, 0},
	{"3.3.7", "vm", NULL, 8, 0},
	{"3.3.10", "mutex", "next_mutex", 8, 0},
	{"3.4.7", "mutex", "next_mutex", 8, 0},
	/* an object: a header precedes it */
	{"4.0.4", "cvar_entry", "cref", 8, 0},
	{"4.0.6", "vm", "root_box", 8, 0},
	{"4.0.6", "ractor", "sched_readyq", 8, 0},
	{"4.0.6", "thread", "waiting_flags", 8, 0},
};

static const struct drift *drift_of(const struct rcore_layout *next, const char *group)
{
	for (size_t i = 0; i < RCORE_COUNT(drifts); i++) {
		unsigned release[3];
		ck_assert(rcore_version_parse(drifts[i].release, release));
		if (!memcmp(release, next->version, sizeof(release)) &&
		    !strcmp(drifts[i].group, group) &&
		    (!drifts[i].machine || drifts[i].machine == next->machine))
			return &drifts[i];
	}
	return NULL;
}

static const struct rcore_field *field_named(struct rcore_layout *layout, const char *group,
					     const char *id)
{
	for (size_t i = 0; i < rcore_item_count; i++)
		if (rcore_items[i].kind == RCORE_ITEM_FIELD &&
		    !strcmp(rcore_items[i].group, group) && !strcmp(rcore_items[i].id, id))
			return rcore_item_field(layout, &rcore_items[i]);
	ck_abort_msg("no %s.%s", group, id);
}

/*
 * Whether the field in the next release is where the drift says; a new field is
 * in the gap.
 */
static bool moved_so(struct rcore_layout *layout, const struct rcore_item *item,
		     const struct drift *drift, const struct rcore_field *next)
{
	struct rcore_field expected = *rcore_item_field(layout, item);
	const struct rcore_field *from =
		drift && drift->from ? field_named(layout, item->group, drift->from) : NULL;
	if (!rcore_has(&expected) && from)
		return !rcore_has(next) ||
		       (next->offset >= from->offset &&
			next->offset + next->size <= from->offset + drift->by);
	if (from && expected.offset >= from->offset)
		expected.offset += drift->by;
	return !memcmp(&expected, next, sizeof(expected));
}

/*
 * From one table of a series to the next, exactly the known drifts move fields.
 */
START_TEST(drift_alone)
{
	struct rcore_layout layout = table_at(_i);

	for (int i = 0; i < table_count(); i++) {
		struct rcore_layout next = table_at(i);
		if (!same_build(&layout, &next) || next.version[2] != layout.last_patch + 1)
			continue;
		for (size_t j = 0; j < rcore_item_count; j++) {
			const struct rcore_item *item = &rcore_items[j];
			const struct drift *drift = drift_of(&next, item->group);
			if (!rcore_item_is_measured(&layout, item) ||
			    !rcore_item_is_measured(&next, item))
				continue;
			if (item->kind == RCORE_ITEM_ENUM) {
				ck_assert_msg(*rcore_item_constant(&next, item) ==
						      *rcore_item_constant(&layout, item),
					      "%s: %s of %s has another value", next.name,
					      item->id, item->group);
			} else if (drift && !drift->by) {
				continue;
			} else if (item->kind == RCORE_ITEM_STRUCT) {
				ck_assert_msg(
					*rcore_item_size(&next, item) ==
						*rcore_item_size(&layout, item) +
							(unsigned)(drift ? drift->by : 0),
					"%s: struct %s: %u bytes, %u before, which is not what "
					"drifts says",
					next.name, item->group, *rcore_item_size(&next, item),
					*rcore_item_size(&layout, item));
			} else {
				ck_assert_msg(
					moved_so(&layout, item, drift,
						 rcore_item_field(&next, item)),
					"%s: %s.%s: at %d, at %d before, which is not what "
					"drifts says",
					next.name, item->group, item->id,
					rcore_item_field(&next, item)->offset,
					rcore_item_field(&layout, item)->offset);
			}
		}
	}
}
END_TEST

/* Each of these drifts occurs between two tables. */
START_TEST(drifts_happened)
{
	for (size_t i = 0; i < RCORE_COUNT(drifts); i++) {
		unsigned release[3];
		bool found = false;
		ck_assert(rcore_version_parse(drifts[i].release, release));
		for (int t = 0; !found && t < table_count(); t++) {
			struct rcore_layout layout = table_at(t);
			found = !memcmp(release, layout.version, sizeof(release));
		}
		ck_assert_msg(found, "no table begins with %s", drifts[i].release);
	}
}
END_TEST

/* A field's offset, "vm.objspace", or a struct's size, "vm". */
static long measure(const char *table, const char *what)
{
	struct rcore_layout layout = table_of(table);
	size_t length = strcspn(what, ".");

	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (strncmp(item->group, what, length) || item->group[length])
			continue;
		if (!what[length] && item->kind == RCORE_ITEM_STRUCT)
			return *rcore_item_size(&layout, item);
		if (what[length] && item->kind == RCORE_ITEM_FIELD &&
		    !strcmp(item->id, what + length + 1))
			return rcore_item_field(&layout, item)->offset;
	}
	ck_abort_msg("no %s", what);
}

/*
 * Known differences between patch releases and builds. A table made from the
 * wrong source or build would miss these.
 */
START_TEST(drift)
{
	static const struct {
		const char *table, *what;
		long value;
	} known[] = {
		{"2.6.10-x86_64", "vm.objspace", 1224},
		{"3.0.7-x86_64", "vm.objspace", 1088},
		{"3.1.4-x86_64", "vm.objspace", 1104},
		{"3.1.5-x86_64", "vm.objspace", 1112},
		{"3.1.7-x86_64", "vm.objspace", 1112},
		{"3.2.2-x86_64", "vm.objspace", 1128},
		{"3.2.3-x86_64", "vm.objspace", 1136},
		{"3.2.4-x86_64", "vm.objspace", 1144},
		{"3.2.6-x86_64", "vm", 9424},
		{"3.2.7-x86_64", "vm", 9432},
		{"3.2.11-x86_64", "vm.shape_list", 376},
		{"3.2.11-aarch64", "vm.shape_list", 392},
		{"3.3.0-x86_64", "vm", 9584},
		{"3.3.1-x86_64", "vm", 9592},
		{"3.3.6-x86_64", "vm", 9592},
		{"3.3.7-x86_64", "vm", 9600},
		{"3.3.11-x86_64", "vm.objspace", 1304},
		{"3.4.0-x86_64", "vm.objspace", 1296},
		{"3.4.9-x86_64", "vm.objspace", 1296},
		{"4.0.0-x86_64", "vm.objspace", 1248},
		{"4.0.5-x86_64", "vm.objspace", 1248},
		{"2.7.2-aarch64", "queue", 40},
		{"2.7.3-aarch64", "queue", 36},
		{"4.0.6-x86_64", "vm.objspace", 1256},
		{"4.0.6-x86_64", "vm.root_box", 576},
		{"4.0.6-x86_64", "thread.status", 256},
		{"4.0.6-x86_64", "thread.name", 456},
		{"4.0.6-x86_64", "ractor.running_ec", 320},
		{"4.0.6-x86_64", "ractor.vmlr_node", 368},
		{"4.0.6-x86_64", "vm", 9560},
		{"3.3.9-x86_64", "mutex.next_mutex", 8},
		{"3.3.10-x86_64", "mutex.next_mutex", 16},
		{"2.6.10-aarch64", "vm.objspace", 1248},
		{"3.0.7-aarch64", "ractor.running_ec", 536},
		{"3.4.9-aarch64", "vm.objspace", 1320},
		{"4.0.5-aarch64", "vm.objspace", 1272},
		{"3.3.11-x86_64-cet", "fiber.jit_cont", 664},
		{"3.3.11-x86_64", "fiber.jit_cont", 504},
		{"3.4.9-x86_64-cet", "fiber.jit_cont", 648},
		{"3.4.9-x86_64", "fiber.jit_cont", 488},
		{"3.3.11-aarch64", "fiber.jit_cont", 616},
		{"3.4.9-aarch64", "fiber.jit_cont", 872},
		{"2.6.10-x86_64", "fiber.status", 680},
		{"2.7.4-x86_64", "thread.name", 360},
		{"2.7.4-x86_64-cet", "thread.name", 520},
		{"3.0.7-x86_64-cet", "thread.name", 544},
		{"4.0.5-x86_64", "fiber.status", 552},
	};

	for (size_t i = 0; i < RCORE_COUNT(known); i++)
		ck_assert_msg(measure(known[i].table, known[i].what) == known[i].value,
			      "%s of %s: %ld", known[i].what, known[i].table,
			      measure(known[i].table, known[i].what));
}
END_TEST

/*
 * A hardened build moves the fiber struct after its jump buffer, and nothing
 * else. Up to 3.0, the thread had one, too.
 */
START_TEST(builds)
{
	static const char *const releases[] = {"3.1.7", "3.2.11", "3.3.11", "3.4.9"};
	for (size_t i = 0; i < RCORE_COUNT(releases); i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s-x86_64", releases[i]);
		struct rcore_layout plain = table_of(name);
		strcat(name, "-cet");
		struct rcore_layout cet = table_of(name);
		ck_assert_int_eq(plain.fiber.jmpbuf.size, 40);
		ck_assert_int_eq(cet.fiber.jmpbuf.size, 200);
		ck_assert_int_eq(cet.fiber.status.offset, plain.fiber.status.offset + 160);
		ck_assert_mem_eq(&cet.thread, &plain.thread, sizeof(plain.thread));
		ck_assert_mem_eq(&cet.vm, &plain.vm, sizeof(plain.vm));
	}
}
END_TEST

/* What a series added and removed. */
START_TEST(series)
{
	struct rcore_layout old = table_of("2.7.4-x86_64"), ractors = table_of("3.1.2-x86_64");

	ck_assert(rcore_has(&old.vm.living_threads) && !rcore_has(&ractors.vm.living_threads));
	ck_assert(!old.ractor.size && ractors.ractor.size);
	ck_assert_int_eq(ractors.constant.qnil, 8);
	ck_assert_int_eq(table_of("3.2.2-x86_64").constant.qnil, 4);
	ck_assert_int_eq(old.constant.last_op_id, 168);
	ck_assert_int_eq(table_of("4.0.5-x86_64").constant.last_op_id, 171);
}
END_TEST

START_TEST(traits)
{
	struct rcore_layout old = table_of("3.1.2-x86_64"), plain = table_of("3.3.8-x86_64");
	struct rcore_layout qualified = table_of("3.4.9-x86_64"),
			    boxes = table_of("4.0.5-x86_64");

	ck_assert(!old.traits.shapes && plain.traits.shapes);
	ck_assert_uint_eq(old.traits.heap_page_align, 16384);
	ck_assert_uint_eq(plain.traits.heap_page_align, 65536);
	ck_assert(!plain.traits.heap_pages_darray && qualified.traits.heap_pages_darray);
	ck_assert(!old.traits.sweep_aborted && plain.traits.sweep_aborted);
	ck_assert_uint_eq(plain.traits.singleton_flag, 1 << 12);
	ck_assert_uint_eq(qualified.traits.singleton_flag, 1 << 13);
	ck_assert_int_eq(plain.traits.label_style, RCORE_LABEL_PLAIN);
	ck_assert_int_eq(qualified.traits.label_style, RCORE_LABEL_QUALIFIED);
	ck_assert_int_eq(boxes.traits.label_style, RCORE_LABEL_BACKPATCH);
}
END_TEST

static unsigned off(const struct rcore_layout *layout, unsigned patch)
{
	return patch < layout->version[2]   ? layout->version[2] - patch
	       : patch > layout->last_patch ? patch - layout->last_patch
					    : 0;
}

static size_t series_tables(const unsigned *version, unsigned machine)
{
	size_t count = 0;

	for (int i = 0; i < table_count(); i++) {
		struct rcore_layout layout = table_at(i);
		count += layout.machine == machine && layout.version[0] == version[0] &&
			 layout.version[1] == version[1];
	}
	return count;
}

/* All tables of the series, the nearest first. */
START_TEST(candidates)
{
	static const struct {
		unsigned version[3], machine;
		size_t exact; /* builds of this release */
	} cases[] = {
		{{3, 3, 8}, EM_X86_64, 2},  {{3, 3, 99}, EM_X86_64, 0},
		{{3, 4, 99}, EM_X86_64, 0}, {{2, 7, 4}, EM_X86_64, 2},
		{{2, 6, 10}, EM_X86_64, 1}, {{3, 1, 2}, EM_AARCH64, 1},
	};

	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		struct rcore_layout *list;
		const unsigned *version = cases[i].version;
		size_t count, exact = 0;
		struct rcore_error *err =
			rcore_layout_candidates(version, cases[i].machine, &list, &count);
		ck_assert_ptr_null(err);
		ck_assert_uint_eq(count, series_tables(version, cases[i].machine));
		for (size_t j = 0; j < count; j++) {
			ck_assert_uint_eq(list[j].machine, cases[i].machine);
			ck_assert(list[j].version[0] == version[0] &&
				  list[j].version[1] == version[1]);
			exact += list[j].source == RCORE_LAYOUT_EXACT;
			ck_assert_int_eq(list[j].source, off(&list[j], version[2])
								 ? RCORE_LAYOUT_APPROXIMATE
								 : RCORE_LAYOUT_EXACT);
			ck_assert(!j ||
				  off(&list[j], version[2]) >= off(&list[j - 1], version[2]));
		}
		ck_assert_uint_eq(exact, cases[i].exact);
		free(list);
	}
}
END_TEST

START_TEST(no_candidates)
{
	static const unsigned newer[3] = {9, 1, 0}, older[3] = {2, 1, 6}, known[3] = {3, 3, 8};
	struct rcore_layout *list;
	size_t count;

	struct rcore_error *err = rcore_layout_candidates(newer, EM_X86_64, &list, &count);
	ck_assert_int_eq(err->code, RCORE_ERROR_NO_LAYOUT);
	ck_assert_ptr_nonnull(strstr(err->message, "Ruby 9.1.0 is newer than this rcore"));
	ck_assert_ptr_nonnull(strstr(err->message, "--layout"));
	rcore_error_free(err);
	err = rcore_layout_candidates(older, EM_X86_64, &list, &count);
	ck_assert_int_eq(err->code, RCORE_ERROR_NO_LAYOUT);
	ck_assert_ptr_nonnull(strstr(err->message, "Ruby 2.1.6 is too old; 2.6 and later"));
	rcore_error_free(err);
	err = rcore_layout_candidates(known, EM_S390, &list, &count);
	ck_assert_int_eq(err->code, RCORE_ERROR_NO_LAYOUT);
	rcore_error_free(err);
}
END_TEST

struct bytes {
	struct rcore_memory memory;
	uint64_t start;
	unsigned char data[16];
};

static enum rcore_fault read_bytes(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct bytes *bytes = (struct bytes *)memory;

	if (address < bytes->start || address - bytes->start > sizeof(bytes->data) ||
	    size > sizeof(bytes->data) - (address - bytes->start))
		return RCORE_FAULT_NOT_SAVED;
	memcpy(buffer, bytes->data + (address - bytes->start), size);
	return RCORE_FAULT_NONE;
}

START_TEST(read_field)
{
	static const struct {
		struct rcore_field field;
		enum rcore_fault fault;
		uint64_t value;
	} cases[] = {
		{{.offset = 0, .size = 1}, RCORE_FAULT_NONE, 0x11},
		{{.offset = 1, .size = 2}, RCORE_FAULT_NONE, 0x3322},
		{{.offset = 0, .size = 8}, RCORE_FAULT_NONE, 0x8877665544332211},
		{{.offset = 8, .size = 8}, RCORE_FAULT_NONE, 0xf0e0d0c0b0a09080},
		{{.offset = 9, .size = 8}, RCORE_FAULT_NOT_SAVED, 0},
		{{.offset = 0, .size = 4, .bit = 4, .bits = 4}, RCORE_FAULT_NONE, 1},
		{{.offset = 0, .size = 4, .bit = 4, .bits = 8}, RCORE_FAULT_NONE, 0x21},
		{{.offset = 15, .size = 4, .bit = 6, .bits = 2}, RCORE_FAULT_NONE, 3},
		{{.offset = 0, .size = 8, .bit = 0, .bits = 64},
		 RCORE_FAULT_NONE,
		 0x8877665544332211},
		{{.offset = 1, .size = 8, .bit = 4, .bits = 64},
		 RCORE_FAULT_NONE,
		 0x0808877665544332},
		{{.offset = RCORE_ABSENT, .size = 8}, RCORE_FAULT_UNMAPPED, 0},
		{{.offset = RCORE_UNMEASURED, .size = 8}, RCORE_FAULT_NOT_MEASURED, 0},
		{{.offset = 0, .size = 16}, RCORE_FAULT_UNMAPPED, 0},
		{{.offset = 0, .size = 0}, RCORE_FAULT_UNMAPPED, 0},
	};
	struct bytes bytes = {{read_bytes}, 0x1000, {0}};

	for (int i = 0; i < 16; i++)
		bytes.data[i] = (unsigned char)(i < 8 ? 0x11 * (i + 1) : i << 4);
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		uint64_t value = 0, copied = 0;
		ck_assert_int_eq(
			rcore_read_field(&bytes.memory, 0x1000, &cases[i].field, &value),
			cases[i].fault);
		ck_assert_uint_eq(value, cases[i].value);
		ck_assert_int_eq(rcore_field_of(bytes.data, sizeof(bytes.data), &cases[i].field,
						&copied),
				 cases[i].fault == RCORE_FAULT_NONE);
		ck_assert_uint_eq(copied, cases[i].value);
	}
	struct rcore_field last = {.offset = 8, .size = 8};
	uint64_t value;
	ck_assert_int_eq(rcore_read_field(&bytes.memory, UINT64_MAX - 4, &last, &value),
			 RCORE_FAULT_UNMAPPED);
	ck_assert(!rcore_field_of(bytes.data, 15, &last, &value));
}
END_TEST

int main(void)
{
	int count = table_count();
	const TTest *const tables[] = {every_field_exists_somewhere,
				       drifts_happened,
				       borrowed,
				       drift,
				       builds,
				       series,
				       traits,
				       candidates,
				       no_candidates};
	const struct rcore_test_loop tables_loops[] = {{round_trip, count},
						       {no_overlap, count},
						       {sizes, count},
						       {every_release, count},
						       {drift_alone, count}};
	const TTest *const fields[] = {read_field};
	const struct rcore_test_suite suites[] = {
		{
			.name = "layout, tables",
			.tests = tables,
			.count = RCORE_COUNT(tables),
			.looped = tables_loops,
			.looped_count = RCORE_COUNT(tables_loops),
		},
		{
			.name = "layout, fields",
			.tests = fields,
			.count = RCORE_COUNT(fields),
		},
	};
	int status = EXIT_SUCCESS;
	for (size_t i = 0; i < RCORE_COUNT(suites); i++)
		status |= rcore_test_suite_run(&suites[i]);
	return status;
}
