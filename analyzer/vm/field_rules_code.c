/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the fields of code and objects.
 */
#include <string.h>

#include "ruby/heap.h"
#include "ruby/iseq.h"
#include "vm/field_judge.h"

static bool stop(void *context, uint64_t value, const void *copy, size_t size)
{
	*(bool *)context = true;
	return false;
}

enum rcore_verdict rcore_judge_heap(const struct rcore_specimens *s, uint64_t objspace)
{
	bool seen = false;
	rcore_auto_error err =
		readable(s, objspace)
			? rcore_heap_walk(s->ruby, objspace, RCORE_T_STRING, stop, &seen, NULL)
			: NULL;
	return told(!err && seen);
}

JUDGE(objspace_pages)
{
	return rcore_judge_heap(s, base);
}

static bool pc_lies_in(const struct rcore_specimens *s, uint64_t pc, uint64_t iseq)
{
	uint64_t body, code, size;
	const struct rcore_layout *layout = layout_of(s);
	return get(s, iseq, &layout->iseq.body, &body) &&
	       get(s, body, &layout->iseq_body.iseq_encoded, &code) &&
	       get(s, body, &layout->iseq_body.iseq_size, &size) && pc >= code &&
	       pc - code <= size * sizeof(uint64_t);
}

JUDGE(cfp_pc)
{
	uint64_t pc, iseq;
	return told(get(s, base, field, &pc) && get(s, base, &layout_of(s)->cfp.iseq, &iseq) &&
		    pc_lies_in(s, pc, iseq));
}

JUDGE(cfp_iseq)
{
	uint64_t pc, iseq;
	return told(get(s, base, field, &iseq) && get(s, base, &layout_of(s)->cfp.pc, &pc) &&
		    pc_lies_in(s, pc, iseq));
}

JUDGE(cfp_pointer)
{
	uint64_t pointer;
	return told(get(s, base, field, &pointer) && readable(s, pointer));
}

JUDGE(cfp_self)
{
	uint64_t self;
	return told(get(s, base, field, &self) &&
		    (!rcore_is_object(s->ruby, self) || is_object(s, self, ~TYPE(NONE))));
}

JUDGE(iseq_flags)
{
	return told(is_imemo(s, base, layout_of(s)->traits.imemo_iseq));
}

JUDGE(iseq_body_type)
{
	uint64_t type;
	return told(get(s, base, field, &type) && type < RCORE_ISEQ_TYPE_COUNT);
}

/* That a pc of a frame lies in it, is the proof of cfp.pc. */
JUDGE(iseq_body_code)
{
	uint64_t value;
	return told(get(s, base, field, &value) && value);
}

JUDGE(a_path)
{
	uint64_t value;
	return told(get(s, base, field, &value) &&
		    is_object(s, value, TYPE(STRING) | TYPE(ARRAY)));
}

JUDGE(a_string)
{
	uint64_t value;
	return told(get(s, base, field, &value) && is_object(s, value, TYPE(STRING)));
}

JUDGE(an_iseq)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? told(is_imemo(s, value, layout_of(s)->traits.imemo_iseq)) : RCORE_SILENT;
}

JUDGE(a_method)
{
	return told(is_imemo(s, base, layout_of(s)->traits.imemo_ment));
}

JUDGE(a_class)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? told(is_object(s, value, TYPE(CLASS) | TYPE(MODULE) | TYPE(ICLASS)))
		     : RCORE_SILENT;
}

JUDGE(a_definition)
{
	uint64_t def, type;
	return told(get(s, base, field, &def) &&
		    get(s, def, &layout_of(s)->method_def.type, &type) && type <= 11);
}

JUDGE(an_id)
{
	uint64_t id;
	return told(get(s, base, field, &id) && id && id < UINT64_C(1) << 48);
}

JUDGE(data_type)
{
	uint64_t type;
	return told(get(s, base, field, &type) && readable(s, type & ~UINT64_C(1)));
}

JUDGE(data_data)
{
	uint64_t thread;
	return told(get(s, base, field, &thread) && is_thread(s, thread));
}

/* The specimens are those of Thread objects. */
JUDGE(type_name)
{
	uint64_t address;
	char name[16];
	return told(get(s, base, field, &address) &&
		    !rcore_read_string(s->ruby->memory, address, name, sizeof(name)) &&
		    !strcmp(name, "VM/thread"));
}

/* A symbol table that stands here has proved itself by its names. */
JUDGE(proved)
{
	return RCORE_HOLDS;
}

const struct rcore_field_rule rcore_code_rules[] = {
	RULE(cfp, pc, cfp_pc),
	RULE(cfp, sp, cfp_pointer),
	RULE(cfp, iseq, cfp_iseq),
	RULE(cfp, self, cfp_self),
	RULE(cfp, ep, cfp_pointer),
	RULE(iseq, flags, iseq_flags),
	RULE(iseq, body, cfp_pointer),
	RULE(iseq_body, type, iseq_body_type),
	RULE(iseq_body, iseq_size, iseq_body_code),
	RULE(iseq_body, iseq_encoded, iseq_body_code),
	RULE(iseq_body, pathobj, a_path),
	RULE(iseq_body, base_label, a_string),
	RULE(iseq_body, label, a_string),
	RULE(iseq_body, local_table, pointer_or_null),
	RULE(iseq_body, parent_iseq, an_iseq),
	RULE(iseq_body, local_iseq, an_iseq),
	RULE(cme, flags, a_method),
	RULE(cme, defined_class, a_class),
	RULE(cme, def, a_definition),
	RULE(cme, called_id, an_id),
	RULE(cme, owner, a_class),
	RULE(method_def, original_id, an_id),
	RULE(data, type, data_type),
	RULE(data, data, data_data),
	RULE(data_type, wrap_struct_name, type_name),
	RULE(objspace, heap_pages_sorted, objspace_pages),
	RULE(objspace, heap_pages_allocated, objspace_pages),
	RULE(symbols, last_id, proved),
	RULE(symbols, ids, proved),
};

const size_t rcore_code_rules_count = sizeof(rcore_code_rules) / sizeof(*rcore_code_rules);
