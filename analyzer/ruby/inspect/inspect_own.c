/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/inspect/inspect_types.h"
#include "ruby/object/box.h"
#include "ruby/object/ivar.h"
#include "ruby/object/string.h"

/*
 * Classes with an `inspect` of their own in C. Most of them use a struct of an
 * extension or a library that no table measures. Such an object is printed as
 * "#<Date ...>", which no inspect prints. Kernel#inspect's form could be
 * mistaken for their own.
 */
static void put_opaque(struct rcore_inspect *inspect, uint64_t value)
{
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	rcore_inspect_puts(inspect, " ...>");
}

struct rcore_error *rcore_inspect_opaque(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t data)
{
	put_opaque(inspect, value);
	return NULL;
}

static bool is_string(struct rcore_inspect *inspect, uint64_t value)
{
	uint64_t flags;
	if (!rcore_is_object(inspect->ruby, value))
		return false;
	struct rcore_error *err = rcore_flags(inspect->ruby, value, &flags);
	if (!err)
		return (flags & RCORE_T_MASK) == RCORE_T_STRING;
	rcore_inspect_problem(inspect, err);
	return false;
}

/* "#<Dir:/srv>" */
static struct rcore_error *put_path(struct rcore_inspect *inspect, uint64_t value,
				    uint64_t path)
{
	if (!is_string(inspect, path)) {
		put_opaque(inspect, value);
		return NULL;
	}
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	rcore_inspect_puts(inspect, ":");
	struct rcore_error *err = rcore_inspect_raw(inspect, path);
	rcore_inspect_puts(inspect, ">");
	return err;
}

/*
 * dir_inspect of dir.c. struct dir_data has the path after the DIR * in all of
 * 2.6 to 4.0.
 */
struct rcore_error *rcore_inspect_dir(struct rcore_inspect *inspect, uint64_t value,
				      uint64_t data)
{
	uint64_t path;
	enum { PATH = 8 };
	enum rcore_fault fault = rcore_read_u64(inspect->ruby->memory, data + PATH, &path);
	if (fault)
		return rcore_fault_error(fault, "the path of a Dir", data + PATH, sizeof(path));
	return put_path(inspect, value, path);
}

/* path_inspect of pathname.c */
struct rcore_error *rcore_inspect_pathname(struct rcore_inspect *inspect, uint64_t value,
					   uint64_t flags)
{
	uint64_t path = 0;
	bool found = false;
	struct rcore_error *err = rcore_ivar_get(inspect->ruby, value, "@path", &found, &path);
	return err ? err : put_path(inspect, value, path);
}

/* Up to 2.7, its ivars have names that Ruby code does not see. */
struct rcore_error *rcore_inspect_status(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	put_opaque(inspect, value);
	return NULL;
}

/* rb_box_inspect of box.c: "#<Ruby::Box:3,user,optional>" */
struct rcore_error *rcore_inspect_box(struct rcore_inspect *inspect, uint64_t module, bool *ret)
{
	struct rcore_box box;
	struct rcore_error *err = rcore_box(inspect->ruby, module, ret, &box);
	if (!err && *ret)
		rcore_inspect_printf(inspect, "#<Ruby::Box:%" PRIu64 "%s%s>", box.id,
				     box.is_user ? ",user" : ",root",
				     !box.is_user      ? ""
				     : box.is_optional ? ",optional"
						       : ",main");
	if (!err || err->code != RCORE_ERROR_CORRUPT || !*ret)
		return err;
	rcore_error_free(err);
	put_opaque(inspect, module);
	return NULL;
}
