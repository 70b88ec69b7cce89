/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "cli/target.h"
#include "target/live/live_tree.h"

struct tally {
	size_t reports;
	int worst;
	bool separate; /* the next from the last */
};

static bool has_ended(int pid)
{
	return kill(pid, 0) && errno == ESRCH;
}

static void run_one(const struct rcore_cli_target *target,
		    int (*run)(const struct rcore_cli_target *target, void *context,
			       struct rcore_error **ret_error),
		    void *context, struct tally *tally)
{
	struct rcore_error *err = NULL;
	int status = run(target, context, &err);
	fflush(stdout);
	if (err && (err->code == RCORE_ERROR_NOT_RUBY || has_ended(target->pid))) {
		fprintf(stderr, "rcore: skipped process %d: %s\n", target->pid, err->message);
		rcore_error_free(err);
		return;
	}
	if (err)
		status = rcore_cli_fail(err);
	if (status > tally->worst)
		tally->worst = status;
	tally->reports++;
	tally->separate = true;
}

int rcore_cli_target_each(const struct rcore_cli_target *target,
			  int (*run)(const struct rcore_cli_target *target, void *context,
				     struct rcore_error **ret_error),
			  void *context)
{
	struct rcore_error *err = NULL;
	struct tally tally = {0};
	int *pids;
	size_t count;
	if (!target->children) {
		int status = run(target, context, &err);
		return err ? rcore_cli_fail(err) : status;
	}
	err = rcore_process_tree(target->pid, &pids, &count);
	if (err)
		return rcore_cli_fail(err);
	for (size_t i = 0; i < count; i++) {
		struct rcore_cli_target one = *target;
		one.pid = pids[i];
		if (tally.separate)
			putchar('\n');
		tally.separate = false;
		run_one(&one, run, context, &tally);
	}
	free(pids);
	return tally.reports ? tally.worst : 3;
}
