/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_OUTPUT_H
#define RCORE_COMMAND_OUTPUT_H

#include "command/command.h"
#include "report/report.h"
#include "target/output/inputs.h"

/*
 * The -o options of a command: files, each in the format of its suffix, or in
 * the format that precedes its name ("gitlab:FILE").
 */

/*
 * Checks the outputs before the target is read. Errors: USAGE if the format is
 * unknown or two outputs are the same file, and those of
 * rcore_destination_find().
 */
struct rcore_error *rcore_outputs_check(const struct rcore_strings *outputs,
					const struct rcore_inputs *inputs);

/*
 * Does the same for paths: checks that each can be written and no two are the
 * same file.
 */
struct rcore_error *rcore_output_paths_check(const char *const *paths, size_t count,
					     const struct rcore_inputs *inputs);

/*
 * Writes all outputs. Error: that of the first file that could not be written
 * completely; the others are written.
 */
struct rcore_error *rcore_outputs_write(const struct rcore_strings *outputs,
					const struct rcore_inputs *inputs,
					const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options);

#endif
