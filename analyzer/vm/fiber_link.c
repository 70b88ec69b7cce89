/* SPDX-License-Identifier: MIT */
#include "vm/fiber_link.h"

#include "ruby/object/value.h"

enum rcore_fault rcore_fiber_resuming(struct rcore_ruby *ruby, uint64_t address, uint64_t *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t other;
	enum rcore_fault fault =
		rcore_read_field(ruby->memory, address, &layout->fiber.resuming_fiber, &other);
	if (!fault && layout->traits.resuming_object && rcore_is_nil(ruby, other))
		other = 0;
	else if (!fault && layout->traits.resuming_object)
		fault = rcore_read_field(ruby->memory, other, &layout->data.data, &other);
	if (!fault)
		*ret = other;
	return fault;
}
