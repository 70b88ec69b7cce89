/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "sampler/native/kernel_symbols.h"
#include "sampler/sampler_private.h"

/*
 * Adds the kernel's frames of a record of the BPF program. The innermost ones
 * of a tracepoint are those that run the program:
 *
 *	bpf_prog_0123456789abcdef_rcore_switch
 *	bpf_trace_run4
 *	__traceiter_sched_switch       (or __bpf_trace_sched_switch)
 *	__schedule
 *	...
 */

/* How many frames run the program at most, and how their names begin. */
enum { RUNNING_MAX = 8 };

static const char *const running[] = {"bpf_trace_run", "__bpf_trace_", "__traceiter_"};

static bool runs_program(const char *name)
{
	for (size_t i = 0; i < RCORE_COUNT(running); i++)
		if (!strncmp(name, running[i], strlen(running[i])))
			return true;
	return false;
}

/*
 * Returns an address inside of the frame's function. All but the innermost are
 * return addresses: after a call that does not return, the next function
 * begins.
 */
static uint64_t inside(const uint64_t *addresses, size_t index)
{
	return addresses[index] - (index > 0);
}

/* Returns how many of the innermost frames run the program. */
static size_t first_of(const struct rcore_kernel_symbols *symbols, const uint64_t *addresses,
		       size_t count)
{
	struct rcore_kernel_symbol symbol;
	size_t first = 0;
	for (size_t i = 0; i < count && i < RUNNING_MAX; i++)
		if (rcore_kernel_symbol_at(symbols, inside(addresses, i), &symbol) &&
		    runs_program(symbol.name))
			first = i + 1;
	return first;
}

static uint32_t frame_of(struct rcore_sampler *sampler, uint64_t address)
{
	struct rcore_profile *profile = sampler->profile;
	struct rcore_kernel_symbol symbol = {.name = "[unknown]"};
	rcore_kernel_symbol_at(sampler->options.kernel, address, &symbol);
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_KERNEL,
		.label = rcore_profile_string(profile, symbol.name),
		.path = rcore_profile_string(profile, symbol.module ? symbol.module
								    : RCORE_PROFILE_KERNEL),
	};
	return rcore_profile_frame(profile, rcore_profile_function(profile, &function), 0);
}

uint32_t rcore_sampler_kernel_node(struct rcore_sampler *sampler,
				   const struct rcore_bpf_record *record, uint32_t node)
{
	const struct rcore_kernel_symbols *symbols = sampler->options.kernel;
	const struct rcore_bpf_machine *machine = rcore_bpf_machine(record);
	const uint8_t *bytes = rcore_bpf_frames(record);
	uint64_t addresses[RCORE_BPF_KERNEL_MAX];
	size_t count = record->kernel_count;
	if (!symbols || !count || count > RCORE_BPF_KERNEL_MAX)
		return node;
	bytes += record->frame_bytes + record->value_bytes + record->machine_bytes;
	for (size_t i = 0; machine && i < RCORE_BPF_PARTS; i++)
		bytes += machine->parts[i].bytes;
	memcpy(addresses, bytes, count * sizeof(*addresses));
	size_t first = first_of(symbols, addresses, count);
	/* Without names, one frame says where the thread was. */
	if (rcore_kernel_symbols_are_hidden(symbols))
		first = count - 1;
	for (size_t i = count; i-- > first;)
		node = rcore_profile_node(sampler->profile, node,
					  frame_of(sampler, inside(addresses, i)));
	return node;
}
