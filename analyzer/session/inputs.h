/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_INPUTS_H
#define RCORE_SESSION_INPUTS_H

#include "rcore.h"
#include "target/output/inputs.h"

/*
 * Returns the files that are read, and that no output may replace: core,
 * executable, libraries, the layout table, standard input. They belong to the
 * session. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_inputs(struct rcore_session *session,
					 const struct rcore_inputs **ret);

/* Does the same as rcore_destination_find(), before any work is done. */
struct rcore_error *rcore_session_check_output(struct rcore_session *session, const char *path);

/* Fails with USAGE if standard output appends to one of these files. */
struct rcore_error *rcore_session_check_stdout(struct rcore_session *session);

#endif
