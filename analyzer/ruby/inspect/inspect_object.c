/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "ruby/object/core_class.h"
#include "ruby/inspect/inspect_private.h"

/* Chooses the function by the name of the class. */
static rcore_inspect_type *of_class(const char *name)
{
	static const struct {
		const char *name;
		rcore_inspect_type *inspect;
	} classes[] = {
		{"Pathname", rcore_inspect_pathname},
		{"Process::Status", rcore_inspect_status},
	};
	for (size_t i = 0; name && i < RCORE_COUNT(classes); i++)
		if (!strcmp(classes[i].name, name))
			return classes[i].inspect;
	return rcore_inspect_default;
}

struct rcore_error *rcore_inspect_object(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	struct rcore_ruby *ruby = inspect->ruby;
	enum rcore_core_class kind = RCORE_CLASS_OTHER;
	uint64_t klass;
	if (value == ruby->top_self) {
		rcore_inspect_puts(inspect, "main");
		return NULL;
	}
	struct rcore_error *err = rcore_value_class(ruby, value, &klass);
	if (!err)
		err = rcore_core_class(ruby, klass, &kind);
	if (err)
		return err;
	if (kind == RCORE_CLASS_EXCEPTION)
		return rcore_inspect_exception(inspect, value, flags);
	if (kind == RCORE_CLASS_SET)
		return rcore_inspect_old_set(inspect, value, flags);
	const char *name = NULL;
	rcore_inspect_problem(inspect, rcore_value_class_name(ruby, value, &name));
	return of_class(name)(inspect, value, flags);
}
