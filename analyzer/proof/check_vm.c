/* SPDX-License-Identifier: MIT */
/* The VM, its boxes and its ractors. */
#include <string.h>

#include "proof/check.h"
#include "ruby/object/array.h"
#include "ruby/object/string.h"

/*
 * The most bytes between the end of the struct, as the layout has it, and a
 * field.
 */
enum { SLACK = 128 };

static long count_threads(const struct rcore_samples *s, uint64_t head)
{
	uint64_t thread = rcore_samples_main_thread(s);
	return list_through(s, head, thread, thread + layout_of(s)->thread.size + SLACK);
}

static long count_ractors(const struct rcore_samples *s, uint64_t head)
{
	uint64_t ractor = s->ractor.count ? s->ractor.at[0] : 0;
	return list_through(s, head, ractor, ractor + layout_of(s)->ractor.size + SLACK);
}

CHECK(list_of_threads)
{
	return verdict_of(count_threads(s, member(base, field)) > 0);
}

static enum rcore_verdict counts(const struct rcore_samples *s, uint64_t base,
				 const struct rcore_field *field, long length)
{
	uint64_t value;
	if (length < 0 || !get(s, base, field, &value))
		return RCORE_SILENT;
	if ((uint64_t)length == value)
		return RCORE_HOLDS;
	/* One of them is ahead of the other. */
	return rcore_list_counts((size_t)length, value) ? RCORE_SILENT : RCORE_FAILS;
}

CHECK(vm_living_count)
{
	return counts(s, base, field,
		      count_threads(s, member(base, &layout_of(s)->vm.living_threads)));
}

CHECK(vm_ractor_set)
{
	return verdict_of(count_ractors(s, member(base, field)) > 0);
}

CHECK(vm_ractor_count)
{
	return counts(s, base, field,
		      count_ractors(s, member(base, &layout_of(s)->vm.ractor_set)));
}

CHECK(vm_main_ractor)
{
	uint64_t ractor;
	return verdict_of(
		get(s, base, field, &ractor) && ractor &&
		leads(s, rcore_samples_main_thread(s), &layout_of(s)->thread.ractor, ractor));
}

CHECK(vm_shape_list)
{
	uint64_t shapes, parent, type;
	return verdict_of(get(s, base, field, &shapes) &&
			  get(s, shapes, &layout_of(s)->shape.parent_id, &parent) &&
			  get(s, shapes, &layout_of(s)->shape.type, &type) &&
			  parent == UINT32_MAX && type == 0);
}

CHECK(a_box)
{
	uint64_t box;
	if (!get(s, base, field, &box))
		return RCORE_FAILS;
	return box ? object_of(s, box, &layout_of(s)->box.loaded_features, TYPE(ARRAY))
		   : RCORE_SILENT;
}

/* "main": an Object with methods of its own (to_s, inspect) */
CHECK(main_object)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t object, klass, flags;
	if (!get(s, base, field, &object))
		return RCORE_FAILS;
	if (!object)
		return RCORE_SILENT;
	return verdict_of(is_object(s, object, TYPE(OBJECT)) &&
			  get(s, object, &layout->basic.klass, &klass) &&
			  get(s, klass, &layout->basic.flags, &flags) &&
			  flags & layout->traits.singleton_flag);
}

/* $LOADED_FEATURES: an Array of paths, not the hidden copy of one. */
CHECK(loaded_features)
{
	static const char ruby[] = ".rb", library[] = ".so";
	uint64_t array, klass, first, bytes, length;
	char end[4] = {0};
	if (!get(s, base, field, &array) || !is_object(s, array, TYPE(ARRAY)) ||
	    !get(s, array, &layout_of(s)->basic.klass, &klass) || !klass)
		return RCORE_FAILS;
	rcore_auto_error err = rcore_array_at(s->ruby, array, 0, &first);
	if (rcore_sample_failed(s, err))
		return RCORE_SILENT;
	err = rcore_string_bytes(s->ruby, first, &bytes, &length);
	if (rcore_sample_failed(s, err) || length < sizeof(end) ||
	    rcore_read(s->ruby->memory, bytes + length - (sizeof(end) - 1), end,
		       sizeof(end) - 1))
		return RCORE_FAILS;
	return verdict_of(!strcmp(end, ruby) || !strcmp(end, library));
}

CHECK(ractor_id)
{
	uint64_t id;
	return verdict_of(get(s, base, field, &id) && id > 0 && id < RCORE_RACTOR_LIMIT);
}

CHECK(ractor_threads_count)
{
	return counts(s, base, field,
		      count_threads(s, member(base, &layout_of(s)->ractor.threads_set)));
}

CHECK(ractor_main)
{
	uint64_t thread;
	return verdict_of(get(s, base, field, &thread) &&
			  leads(s, thread, &layout_of(s)->thread.ractor, base));
}

CHECK(ractor_running_ec)
{
	uint64_t ec, thread;
	if (!get(s, base, field, &ec))
		return RCORE_FAILS;
	return ec ? verdict_of(get(s, ec, &layout_of(s)->ec.thread_ptr, &thread) &&
			       leads(s, thread, &layout_of(s)->thread.ractor, base))
		  : RCORE_SILENT;
}

CHECK(ractor_node)
{
	uint64_t node = member(base, field);
	return verdict_of(list_through(s, member(s->vm.at[0], &layout_of(s)->vm.ractor_set),
				       node, node + 1) > 0);
}

/* enum ractor_status: created, running, blocking, terminated */
CHECK(ractor_status)
{
	enum { TERMINATED = 3 };
	return at_most(s, base, field, TERMINATED);
}
