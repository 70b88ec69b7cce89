/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_OUTPUT_H
#define RCORE_COMMAND_OUTPUT_H

#include "command/command.h"
#include "report/report.h"

/* The -o of a command: files, each in the format of its ending or named before it ("gitlab:FILE"). */

/* USAGE where a format cannot be told: asked before the target is read. */
struct rcore_error *rcore_outputs_check(const struct rcore_words *outputs);

/* Writes each. Error: the first file that could not be written whole; the others are written. */
struct rcore_error *rcore_outputs_write(const struct rcore_words *outputs,
					const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options);

#endif
