/* SPDX-License-Identifier: MIT */
#include "ruby_suite.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "ruby/object/value.h"
#include "tables.h"

struct fake_ruby fake;
struct rcore_ruby ruby;
struct rcore_arena arena;
struct classes classes;

static void start_reading(void)
{
	rcore_ruby_init(&ruby, &fake.target.memory, &fake.layout, &arena);
	ruby.global_symbols = fake.symbols;
	static struct rcore_range writable;
	writable = (struct rcore_range){fake.statics, fake.statics + FAKE_STATICS_SIZE};
	ruby.statics = (struct rcore_statics){
		.writable = &writable, .writable_count = 1, .module = writable};
	if (rcore_has(&fake.layout.vm.shape_list))
		ruby.shape_list = fake.shapes;
}

static void stop_reading(void)
{
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
}

void begin(int index)
{
	struct rcore_layout layout = series_at(index);
	fake_ruby_init(&fake, &layout);
	start_reading();
}

/* Called even if a test fails. */
static void end(void)
{
	stop_reading();
	fake_ruby_deinit(&fake);
}

int code(struct rcore_error *err)
{
	int result = err ? (int)err->code : 0;
	rcore_error_free(err);
	return result;
}

void read_again(void)
{
	stop_reading();
	start_reading();
}

void make_classes(void)
{
	uint64_t object = fake_object(&fake, RCORE_T_OBJECT, 40);
	struct classes made;
#define CLASS(type_, ...) fake_class(&fake, &(struct fake_class){.type = type_, __VA_ARGS__})
	made.foo = CLASS(RCORE_T_CLASS, .path = "Foo::Bar", .permanent = true);
	made.tmp = CLASS(RCORE_T_CLASS, .path = "#<Class:0x00007f>::Inner");
	made.anonymous = CLASS(RCORE_T_CLASS);
	made.module = CLASS(RCORE_T_MODULE, .path = "A::Module::With::A::Rather::Long::Name",
			    .permanent = true);
	made.iclass = CLASS(RCORE_T_ICLASS, .klass = made.module);
	made.prepended_origin = CLASS(RCORE_T_ICLASS, .klass = made.foo);
	made.foo_singleton = CLASS(RCORE_T_CLASS, .is_singleton = true, .attached = made.foo);
	made.module_singleton =
		CLASS(RCORE_T_CLASS, .is_singleton = true, .attached = made.module);
	made.tmp_singleton = CLASS(RCORE_T_CLASS, .is_singleton = true, .attached = made.tmp);
	made.object_singleton = CLASS(RCORE_T_CLASS, .is_singleton = true, .attached = object);
	made.lost_singleton = CLASS(RCORE_T_CLASS, .is_singleton = true, .attached = 0x10000);
	classes = made;
}

bool visit(void *context, uint64_t value, const void *copy, size_t size)
{
	struct visited *visited = context;
	uint64_t flags;
	ck_assert_uint_ge(size, 40);
	memcpy(&flags, copy, sizeof(flags));
	ck_assert_uint_eq(flags & RCORE_T_MASK, RCORE_T_DATA);
	visited->values[visited->count++] = value;
	return visited->count != visited->stop_at;
}

uint64_t make_heap(uint64_t starts[3])
{
	enum { DATA = RCORE_T_DATA, STRING = RCORE_T_STRING };
	static const uint64_t first[] = {DATA | 0x1000, STRING, 0, DATA}, second[] = {0, 0},
			      third[] = {STRING, DATA | 1 << 5};
	const struct fake_page pages[] = {{40, 4, first}, {80, 2, second}, {640, 2, third}};
	return fake_objspace(&fake, pages, 3, starts);
}

int run_suite(const char *name, const TTest *const *tests, size_t count)
{
	return rcore_test_suite_run(&(struct rcore_test_suite){.name = name,
							       .tests = tests,
							       .count = count,
							       .loops = series_count(),
							       .timeout = 120,
							       .end = end});
}
