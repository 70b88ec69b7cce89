/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "cli/target.h"
#include "report/text/text_triage.h"
#include "triage/process_role.h"
#include "session/live/ruby_processes.h"
#include "target/live/live_files.h"
#include "target/live/live_tree.h"

/*
 * --children runs the command once for each process of a tree. Text begins with
 * a summary of all processes, which shows at once which worker is stuck. The
 * reports follow, each below the name of its process.
 */

/* One process of the tree, and what the command printed for it. */
struct member {
	int pid;
	char *title; /* NULL: unknown */
	struct rcore_process_role role;
	bool has_role, is_skipped;
	struct rcore_cli_look look;
	char *text;
	size_t size;
};

struct tree {
	const struct rcore_cli_target *target;
	rcore_cli_run *run;
	void *context;
	FILE *out;
	bool is_text;
	struct member *items;
	size_t count, reports;
	int worst;
};

/* Puma's title is the same with and without workers. */
static void find_roles(struct tree *tree)
{
	bool has_workers = false;
	for (size_t i = 0; i < tree->count; i++) {
		struct member *member = &tree->items[i];
		member->title = rcore_process_title(member->pid);
		member->has_role = rcore_process_role(member->title, &member->role);
		has_workers |= member->has_role && member->role.role == RCORE_ROLE_WORKER;
	}
	struct member *first = tree->items;
	if (has_workers && first->has_role && first->role.role == RCORE_ROLE_SERVER)
		first->role.role = RCORE_ROLE_MASTER;
}

static void run_one(struct tree *tree, struct member *member)
{
	struct rcore_cli_target target = *tree->target;
	struct rcore_error *err = NULL;
	target.pid = member->pid;
	FILE *text = tree->is_text ? rcore_open_text(&member->text, &member->size) : NULL;
	member->look.out = text ? text : tree->out;
	if (!text && tree->reports)
		putc('\n', tree->out);
	int status = tree->run(&target, tree->context, &member->look, &err);
	fflush(tree->out);
	if (text && fclose(text) && !err)
		err = rcore_error_no_memory();
	bool has_left = member != tree->items && rcore_live_has_ended(target.pid);
	if (err && (err->code == RCORE_ERROR_NOT_RUBY || has_left)) {
		fprintf(stderr, "rcore: skipped process %d: %s\n", target.pid, err->message);
		rcore_error_free(err);
		member->is_skipped = true;
		return;
	}
	if (err)
		status = rcore_cli_fail(err);
	else if (member->look.gap[0])
		fprintf(stderr, "rcore: process %d: %s\n", target.pid, member->look.gap);
	if (!err && tree->is_text)
		rcore_cli_note_stopped(target.pid);
	if (status > tree->worst)
		tree->worst = status;
	tree->reports++;
}

static void summarize_as(const char *title, const char *text, struct rcore_cli_look *look)
{
	rcore_format(look->summary, sizeof(look->summary), "%s: %s", title, text);
}

void rcore_cli_summarize(const struct rcore_snapshot *snapshot, struct rcore_cli_look *look)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		look->threads += !snapshot->threads[i].is_ended;
	if (snapshot->deadlock_count)
		summarize_as("Deadlock", snapshot->deadlocks[0].text, look);
	else if (snapshot->summary_count)
		summarize_as(rcore_summary_title(&snapshot->summary[0]),
			     snapshot->summary[0].text, look);
}

static void put_name(const struct tree *tree, const struct member *member)
{
	char role[64];
	if (member->has_role)
		fprintf(tree->out, "%s  ",
			rcore_process_role_text(&member->role, role, sizeof(role)));
	rcore_escape_write(tree->out, member->title ? member->title : "(no title)");
}

static void print_summary(const struct tree *tree)
{
	fprintf(tree->out, "%zu Ruby process%s\n", tree->reports,
		tree->reports == 1 ? "" : "es");
	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->items[i];
		if (member->is_skipped)
			continue;
		fprintf(tree->out, "%8d  ", member->pid);
		put_name(tree, member);
		if (member->look.threads)
			fprintf(tree->out, "  %zu thread%s", member->look.threads,
				rcore_plural(member->look.threads));
		putc('\n', tree->out);
		if (!*member->look.summary)
			continue;
		fprintf(tree->out, "%8s  ", "");
		rcore_escape_write(tree->out, member->look.summary);
		putc('\n', tree->out);
	}
}

static void print_reports(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct member *member = &tree->items[i];
		if (member->is_skipped)
			continue;
		fprintf(tree->out, "\nProcess %d  ", member->pid);
		put_name(tree, member);
		putc('\n', tree->out);
		if (member->size)
			fwrite(member->text, 1, member->size, tree->out);
	}
}

static struct rcore_error *find(struct tree *tree)
{
	int *pids;
	struct rcore_error *err = rcore_process_tree(tree->target->pid, &pids, &tree->count);
	if (err)
		return err;
	tree->items = rcore_calloc(tree->count, sizeof(*tree->items));
	for (size_t i = 0; tree->items && i < tree->count; i++)
		tree->items[i].pid = pids[i];
	free(pids);
	return tree->items ? NULL : rcore_error_no_memory();
}

int rcore_cli_target_tree(const struct rcore_cli_target *target, rcore_cli_run *run,
			  void *context, FILE *out, bool is_text)
{
	struct tree tree = {.target = target,
			    .run = run,
			    .context = context,
			    .out = out,
			    .is_text = is_text};
	struct rcore_error *err = find(&tree);
	if (err)
		return rcore_cli_fail(err);
	find_roles(&tree);
	for (size_t i = 0; i < tree.count; i++)
		run_one(&tree, &tree.items[i]);
	if (is_text && tree.reports) {
		print_summary(&tree);
		print_reports(&tree);
	}
	for (size_t i = 0; i < tree.count; i++) {
		free(tree.items[i].title);
		free(tree.items[i].text);
	}
	free(tree.items);
	return tree.reports ? tree.worst : 3;
}

void rcore_cli_note_stopped(int pid)
{
	struct rcore_live_status status;
	if (rcore_live_status_of(pid, &status) && status.state == 'T')
		fprintf(stderr,
			"rcore: a signal has stopped process %d (SIGSTOP, or Ctrl-Z); `kill "
			"-CONT %d` resumes it\n",
			pid, pid);
}

void rcore_cli_suggest_children(int pid)
{
	struct rcore_process_role role;
	int *pids;
	size_t count, workers = 0;
	char *title = rcore_process_title(pid);
	const char *server = rcore_process_role(title, &role) ? role.server : NULL;
	free(title);
	struct rcore_error *err = server && role.role != RCORE_ROLE_WORKER
					  ? rcore_process_tree(pid, &pids, &count)
					  : NULL;
	if (err || !server || role.role == RCORE_ROLE_WORKER) {
		rcore_error_free(err);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		title = rcore_process_title(pids[i]);
		workers += rcore_process_role(title, &role) && role.role == RCORE_ROLE_WORKER;
		free(title);
	}
	free(pids);
	if (workers)
		fprintf(stderr,
			"rcore: process %d is a %s master; with --children, rcore also reads "
			"its workers (%zu)\n",
			pid, server, workers);
}
