/* SPDX-License-Identifier: MIT */
#include "ruby/object/class_name.h"
#include "ruby/inspect/inspect_private.h"
#include "ruby/object/ivar.h"

static struct rcore_error *next_attached(struct rcore_inspect *inspect,
					 struct rcore_inspect_frame *frame, bool *more,
					 uint64_t *child)
{
	*more = frame->index++ < frame->count;
	*child = frame->data[0];
	return NULL;
}

/*
 * "#<Class:Foo>"; "#<Class:#<Foo:0x...>>" if the object is not a class, without
 * its inspect.
 */
static struct rcore_error *inspect_singleton(struct rcore_inspect *inspect, uint64_t klass,
					     uint64_t attached)
{
	enum rcore_type type;
	struct rcore_error *err = rcore_type(inspect->ruby, attached, &type);
	if (err)
		return err;
	if (rcore_inspect_is_open(inspect, klass))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "a singleton class is attached to itself");
	rcore_inspect_puts(inspect, "#<Class:");
	if (type != RCORE_T_CLASS && type != RCORE_T_MODULE) {
		rcore_inspect_address(inspect, attached);
		rcore_inspect_puts(inspect, ">>");
		return NULL;
	}
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = klass,
						   .next = next_attached,
						   .data = {attached},
						   .count = 1,
						   .is_whole = true,
						   .close = ">",
					   });
}

static struct rcore_error *next_of_refinement(struct rcore_inspect *inspect,
					      struct rcore_inspect_frame *frame, bool *more,
					      uint64_t *child)
{
	*more = frame->index < frame->count;
	if (!*more)
		return NULL;
	if (frame->index)
		rcore_inspect_puts(inspect, "@");
	*child = frame->data[frame->index++];
	return NULL;
}

/* "#<refinement:String@Foo>"; *done is false if it is not a refinement. */
static struct rcore_error *inspect_refinement(struct rcore_inspect *inspect, uint64_t module,
					      bool *done)
{
	struct rcore_inspect_frame frame = {.value = module,
					    .next = next_of_refinement,
					    .count = 2,
					    .is_whole = true,
					    .close = ">"};
	struct rcore_error *err = rcore_ivar_get(inspect->ruby, module, "__refined_class__",
						 done, &frame.data[0]);
	if (!err && *done)
		err = rcore_ivar_get(inspect->ruby, module, "__defined_at__", done,
				     &frame.data[1]);
	if (err || !*done)
		return err;
	if (rcore_inspect_is_open(inspect, module))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "a refinement refines itself");
	rcore_inspect_puts(inspect, "#<refinement:");
	return rcore_inspect_open(inspect, &frame);
}

/* rb_mod_to_s of object.c */
struct rcore_error *rcore_inspect_class(struct rcore_inspect *inspect, uint64_t value,
					uint64_t flags)
{
	struct rcore_class_name name;
	const char *path;
	bool done = false;
	struct rcore_error *err = rcore_class_name(inspect->ruby, value, &name);
	if (!err && name.is_singleton)
		return inspect_singleton(inspect, value, name.attached);
	if (!err && name.is_module)
		err = inspect_refinement(inspect, value, &done);
	if (!err && name.is_module && !done)
		err = rcore_inspect_box(inspect, value, &done);
	if (!err && !done)
		err = rcore_class_path(inspect->ruby, value, &path);
	if (!err && !done)
		rcore_inspect_puts(inspect, path);
	return err;
}
