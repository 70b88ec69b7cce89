/* SPDX-License-Identifier: MIT */
/*
 * Tests the DWARF reader with programs that are compiled here with each version
 * of DWARF. The compiler itself provides the expected result, through the same
 * header.
 */
#include <libgen.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "dwarf/types.h"
#include "layout/layout.h"
#include "suite.h"

static char folder[] = "/tmp/rcore-dwarf-XXXXXX";

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void run(const char *format, ...)
{
	char command[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	ck_assert_msg(system(command) == 0, "failed: %s", command);
}

/* A shared library of tests/unit/layout/dwarf/ as `name` in the folder. */
static const char *compile(const char *name, const char *flags)
{
	static char path[256];
	char file[] = __FILE__;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	run("sources=$(realpath %s)/dwarf && cd %s && "
	    "${CC:-cc} %s -shared -fPIC -o %s $sources/types.c $sources/other.c",
	    dirname(file), folder, flags, path);
	return path;
}

static struct rcore_layout load(const char *path, const unsigned version[3])
{
	struct rcore_layout layout;
	struct rcore_error *err = rcore_layout_from_dwarf(path, version, &layout);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	return layout;
}

static void same(struct rcore_field field, size_t offset, size_t size)
{
	ck_assert_int_eq(field.offset, (int)offset);
	ck_assert_uint_eq(field.size, size);
	ck_assert_uint_eq(field.bits, 0);
}

static void same_bits(struct rcore_field field, size_t offset, unsigned bit, unsigned bits)
{
	ck_assert_int_eq(field.offset, (int)offset);
	ck_assert_uint_eq(field.bit, bit);
	ck_assert_uint_eq(field.bits, bits);
}

#define SAME(field, type, member) \
	same(field, offsetof(type, member), sizeof(((type *)0)->member))

static void check(const struct rcore_layout *layout)
{
	ck_assert_uint_eq(layout->vm.size, sizeof(struct rb_vm_struct));
	SAME(layout->vm.ractor_set, struct rb_vm_struct, ractor.set);
	SAME(layout->vm.ractor_count, struct rb_vm_struct, ractor.cnt);
	SAME(layout->vm.main_thread, struct rb_vm_struct, ractor.main_thread);
	SAME(layout->vm.objspace, struct rb_vm_struct, gc.objspace);
	ck_assert(!rcore_has(&layout->vm.living_threads));

	ck_assert_uint_eq(layout->thread.size, sizeof(struct rb_thread_struct));
	SAME(layout->thread.node, struct rb_thread_struct, lt_node);
	SAME(layout->thread.ec, struct rb_thread_struct, ec);
	SAME(layout->thread.invoke_type, struct rb_thread_struct, invoke_type);
	size_t flags = offsetof(struct rb_thread_struct, priority) + sizeof(int);
	same_bits(layout->thread.status, flags, 0, 2);
	same_bits(layout->thread.to_kill, flags, 3, 1);

	ck_assert_uint_eq(layout->ec.size, sizeof(rb_execution_context_t));
	SAME(layout->ec.machine_stack_start, rb_execution_context_t, machine.stack_start);
	SAME(layout->ec.machine_stack_end, rb_execution_context_t, machine.stack_end);

	ck_assert_uint_eq(layout->fiber.size, sizeof(struct rb_fiber_struct));
	SAME(layout->fiber.saved_ec, struct rb_fiber_struct, cont.saved_ec);
	SAME(layout->fiber.jmpbuf, struct rb_fiber_struct, cont.jmpbuf);
	SAME(layout->fiber.jit_cont, struct rb_fiber_struct, cont.jit_cont);
	same_bits(layout->fiber.status, sizeof(rb_context_t), 0, 2);
	same_bits(layout->fiber.yielding, sizeof(rb_context_t), 2, 1);

	ck_assert_uint_eq(layout->jit_cont.size, 24);
	ck_assert_int_eq(layout->jit_cont.next.offset, 16);
	ck_assert_uint_eq(layout->symbols.size, sizeof(symbols_t));
	SAME(layout->symbols.ids, symbols_t, ids);

	ck_assert_uint_eq(layout->ractor.size, 0);
	ck_assert(!rcore_has(&layout->ractor.self));
	ck_assert_int_eq(layout->constant.qnil, 4);
	ck_assert_int_eq(layout->constant.qundef, 0x24);
	ck_assert_int_eq(layout->constant.last_op_id, 170);
	ck_assert_int_eq(layout->constant.string_noembed, 0xe000);
	ck_assert(layout->constant.id_scope_shift == RCORE_NO_CONSTANT);
	ck_assert_int_eq(layout->source, RCORE_LAYOUT_DWARF);
}

static const char *const flavours[] = {
	"-g -gdwarf-5",
	"-g -gdwarf-4",
	"-g -gdwarf-4 -gstrict-dwarf",
	"-g -gdwarf-2 -gstrict-dwarf",
	"-g -gdwarf-4 -fdebug-types-section",
	"-g -gdwarf-5 -fdebug-types-section",
	"-g -gdwarf-5 -gz",
	"-g -gdwarf-5 -gsplit-dwarf",
	"-g -gdwarf-5 -flto",
};

START_TEST(flavour)
{
	struct rcore_layout layout = load(compile("flavour.so", flavours[_i]), NULL);

	check(&layout);
	ck_assert_uint_eq(layout.version[2], 8);
	ck_assert_str_eq(layout.name, "flavour.so");
}
END_TEST

/*
 * Debian's debug files were processed by dwz: types that units share are in a
 * partial unit, which does not say its language.
 */
START_TEST(compressed_by_dwz)
{
	const char *path = compile("dwz.so", "-g -gdwarf-4");

	run("dwz %s", path);
	run("readelf --debug-dump=info %s | grep -q DW_TAG_partial_unit", path);
	struct rcore_layout layout = load(path, NULL);
	check(&layout);
}
END_TEST

START_TEST(debug_file)
{
	static const unsigned version[3] = {3, 4, 1};
	const char *path = compile("whole.so", "-g");
	struct rcore_layout layout;

	run("cd %s && objcopy --only-keep-debug whole.so part.debug && strip whole.so", folder);
	struct rcore_error *err = rcore_layout_from_dwarf(path, NULL, &layout);
	ck_assert_int_eq(err->code, RCORE_ERROR_FORMAT);
	ck_assert_ptr_nonnull(strstr(err->message, "whole.so: no debug information"));
	rcore_error_free(err);

	char debug[256];
	snprintf(debug, sizeof(debug), "%s/part.debug", folder);
	err = rcore_layout_from_dwarf(debug, NULL, &layout);
	ck_assert_int_eq(err->code, RCORE_ERROR_FORMAT);
	ck_assert_ptr_nonnull(strstr(err->message, "does not contain a Ruby version"));
	rcore_error_free(err);
	layout = load(debug, version);
	check(&layout);
	ck_assert_uint_eq(layout.version[1], 4);
	ck_assert_int_eq(layout.traits.label_style, RCORE_LABEL_QUALIFIED);
}
END_TEST

START_TEST(not_ruby)
{
	char path[256];
	static const unsigned version[3] = {3, 3, 8};
	static const struct {
		const char *make, *message;
		enum rcore_error_code code;
	} cases[] = {
		{"true", "No such file or directory", RCORE_ERROR_OS},
		{"mkdir file", "is a directory", RCORE_ERROR_FORMAT},
		{": > file", "not an ELF file", RCORE_ERROR_FORMAT},
		{"echo hello > file", "not an ELF file", RCORE_ERROR_FORMAT},
		{"printf '\\177ELF' > file", "not an ELF file", RCORE_ERROR_FORMAT},
		{"echo 'int x;' | ${CC:-cc} -g -xc -shared -fPIC -o file -",
		 "does not describe Ruby's VM", RCORE_ERROR_FORMAT},
		{"echo 'int x;' | ${CC:-cc} -m32 -xc -c -o file - 2>/dev/null ||"
		 "printf '\\177ELF\\1\\1\\1%060d' 0 > file",
		 "", RCORE_ERROR_UNSUPPORTED},
	};

	snprintf(path, sizeof(path), "%s/file", folder);
	for (size_t i = 0; i < RCORE_COUNT(cases); i++) {
		struct rcore_layout layout;
		run("cd %s && rm -rf file && %s", folder, cases[i].make);
		struct rcore_error *err = rcore_layout_from_dwarf(path, version, &layout);
		ck_assert_msg(err != NULL, "%s", cases[i].make);
		ck_assert_msg(err->code == cases[i].code, "%s", err->message);
		ck_assert_msg(strstr(err->message, cases[i].message), "%s", err->message);
		ck_assert_int_eq(strncmp(err->message, path, strlen(path)), 0);
		rcore_error_free(err);
	}
}
END_TEST

START_TEST(provenance)
{
	char *text = rcore_layout_provenance(
		compile("said.so", "-g -O1 -Wl,--build-id=0x0123456789abcdef"));
	ck_assert_ptr_nonnull(strstr(text, "'rcore layout said.so'"));
	ck_assert_ptr_nonnull(strstr(text, "build-id: 0123456789abcdef\n"));
	ck_assert_ptr_nonnull(strstr(text, "compiler: "));
	ck_assert_ptr_null(strchr(text, '/'));
	free(text);
	ck_assert_ptr_null(rcore_layout_provenance("/nonexistent/file"));
}
END_TEST

/* The name of a compiler may be anything. */
START_TEST(hostile_provenance)
{
	char path[256], file[] = __FILE__;
	snprintf(path, sizeof(path), "%s/hostile.so", folder);
	run("sources=$(realpath %s)/dwarf && cd %s && awk 'BEGIN {"
	    "	printf \"GNU C17 \\033[31m\\r\\n::error::x %%s\", \"\\302\\233\";"
	    "	for (i = 0; i < 1000000; i++) printf \" \\033\\n%%d\", i;"
	    "	printf \"%%c\", 0 }' >producer && "
	    "${CC:-cc} -g -fPIC -S -o hostile.s $sources/types.c && "
	    "sed -i 's/\\.[a-z]*[[:space:]]*\"\\(GNU C\\|.*clang version\\).*\"/.incbin "
	    "\"producer\"/' hostile.s && "
	    "${CC:-cc} -shared -Wl,--build-id=0x0123456789abcdef -o hostile.so hostile.s",
	    dirname(file), folder);
	char *text = rcore_layout_provenance(path);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text, "build-id: 0123456789abcdef\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "compiler: GNU C17 \\e[31m\\r\\n::error::x \\u{9B} "));
	ck_assert_ptr_nonnull(strstr(text, " ...\n"));
	ck_assert_uint_lt(strlen(text), 20000);
	for (const char *at = text; *at; at++)
		ck_assert(*at == '\n' || (unsigned char)*at >= ' ');
	free(text);
}
END_TEST

/*
 * If a good file is truncated anywhere, or any 8 bytes are overwritten, there
 * is an answer, and no crash.
 */
START_TEST(damaged)
{
	char path[256];
	const char *good = compile("good.so", "-g");
	FILE *file = fopen(good, "rb");
	static unsigned char bytes[1 << 17];
	size_t size = fread(bytes, 1, sizeof(bytes), file);

	fclose(file);
	ck_assert_uint_gt(size, 1000);
	snprintf(path, sizeof(path), "%s/bad.so", folder);
	for (size_t i = 0; i < 400; i++) {
		size_t at = i * (size - 8) / 400;
		unsigned char saved[8];
		struct rcore_layout layout;
		memcpy(saved, bytes + at, 8);
		memset(bytes + at, i % 2 ? 0xff : 0x80, 8);
		file = fopen(path, "wb");
		fwrite(bytes, 1, i % 4 < 2 ? size : at, file);
		fclose(file);
		memcpy(bytes + at, saved, 8);
		rcore_error_free(rcore_layout_from_dwarf(path, NULL, &layout));
		free(rcore_layout_provenance(path));
	}
}
END_TEST

int main(void)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		return EXIT_FAILURE;
	}
	const TTest *const tests[] = {compressed_by_dwz, debug_file,         not_ruby,
				      provenance,        hostile_provenance, damaged};
	const struct rcore_test_loop loops[] = {{flavour, RCORE_COUNT(flavours)}};
	const struct rcore_test_suite suite = {
		.name = "layout from DWARF",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.timeout = 60,
	};
	int status = rcore_test_suite_run(&suite);
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || status ? EXIT_FAILURE : EXIT_SUCCESS;
}
