/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_LIST_H
#define RCORE_COMMAND_LIST_H

#include "command/command.h"

extern const struct rcore_command rcore_command_analyze;
extern const struct rcore_command rcore_command_threads;
extern const struct rcore_command rcore_command_bt;
extern const struct rcore_command rcore_command_locals;
extern const struct rcore_command rcore_command_exception;
extern const struct rcore_command rcore_command_state;
extern const struct rcore_command rcore_command_doctor;
extern const struct rcore_command rcore_command_explain;
extern const struct rcore_command rcore_command_pack;
extern const struct rcore_command rcore_command_convert;
extern const struct rcore_command rcore_command_waits;
extern const struct rcore_command rcore_command_print;
extern const struct rcore_command rcore_command_fiber;
extern const struct rcore_command rcore_command_frame;
extern const struct rcore_command rcore_command_up;
extern const struct rcore_command rcore_command_down;

/* Not in the list: a subcommand of `rcore layout`. */
extern const struct rcore_command rcore_command_check;

#endif
