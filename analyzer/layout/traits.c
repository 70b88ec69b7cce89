/* SPDX-License-Identifier: MIT */
#include "layout/layout.h"

static bool since(const struct rcore_layout *layout, unsigned major, unsigned minor)
{
	if (layout->version[0] != major)
		return layout->version[0] > major;
	return layout->version[1] >= minor;
}

static bool since_patch(const struct rcore_layout *layout, unsigned major, unsigned minor,
			unsigned patch)
{
	if (layout->version[0] != major || layout->version[1] != minor)
		return since(layout, major, minor);
	return layout->version[2] >= patch;
}

/* RUBY_FL_... of include/ruby/internal/fl_type.h. */
enum {
	FL_FREEZE = 1u << 11,
	FL_USER0 = 1u << 12,
	FL_USER1 = 1u << 13,
	FL_USER2 = 1u << 14,
	FL_USER3 = 1u << 15,
	FL_USER4 = 1u << 16,
	FL_USER5 = 1u << 17,
	FL_USER8 = 1u << 20,
	FL_USER12 = 1u << 24,
};

void rcore_layout_set_traits(struct rcore_layout *layout)
{
	struct rcore_traits *traits = &layout->traits;

	*traits = (struct rcore_traits){
		.label_style = since(layout, 4, 0)   ? RCORE_LABEL_BACKPATCH
			       : since(layout, 3, 4) ? RCORE_LABEL_QUALIFIED
						     : RCORE_LABEL_PLAIN,
		/* cont.c, cont_init_jit_cont */
		.fibers_listed = since(layout, 3, 3),
		/* cont.c, struct rb_fiber_struct */
		.resuming_object = since(layout, 3, 0) && !since(layout, 3, 1),
		/* cont.c, fiber_setcontext */
		.ec_switched_first = !since(layout, 3, 1),
		/*
		 * vm_insnhelper.c, vm_push_frame; yjit_codegen.c and
		 * yjit/src/codegen.rs, gen_push_frame
		 */
		.frames_pushed_first =
			!since(layout, 3, 0) || (since(layout, 3, 1) && !since(layout, 3, 3)),
		/* cont.c, fiber_machine_stack_alloc */
		.guard_inside = !since(layout, 2, 7),
		/* coroutine/arm64/Context.S */
		.coroutine_link = since(layout, 3, 3),
		.shapes = since(layout, 3, 2),
		/* shape.h, SHAPE_ID_OFFSET_MASK */
		.shape_id_mask = since(layout, 4, 0) ? (1u << 19) - 1 : UINT32_MAX,
		.shape_tree_is_struct = since(layout, 4, 0),
		/* internal/struct.h, RSTRUCT_EMBED_LEN_MASK */
		.struct_embed_mask = since(layout, 3, 3) ? 0x7f : 3,
		/*
		 * rarray.h, RARRAY_EMBED_LEN_MASK. Up to 3.1, the next bit
		 * marks a shared root, and rb_ary_cancel_sharing() (array.c)
		 * may leave it set when it sets the flag of embedded Arrays.
		 */
		.array_embed_mask = since(layout, 3, 2) ? 0x7f : 3,
		/* error.c, exc_inspect */
		.exception_quotes_newlines = since(layout, 3, 2),
		/* error.c, name_err_mesg_to_str */
		.receiver_inspect_limited = !since(layout, 3, 0),
		/* proc.c, method_inspect */
		.method_shows_parameters = since(layout, 2, 7),
		.method_of_class = since(layout, 2, 7) && !since(layout, 3, 0),
		.method_of_owner = since(layout, 3, 2),
		.method_forwards_all = since(layout, 3, 2),
		/* time.c, time_inspect */
		.time_offset_seconds = since(layout, 3, 1),
		.time_fraction = since(layout, 2, 7),
		/* proc.c, rb_block_to_s; thread.c, rb_thread_to_s */
		.place_after_at = !since(layout, 2, 7),
		/* range.c, inspect_range */
		.range_always_begins = !since(layout, 2, 7),
		/* string.c, rb_str_inspect */
		.next_line_printable = !since(layout, 3, 2),
		.dummy_utf_by_mark = !since(layout, 3, 2),
		/* encoding.c, rb_enc_inspect_name */
		.encoding_named_binary = since(layout, 3, 4),
		/* hash.c, inspect_i */
		.hash_with_colons = since(layout, 3, 4),
		/* gc.c, HEAP_PAGE_ALIGN_LOG */
		.heap_page_align = since(layout, 3, 2) ? 64 * 1024 : 16 * 1024,
		.default_slot_size = 40,
		/* gc.c, obj_memsize_of */
		.memsize_of_imemo = since(layout, 2, 7),
		.memsize_of_no_table = !since(layout, 2, 7),
		/* re_registers of onigmo.h, up to 2.6 with history_root */
		.registers_size = since(layout, 2, 7) ? 24 : 32,
		/* gc/default/default.c, heap_pages.sorted */
		.heap_pages_darray = since(layout, 3, 4),
		/* gc.c, enum gc_mode */
		.gc_mode_compacting = since(layout, 3, 2),
		/* gc.c, rb_objspace_call_finalizer */
		.sweep_aborted = since(layout, 3, 3),
		.singleton_flag = since(layout, 3, 4) ? FL_USER1 : FL_USER0,
		/* vm_eval.c, local_var_list_add */
		.numbered_are_locals = !since(layout, 4, 0),
		/* vm_core.h */
		.local_storage_is_st = !since(layout, 3, 0),
		.autoload_sleeps = !since(layout, 3, 2),
		.env_isolated = since(layout, 3, 0),
		/* vm_backtrace.c, backtrace_collect */
		.backtrace_order = since(layout, 3, 1)   ? RCORE_BACKTRACE_INNERMOST_FIRST
				   : since(layout, 3, 0) ? RCORE_BACKTRACE_OUTERMOST_EXTRA
							 : RCORE_BACKTRACE_OUTERMOST_FIRST,
		/* error.c, name_err_mesg_to_str */
		.name_error_inspects = !since(layout, 3, 3),
		/* internal/imemo.h, the same from 2.6 to 4.0 */
		.imemo_env = 0,
		.imemo_cref = 1,
		.imemo_svar = 2,
		.imemo_ment = 6,
		.imemo_iseq = 7,
		.imemo_throw_data = 3,
		.imemo_ifunc = 4,
		.imemo_memo = 5,
		.imemo_tmpbuf = 8,
		.imemo_ast = since(layout, 4, 0) ? 0 : 9,
		.imemo_parser_strterm = since(layout, 4, 0) ? 0 : 10,
		.imemo_cvar_entry = since_patch(layout, 4, 0, 4) ? 9 : 0,
		.imemo_callinfo = since(layout, 4, 0)   ? 10
				  : since(layout, 3, 0) ? 11
							: 0,
		.imemo_callcache = since(layout, 4, 0)   ? 11
				   : since(layout, 3, 0) ? 12
							 : 0,
		.imemo_constcache = since(layout, 4, 0)   ? 12
				    : since(layout, 3, 0) ? 13
							  : 0,
		/* enumerator.c, struct producer */
		.producer_values = since(layout, 4, 0) ? 3 : 2,
		/* include/ruby/internal/fl_type.h, RUBY_ELTS_SHARED */
		.shared_flag = since(layout, 3, 4) ? FL_USER0 : FL_USER2,
		.shared_root_flag = since(layout, 3, 2) ? FL_USER12 : FL_USER5,
		/*
		 * internal/class.h, RICLASS_IS_ORIGIN,
		 * RICLASS_ORIGIN_SHARED_MTBL
		 */
		.iclass_origin_flag = since(layout, 4, 0)   ? 0
				      : since(layout, 3, 2) ? FL_USER0
							    : FL_USER5,
		.iclass_shared_mtbl_flag = since(layout, 4, 0)   ? 0
					   : since(layout, 3, 2) ? FL_USER3
					   : since(layout, 3, 0) ? FL_USER8
								 : 0,
		.struct_gen_fields_flag = since(layout, 4, 0) ? FL_USER8 : 0,
		/* vm_callinfo.h, VM_CALLCACHE_UNMARKABLE */
		.callcache_unmarkable_flag = since(layout, 4, 0)   ? FL_USER8
					     : since(layout, 3, 2) ? FL_FREEZE
								   : FL_USER4,
		/* gc.c, gc_mark_imemo; imemo.c, rb_imemo_mark_and_move */
		.callcaches_mark_all = !since(layout, 3, 3),
		.callcaches_mark_class = since(layout, 3, 4) && !since(layout, 4, 0),
		/*
		 * iseq.c, rb_iseq_mark. From 3.4 on, cc_is_active() is
		 * false for each of them.
		 */
		.iseqs_mark_callcaches = !since(layout, 3, 4),
		.iseqs_mark_invalidated = !since(layout, 3, 1),
		.iseqs_mark_local = since(layout, 3, 3),
		/* gc.c, mark_cvc_tbl */
		.classes_mark_cvars = since(layout, 3, 2),
		/* imemo.c, rb_imemo_mark_and_move */
		.envs_mark_code_first = since(layout, 3, 4),
		/* vm.c, thread_mark */
		.threads_mark_ec = since(layout, 2, 7) && !since(layout, 3, 2),
		/* vm.c, rb_execution_context_mark */
		.frames_mark_env = since(layout, 3, 0),
		/* cont.c, cont_mark; from 3.4 on, the saved_ec refers to it */
		.fibers_mark_stack = !since(layout, 3, 4),
		/* internal/string.h, STR_CHILLED */
		.chilled_flags = since(layout, 3, 4) ? FL_USER2 | FL_USER3 : 0,
		/* gc/default/default.c, rb_gc_impl_object_metadata */
		.dump_has_age = since(layout, 4, 0),
		/* gc.c, rb_gc_mark_children */
		.symbols_marked = since(layout, 4, 0),
	};
}
