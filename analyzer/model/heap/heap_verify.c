/* SPDX-License-Identifier: MIT */
#include "model/heap/heap_verify.h"

const char *rcore_heap_defect_name(enum rcore_heap_defect_kind kind)
{
	static const char *const names[RCORE_DEFECT_KINDS] = {
		[RCORE_DEFECT_FREE_SLOT] = "reference to a free slot",
		[RCORE_DEFECT_NO_SLOT] = "reference to no slot",
		[RCORE_DEFECT_GARBAGE] = "reference to garbage",
		[RCORE_DEFECT_BARRIER] = "missing write barrier",
		[RCORE_DEFECT_TYPE] = "flags of no type",
		[RCORE_DEFECT_CLASS] = "class that is no class",
	};
	return kind < RCORE_DEFECT_KINDS ? names[kind] : "defect";
}
