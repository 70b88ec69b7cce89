/* SPDX-License-Identifier: MIT */
/* Ruby's private structs, for tests/layout/dwarf.sh to compile against the headers
 * of several releases. */
#include "vm_core.h"
#include "iseq.h"
#include "method.h"
#if __has_include("ractor_core.h")
#include "ractor_core.h"
#endif
#if __has_include("shape.h")
#include "shape.h"
rb_shape_t shape;
#endif
#if __has_include("internal/class.h")
#include "internal/class.h"
rb_classext_t classext;
#endif

const char ruby_version[] = DWARF_VERSION;

rb_vm_t vm;
rb_thread_t thread;
rb_execution_context_t ec;
rb_control_frame_t cfp;
rb_iseq_t iseq;
struct rb_iseq_constant_body iseq_body;
rb_callable_method_entry_t cme;
struct rb_method_definition_struct method_def;
struct RBasic basic;
struct RString string;
struct RArray array;
struct RTypedData data;
rb_data_type_t data_type;
st_table table;
enum ruby_special_consts special;
