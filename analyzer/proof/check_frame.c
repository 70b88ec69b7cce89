/* SPDX-License-Identifier: MIT */
/* Control frames, environments, blocks and Procs. */
#include "proof/check.h"
#include "ruby/iseq/block.h"

/* The pc of a Ruby frame is in the code of its iseq. */
CHECK(cfp_pc)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t pc, iseq, body, code, size;
	return verdict_of(get(s, base, &layout->cfp.pc, &pc) &&
			  get(s, base, &layout->cfp.iseq, &iseq) &&
			  get(s, iseq, &layout->iseq.body, &body) &&
			  get(s, body, &layout->iseq_body.iseq_encoded, &code) &&
			  get(s, body, &layout->iseq_body.iseq_size, &size) &&
			  within_code(code, size, pc));
}

CHECK(cfp_self)
{
	uint64_t self;
	return verdict_of(get(s, base, field, &self) &&
			  (!rcore_is_object(s->ruby, self) || is_object(s, self, ~TYPE(NONE))));
}

/*
 * The block that was passed to a C function: code, a Proc or a Symbol; or a
 * block that was passed on, tagged.
 */
CHECK(cfp_block)
{
	enum { TAGS = 3 };
	uint64_t code;
	if (!get(s, base, field, &code))
		return RCORE_FAILS;
	return code && !(code & TAGS)
		       ? verdict_of(is_object(s, code, TYPE(IMEMO) | TYPE(DATA) | TYPE(SYMBOL)))
		       : RCORE_SILENT;
}

/*
 * Whether the memory at `address` is executable. A live process does not say so
 * of each range.
 */
static bool is_code(const struct rcore_samples *s, uint64_t address)
{
	const struct rcore_process *process = s->process;
	for (size_t i = 0; process && i < process->segment_count; i++)
		if (address - process->segments[i].start < process->segments[i].size)
			return process->segments[i].executable;
	return false;
}

/*
 * Where compiled code continues after the frame; NULL in the interpreter's
 * frames. ZJIT leaves the previous contents of the place (gen_push_frame()), so
 * no value shows that the field is wrong.
 */
CHECK(cfp_jit_return)
{
	uint64_t address;
	if (!get(s, base, field, &address))
		return RCORE_FAILS;
	return is_code(s, address) ? RCORE_HOLDS : RCORE_SILENT;
}

/* The environment's pointer to its own end: ep[VM_ENV_DATA_INDEX_ENV] */
CHECK(env_end)
{
	uint64_t ep, back;
	return verdict_of(get(s, base, field, &ep) && ep &&
			  !rcore_read_u64(s->ruby->memory, ep + sizeof(back), &back) &&
			  back == base);
}

CHECK(svar_method)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? verdict_of(is_object(s, value, TYPE(IMEMO))) : RCORE_SILENT;
}

/*
 * The first word of a block shows what it is. A new Proc begins with zeroes,
 * and its type is written last (vm_proc_create_from_captured() and
 * proc_create() of vm.c). Until then, the type is 0, that of code, but the
 * block has no code, or the contents of another type.
 */
static enum rcore_verdict block_verdict(const struct rcore_samples *s, uint64_t block)
{
	uint64_t type, code;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, block, &layout->block.type, &type) ||
	    !get(s, block, &layout->block.code, &code))
		return RCORE_FAILS;
	switch (type) {
	case RCORE_BLOCK_ISEQ:
		if (is_imemo(s, code, layout->traits.imemo_iseq))
			return RCORE_HOLDS;
		return !code || is_object(s, code, TYPE(IMEMO)) ? RCORE_SILENT : RCORE_FAILS;
	case RCORE_BLOCK_IFUNC:
		return verdict_of(is_object(s, code, TYPE(IMEMO)));
	case RCORE_BLOCK_PROC:
		return verdict_of(get(s, block, &layout->block.proc, &code) &&
				  is_object(s, code, TYPE(DATA)));
	case RCORE_BLOCK_SYMBOL:
		return verdict_of(get(s, block, &layout->block.proc, &code) &&
				  is_value(s, code));
	}
	return RCORE_FAILS;
}

CHECK(a_block)
{
	return block_verdict(s, base);
}

/* Mostly that of code, which is 0. */
CHECK(block_type)
{
	uint64_t type;
	if (!get(s, base, field, &type))
		return RCORE_FAILS;
	enum rcore_verdict verdict = block_verdict(s, base);
	return verdict == RCORE_HOLDS && !type ? RCORE_SILENT : verdict;
}

CHECK(proc_block)
{
	return block_verdict(s, member(base, field));
}

/* bit-fields of one byte: is_from_method, is_lambda, is_isolated */
CHECK(proc_flags)
{
	enum { KNOWN = 7 };
	return at_most(s, base,
		       &(struct rcore_field){.offset = field->offset, .size = sizeof(uint32_t)},
		       KNOWN);
}

CHECK(ifunc_of_block)
{
	uint64_t type, code;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, &layout->block.type, &type) || type != RCORE_BLOCK_IFUNC)
		return RCORE_SILENT;
	return get(s, base, &layout->block.code, &code) ? rcore_check_a_function(s, code, field)
							: RCORE_FAILS;
}
