/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the fields of code and objects.
 */
#include <string.h>

#include "ruby/heap.h"
#include "ruby/iseq.h"
#include "proof/check.h"

static bool stop(void *context, uint64_t value, const void *copy, size_t size)
{
	*(bool *)context = true;
	return false;
}

enum rcore_verdict rcore_judge_heap(const struct rcore_samples *s, uint64_t objspace)
{
	size_t tested, held;
	if (!readable(s, objspace))
		return RCORE_FAILS;
	rcore_auto_error err = rcore_heap_prove(s->ruby, objspace, &tested, &held);
	return told(!err && held * 2 > tested);
}

/* All pages of the list prove themselves; a core may lack some. */
JUDGE(objspace_pages)
{
	size_t unreadable = 0;
	bool seen = false;
	if (rcore_judge_heap(s, base) != RCORE_HOLDS)
		return RCORE_FAILS;
	rcore_auto_error err =
		rcore_heap_walk(s->ruby, base, RCORE_T_MASK, stop, &seen, &unreadable);
	return err ? RCORE_FAILS : unreadable ? RCORE_SILENT : RCORE_HOLDS;
}

JUDGE(objspace_list)
{
	return layout_of(s)->traits.heap_pages_darray ? objspace_pages(s, base, field)
						      : RCORE_SILENT;
}

/* Of 3.4 on the list has its length itself. */
JUDGE(objspace_count)
{
	return layout_of(s)->traits.heap_pages_darray ? RCORE_SILENT
						      : objspace_pages(s, base, field);
}

static bool pc_lies_in(const struct rcore_samples *s, uint64_t pc, uint64_t iseq)
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

/* The block that a C function was called with: code, a Proc or a Symbol; or a handed on one, tagged. */
JUDGE(cfp_block)
{
	enum { TAGS = 3 };
	uint64_t code;
	if (!get(s, base, field, &code))
		return RCORE_FAILS;
	return code && !(code & TAGS)
		       ? told(is_object(s, code, TYPE(IMEMO) | TYPE(DATA) | TYPE(SYMBOL)))
		       : RCORE_SILENT;
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

JUDGE(a_label)
{
	return object_of(s, base, field, TYPE(STRING));
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

/* The samples are those of Thread objects. */
JUDGE(type_name)
{
	uint64_t address;
	char name[16];
	return told(get(s, base, field, &address) &&
		    !rcore_read_string(s->ruby->memory, address, name, sizeof(name)) &&
		    !strcmp(name, "VM/thread"));
}

static bool has_serial(const struct rcore_samples *s, uint64_t ids, uint64_t serial)
{
	uint64_t name;
	rcore_auto_error err = rcore_serial_string(s->ruby, ids, serial, &name);
	return !err && is_object(s, name, TYPE(STRING));
}

/* The last serial that was given, or the next that will be. */
JUDGE(last_serial)
{
	uint64_t ids, last;
	return told(get(s, base, &layout_of(s)->symbols.ids, &ids) &&
		    get(s, base, field, &last) && last &&
		    (has_serial(s, ids, last) || has_serial(s, ids, last - 1)) &&
		    !has_serial(s, ids, last + 1));
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
	RULE(cfp, block_code, cfp_block),
	RULE(iseq, flags, iseq_flags),
	RULE(iseq, body, cfp_pointer),
	RULE(iseq_body, type, iseq_body_type),
	RULE(iseq_body, iseq_size, iseq_body_code),
	RULE(iseq_body, iseq_encoded, iseq_body_code),
	RULE(iseq_body, pathobj, a_path),
	RULE(iseq_body, base_label, a_label),
	RULE(iseq_body, label, a_label),
	RULE(iseq_body, parent_iseq, an_iseq),
	RULE(iseq_body, local_iseq, an_iseq),
	RULE(cme, flags, a_method),
	RULE(cme, defined_class, a_class),
	RULE(cme, def, a_definition),
	RULE(cme, called_id, an_id),
	RULE(cme, owner, a_class),
	RULE(data, type, data_type),
	RULE(data, data, data_data),
	RULE(data_type, wrap_struct_name, type_name),
	RULE(objspace, heap_pages_sorted, objspace_pages),
	RULE(objspace, heap_pages_allocated, objspace_count),
	RULE_ON(objspace, heap_page, slot_size, objspace_pages),
	RULE_ON(objspace, heap_page, total_slots, objspace_pages),
	RULE_ON(objspace, heap_page, start, objspace_pages),
	RULE_ON(objspace, darray, length, objspace_list),
	RULE(symbols, last_id, last_serial),
	RULE(symbols, ids, proved),
};

const size_t rcore_code_rules_count = sizeof(rcore_code_rules) / sizeof(*rcore_code_rules);
