/* SPDX-License-Identifier: MIT */
#include "snapshots.h"

#include <stddef.h>

#include "base/count.h"

#define VALUE(address, class_, text_)                                       \
	{                                                                   \
		.value = (address), .class_name = (class_), .text = (text_) \
	}

static struct rcore_local inner[] = {
	{.variable = {"each", VALUE(7, "Integer", "3"), NULL},
	 .parameter = RCORE_PARAMETER_REQ},
	{.variable = {NULL, VALUE(0x7f1000, "Array", "[1, \"\x1b[31m\"]"), NULL},
	 .parameter = RCORE_PARAMETER_REQ},
	{.variable = {"rest", VALUE(0x7f1028, "Array", "[]"), NULL},
	 .parameter = RCORE_PARAMETER_REST},
	{.variable = {"**", VALUE(4, "NilClass", "nil"), NULL},
	 .parameter = RCORE_PARAMETER_KEYREST,
	 .is_hidden = true},
	{.variable = {"block", VALUE(0, "Proc", "#<Proc (not created yet) app.rb:3>"), NULL},
	 .parameter = RCORE_PARAMETER_BLOCK},
	{.variable = {"lost",
		      {.value = 0x7f9999, .problem = "0x7f9999: not saved in the core"},
		      NULL}},
	{.variable = {NULL, VALUE(0, "FalseClass", "false"), "no ID has serial 9"}},
	{.variable = {"total", VALUE(0x7f1050, "String", "\"\xff\""), NULL}, .level = 1},
};

static struct rcore_frame_values block_values = {
	.has_self = true,
	.self = VALUE(0x7f1078, "Object", "main"),
	.has_arguments = true,
	.has_locals = true,
	.locals = inner,
	.local_count = RCORE_COUNT(inner),
	.problem = "environment at 0x7f3000: not saved in the core",
};

static struct rcore_frame_values c_values = {
	.has_self = true,
	.self = VALUE(0x7f1078, "Object", "main"),
	.has_arguments = true,
	.has_locals = false,
};

static struct rcore_backtrace_location told[] = {{.text = "line one:1:in `\x1b]0;x\a'"},
						 {.text = "line two"}};

static struct rcore_exception cause = {
	.object = 0x7f20c8,
	.class_name = "KeyError",
	.message = "key not found: :a\nsecond line",
	.frame = -1,
	.backtrace = told,
	.location_count = RCORE_COUNT(told),
	.left_out = 12345,
	.is_ring = true,
};

static struct rcore_backtrace_location places[] = {
	{.path = "app.rb", .line = 3, .label = "block in Foo#run"},
	{.path = "app.rb", .line = 4, .label = "Foo#run"},
	{.path = "app.rb", .label = "Foo#a"},
	{.label = "b"},
	{.problem = "iseq 0x7f00: unmapped"},
	{.path = "app.rb", .line = 9, .label = "<main>"},
	{.path = "app.rb", .line = 9, .label = "<main>"},
};

static struct rcore_exception handled[] = {
	{.object = 0x7f20a0,
	 .class_name = "ArgumentError",
	 .message = "wrong \x1b[31m number",
	 .frame = 1,
	 .backtrace = places,
	 .location_count = RCORE_COUNT(places),
	 .cause = &cause},
	{.object = 0x7f20c8, .class_name = "KeyError", .frame = 2},
	{.object = 0x7f20f0, .frame = -1, .problem = "class: 0x0 is not an object"},
};

static struct rcore_variable storage[] = {
	{"request_id", VALUE(0x7f2118, "String", "\"abc\""), NULL},
	{NULL, VALUE(3, "Integer", "1"), "0x4 is not a Symbol"},
};

static struct rcore_gem gems[] = {
	{"async", "2.6.5"},  {"console", "1.23.3"},   {"io-event", "1.3.3"},
	{"json", "2.7.1"},   {"minitest", "5.1"},     {"puma", "6.4"},
	{"rack", "3.0.8"},   {"rake\x1b[1m", "13.0"}, {"thor", "1.3"},
	{"zeitwerk", "2.6"},
};

static struct rcore_task tasks[] = {
	{.object = 0x7f3000, .class_name = "Async::Reactor", .parent = -1, .fiber = -1},
	{.object = 0x7f3028,
	 .class_name = "Async::Task",
	 .status = "running",
	 .annotation = "serves \x1b[31m",
	 .parent = 0,
	 .depth = 1,
	 .fiber = 0},
	{.object = 0x7f3050,
	 .class_name = "Async::Task",
	 .status = "initialized",
	 .is_transient = true,
	 .parent = 1,
	 .depth = 2,
	 .fiber = -1,
	 .problem = "@children of 0x7f3050: unmapped"},
	{.object = 0x7f3078, .parent = -1, .fiber = -1, .problem = "0x7f3078 is not an object"},
};

static const char *argv[] = {"serve", "--port=\x1b[31m80", "\xff"};

void rcore_test_knowing(struct rcore_snapshot *snapshot)
{
	rcore_test_deep(snapshot, 3, 3);
	struct rcore_fiber *fiber = &snapshot->fibers[0];
	snapshot->has_values = true;
	snapshot->incomplete = true;
	snapshot->redaction = (struct rcore_redaction){
		RCORE_REDACT_SECRETS,
		{[RCORE_REDACTED_KEY] = 1200, [RCORE_REDACTED_EMAIL] = 1}};
	fiber->frames[0].values = &c_values;
	fiber->frames[1].values = &block_values;
	fiber->exceptions = handled;
	fiber->exception_count = RCORE_COUNT(handled);
	fiber->storage = (struct rcore_variables){storage, RCORE_COUNT(storage), NULL};
	fiber->locals = (struct rcore_variables){storage, 1, "there are more than 1000"};
	snapshot->threads[0].variables =
		(struct rcore_variables){storage, 1, "st_table 0x7f00: unmapped"};
	snapshot->tasks = tasks;
	snapshot->task_count = RCORE_COUNT(tasks);
	snapshot->facts = (struct rcore_facts){
		.description = "ruby 3.4.9 (2026-01-01 revision 0) +YJIT +PRISM [x86_64-linux]",
		.jit = "YJIT",
		.gc_phase = "marking",
		.in_gc = true,
		.has_argv = true,
		.argv = argv,
		.argc = RCORE_COUNT(argv),
		.rubyopt = "-W0 -r./x\x1b[31m",
		.gems = gems,
		.gem_count = RCORE_COUNT(gems),
		.problem = "ARGV: element of an Array at 0x7f00: unmapped",
	};
}
