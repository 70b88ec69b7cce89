/* SPDX-License-Identifier: MIT */
#include "layout/layout.h"

static bool since(const struct rcore_layout *layout, unsigned major, unsigned minor)
{
	if (layout->version[0] != major)
		return layout->version[0] > major;
	return layout->version[1] >= minor;
}

/* RUBY_FL_USER0 and RUBY_FL_USER1 of include/ruby/internal/fl_type.h. */
enum { FL_USER0 = 1u << 12, FL_USER1 = 1u << 13 };

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
		/* gc/default/default.c, heap_pages.sorted */
		.heap_pages_darray = since(layout, 3, 4),
		.singleton_flag = since(layout, 3, 4) ? FL_USER1 : FL_USER0,
		/* vm_eval.c, local_var_list_add */
		.numbered_are_locals = !since(layout, 4, 0),
		/* vm_core.h */
		.local_storage_is_st = !since(layout, 3, 0),
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
	};
}
