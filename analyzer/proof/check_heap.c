/* SPDX-License-Identifier: MIT */
/* The object heap: its pages, and the state of the collector. */
#include "proof/check.h"
#include "ruby/heap/heap.h"

static bool stop(void *context, uint64_t value, const void *copy, size_t size)
{
	*(bool *)context = true;
	return false;
}

static enum rcore_verdict prove_heap(const struct rcore_samples *s, uint64_t objspace)
{
	size_t tested, held;
	if (!readable(s, objspace))
		return RCORE_FAILS;
	rcore_auto_error err = rcore_heap_prove(s->ruby, objspace, &tested, &held);
	return verdict_of(!rcore_sample_failed(s, err) && held * 2 > tested);
}

CHECK(vm_objspace)
{
	uint64_t objspace;
	return get(s, base, field, &objspace) ? prove_heap(s, objspace) : RCORE_FAILS;
}

/* Every page of the list passes its check. A core may lack some pages. */
CHECK(objspace_pages)
{
	size_t unreadable = 0;
	bool seen = false;
	if (prove_heap(s, base) != RCORE_HOLDS)
		return RCORE_FAILS;
	rcore_auto_error err =
		rcore_heap_walk(s->ruby, base, RCORE_T_MASK, stop, &seen, &unreadable);
	if (rcore_sample_failed(s, err))
		return RCORE_FAILS;
	return unreadable ? RCORE_SILENT : RCORE_HOLDS;
}

CHECK(objspace_list)
{
	return layout_of(s)->traits.heap_pages_darray
		       ? rcore_check_objspace_pages(s, base, field)
		       : RCORE_SILENT;
}

/* From 3.4 on, the list itself has its length. */
CHECK(objspace_count)
{
	return layout_of(s)->traits.heap_pages_darray
		       ? RCORE_SILENT
		       : rcore_check_objspace_pages(s, base, field);
}

/* flags: two bits are the mode; the others say what is in progress. */
CHECK(objspace_flags)
{
	enum { KNOWN_BITS = 20 };
	struct rcore_field word = {.offset = layout_of(s)->objspace.gc_mode.offset,
				   .size = sizeof(uint32_t)};
	uint64_t value;
	if (!get(s, base, &word, &value) || value >> KNOWN_BITS)
		return RCORE_FAILS;
	return value ? RCORE_HOLDS : RCORE_SILENT;
}
