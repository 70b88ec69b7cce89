/* SPDX-License-Identifier: MIT */
#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"

/*
 * rb_io_inspect of io.c: the path with which it was opened, otherwise the file
 * descriptor.
 */
struct rcore_error *rcore_inspect_file(struct rcore_inspect *inspect, uint64_t value,
				       uint64_t flags)
{
	struct rcore_ruby *ruby = inspect->ruby;
	uint64_t io, fd, path;
	struct rcore_error *err = RCORE_GET(ruby, value, file, fptr, &io);
	if (!err && !io)
		return rcore_inspect_default(inspect, value, flags);
	if (!err)
		err = RCORE_GET(ruby, io, io, fd, &fd);
	if (!err)
		err = RCORE_GET(ruby, io, io, pathv, &path);
	if (err)
		return err;
	bool is_closed = (int32_t)fd < 0;
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	rcore_inspect_puts(inspect, ":");
	if (!rcore_is_nil(ruby, path)) {
		err = rcore_inspect_raw(inspect, path);
		rcore_inspect_puts(inspect, is_closed ? " (closed)>" : ">");
	} else if (is_closed) {
		rcore_inspect_puts(inspect, "(closed)>");
	} else {
		rcore_inspect_printf(inspect, "fd %d>", (int32_t)fd);
	}
	return err;
}
