/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_OUTPUT_H
#define RCORE_COMMAND_OUTPUT_H

#include "command/command.h"
#include "report/report.h"
#include "target/output/inputs.h"

/*
 * The -o of a command: files, each in the format of its ending or named before
 * it ("gitlab:FILE").
 */

/*
 * What can be told before the target is read. USAGE: a format that cannot be
 * told, two of the same file. Else as rcore_destination_find().
 */
struct rcore_error *rcore_outputs_check(const struct rcore_words *outputs,
					const struct rcore_inputs *inputs);

/*
 * The same for paths: whether each can be written, and no two are the same
 * file.
 */
struct rcore_error *rcore_output_paths_check(const char *const *paths, size_t count,
					     const struct rcore_inputs *inputs);

/*
 * Writes each. Error: the first file that could not be written whole; the
 * others are written.
 */
struct rcore_error *rcore_outputs_write(const struct rcore_words *outputs,
					const struct rcore_inputs *inputs,
					const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options);

#endif
