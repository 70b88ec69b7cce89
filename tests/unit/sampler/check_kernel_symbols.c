/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "sampler/native/kernel_symbols.h"
#include "suite.h"

/* Tests files in the format of /proc/kallsyms. */

static struct rcore_kernel_symbols *symbols_of(const char *text)
{
	char path[] = "/tmp/rcore-kallsyms-XXXXXX";
	struct rcore_kernel_symbols *symbols = NULL;
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	ck_assert_ptr_null(rcore_kernel_symbols_read(path, &symbols));
	unlink(path);
	return symbols;
}

static const char *name_at(const struct rcore_kernel_symbols *symbols, uint64_t address)
{
	struct rcore_kernel_symbol symbol = {0};
	return rcore_kernel_symbol_at(symbols, address, &symbol) ? symbol.name : "?";
}

START_TEST(functions)
{
	struct rcore_kernel_symbol symbol;
	struct rcore_kernel_symbols *symbols =
		symbols_of("ffffffff81002000 T ksys_read\n"
			   "ffffffff81001000 T first\n"
			   "ffffffff81001000 t alias\n"
			   "ffffffff81001800 D data\n"
			   "ffffffffc0001000 t nft_do_chain\t[nf_tables]\n");
	ck_assert(!rcore_kernel_symbols_are_hidden(symbols));
	ck_assert_str_eq(name_at(symbols, 0xffffffff81000fff), "?");
	ck_assert_str_ne(name_at(symbols, 0xffffffff81001000), "?");
	ck_assert_str_ne(name_at(symbols, 0xffffffff81001fff), "data");
	ck_assert_str_eq(name_at(symbols, 0xffffffff81002000), "ksys_read");
	/* No function is that long. */
	ck_assert_str_eq(name_at(symbols, 0xffffffff91002000), "?");
	ck_assert(rcore_kernel_symbol_at(symbols, 0xffffffffc0001010, &symbol));
	ck_assert_str_eq(symbol.name, "nft_do_chain");
	ck_assert_str_eq(symbol.module, "[nf_tables]");
	/* Another module may be there. */
	ck_assert_str_eq(name_at(symbols, 0xffffffffc0010fff), "nft_do_chain");
	ck_assert_str_eq(name_at(symbols, 0xffffffffc0011000), "?");
	rcore_kernel_symbols_free(symbols);
}
END_TEST

START_TEST(hidden)
{
	struct rcore_kernel_symbols *symbols = symbols_of("0000000000000000 T _stext\n"
							  "0000000000000000 T ksys_read\n");
	ck_assert(rcore_kernel_symbols_are_hidden(symbols));
	ck_assert_str_eq(name_at(symbols, 0), "?");
	rcore_kernel_symbols_free(symbols);
}
END_TEST

START_TEST(malformed)
{
	struct rcore_kernel_symbols *symbols =
		symbols_of("\nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
			   "T name\nffffffff81000000 T name [ \nx T y");
	ck_assert_str_eq(name_at(symbols, 0xffffffff81000000), "name");
	rcore_kernel_symbols_free(symbols);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {functions, hidden, malformed};
	const struct rcore_test_suite suite = {
		.name = "kernel_symbols", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
