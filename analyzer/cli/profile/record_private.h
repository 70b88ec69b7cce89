/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_RECORD_PRIVATE_H
#define RCORE_CLI_RECORD_PRIVATE_H

#include "cli/profile/record_arguments.h"
#include "cli/profile/record_events.h"
#include "cli/profile/record_summary.h"
#include "cli/target.h"
#include "profile/format.h"
#include "profile/recording_writer.h"
#include "sampler/native/kernel_symbols.h"
#include "sampler/sampling.h"
#include "target/output/output.h"

/* The output to which samples are written while they are taken. */
struct rcore_record {
	const struct rcore_record_arguments *asked;
	/* The path of the recording, or NULL if it is not kept. */
	const char *path;
	struct rcore_strings outputs; /* the other outputs */
	struct rcore_profile *profile;
	struct rcore_output output;
	int fd;
	struct rcore_recording_writer *writer;
	struct rcore_bpf_options how;
	struct rcore_arena names;            /* in `how` */
	struct rcore_bpf *bpf;               /* NULL: not used */
	struct rcore_kernel_symbols *kernel; /* NULL: not used */
	bool shows_progress, has_facts, is_kept;
	bool is_written;    /* samples are in the file, not only the header */
	bool is_copied;     /* `bpf` was opened */
	const char *engine; /* the fact as last written; NULL: not yet */
	/* Of the first process, as written. */
	int pid;
	char command[RCORE_PROFILE_TEXT_MAX + 1];
	/* With --system, as last written. */
	size_t processes;
	char rubies[256];
	struct rcore_left_out left_out;
	bool is_redacted;
	size_t refused; /* processes that the BPF program cannot sample */
	struct rcore_sampling_summary summary;
	struct rcore_started started; /* COMMAND */
};

/*
 * record_facts.c: these write facts to the recording. Of the first process or,
 * with --system, how many processes were sampled, and their Rubies; if they are
 * not written yet, or have changed. Errors: NO_MEMORY.
 */
struct rcore_error *rcore_record_state_process(struct rcore_record *record,
					       struct rcore_sampling *sampling);
struct rcore_error *rcore_record_state_system(struct rcore_record *record,
					      struct rcore_sampling *sampling);
/*
 * How the samples were taken, if that has changed: a process may have started
 * that cannot be sampled with BPF.
 */
struct rcore_error *rcore_record_state_engine(struct rcore_record *record);
/* What is known at the start, and at the end. */
struct rcore_error *rcore_record_state_start(struct rcore_record *record);
struct rcore_error *rcore_record_state_end(struct rcore_record *record);

/*
 * record_outputs.c: returns whether there is something to write. That no event
 * happened is a result, too.
 */
bool rcore_record_has_result(const struct rcore_record *record);
/*
 * Finds which output is the recording, and which are made from it. Errors:
 * USAGE, NO_MEMORY.
 */
struct rcore_error *rcore_record_sort_outputs(struct rcore_record *record);
/* Checks the outputs before anything is recorded. Errors: USAGE, OS. */
struct rcore_error *rcore_record_check_outputs(const struct rcore_record *record,
					       const struct rcore_cli_target *target);
/*
 * Writes the outputs, even if the sampling failed: then with the samples taken
 * until then. `err` is the error of the sampling, or NULL. If an output cannot
 * be written, keeps the samples as a recording. Returns the error to print. If
 * it has already been printed, returns NULL and sets *ret_status to the exit
 * status.
 */
struct rcore_error *rcore_record_finish(struct rcore_record *record,
					const struct rcore_cli_target *target,
					struct rcore_error *err, int *ret_status);

/*
 * record_rescue.c: returns whether the recording was removed after it got its
 * name.
 */
bool rcore_record_is_removed(const struct rcore_record *record);
/*
 * Keeps the samples as a recording, unless there is one already, and prints
 * where it is. With `needs_report`, also prints the command that makes the
 * outputs that failed, or all if `failed` is empty.
 */
void rcore_record_rescue(const struct rcore_record *record, const struct rcore_strings *failed,
			 bool needs_report, enum rcore_redact redact);

/*
 * record_bpf.c: opens the BPF program if it is asked for. If the kernel refuses
 * it, prints why, or returns an error if samples must be taken with it.
 */
struct rcore_error *rcore_record_open_bpf(struct rcore_record *record);
/* Reads the names of the kernel's functions, if its frames will be copied. */
struct rcore_error *rcore_record_read_kernel(struct rcore_record *record);

#endif
