/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/count.h"
#include "session/pack/pack_live.h"
#include "suite.h"

/*
 * Each fiber waits for a descriptor of its own, and for one for which all of
 * them wait. A walk over those that are known takes longer than Check's limit.
 */
START_TEST(test_fds)
{
	enum { FIBERS = 200000, EACH = 2 };
	static struct rcore_fiber fibers[FIBERS];
	static struct rcore_wait waits[FIBERS];
	static struct rcore_wait_fd fds[FIBERS][EACH];
	static struct rcore_process process;
	static struct rcore_session session = {.target.process = &process};
	struct rcore_snapshot snapshot = {.fibers = fibers, .fiber_count = FIBERS};
	struct rcore_pack_live live;
	for (int i = 0; i < FIBERS; i++) {
		fds[i][0] = (struct rcore_wait_fd){.fd = i + 1, .link = "socket:[1]"};
		fds[i][1] = (struct rcore_wait_fd){.fd = 0, .link = "pipe:[2]"};
		waits[i] = (struct rcore_wait){
			.kind = RCORE_WAIT_IO, .fds = fds[i], .fd_count = EACH};
		fibers[i].wait = &waits[i];
	}
	fds[7][0].link = NULL;
	ck_assert(rcore_pack_live_init(&session, &snapshot, &live));
	ck_assert_uint_eq(live.packed.fd_count, FIBERS);
	ck_assert_int_eq(live.packed.fds[0].fd, 1);
	ck_assert_int_eq(live.packed.fds[1].fd, 0);
	ck_assert_str_eq(live.packed.fds[1].link, "pipe:[2]");
	ck_assert_int_eq(live.packed.fds[7].fd, 7);
	ck_assert_int_eq(live.packed.fds[8].fd, 9);
	rcore_pack_live_deinit(&live);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_fds};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "pack live", .tests = tests, .count = RCORE_COUNT(tests)});
}
