/* SPDX-License-Identifier: MIT */
/* Checks what a session keeps from one load for the next. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "session/session.h"
#include "suite.h"

enum { VM = 0x1000, OTHER_VM = 0x2000, FIBER_TYPE = 0x3000 };

/* What was found in a VM is forgotten when the process executes another Ruby. */
START_TEST(another_program)
{
	const struct rcore_options options = {
		.size = sizeof(options), .no_stop = true, .no_native = true};
	struct rcore_session *session;
	pid_t child = fork();
	if (!child)
		for (;;)
			pause();
	struct rcore_error *err = rcore_open_pid(child, &options, &session);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	struct rcore_located located = {
		.identity = {.module = rcore_modules_get(session->target.modules, 0)}};
	const struct rcore_location one = {.vm = VM}, other = {.vm = OTHER_VM};
	ck_assert_ptr_null(rcore_located_set(&located, &session->target, &one));
	ck_assert_ptr_nonnull(located.statics.writable);
	located.statics.fiber_type = FIBER_TYPE;
	ck_assert_ptr_null(rcore_located_set(&located, &session->target, &one));
	ck_assert_uint_eq(located.statics.fiber_type, FIBER_TYPE);
	ck_assert_ptr_null(rcore_located_set(&located, &session->target, &other));
	ck_assert_uint_eq(located.statics.fiber_type, 0);
	ck_assert_ptr_nonnull(located.statics.writable);
	rcore_located_deinit(&located);
	rcore_close(session);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {another_program};
	const struct rcore_test_suite suite = {
		.name = "reader",
		.tests = tests,
		.count = RCORE_COUNT(tests),
	};
	return rcore_test_suite_run(&suite);
}
