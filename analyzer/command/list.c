/* SPDX-License-Identifier: MIT */
#include "command/list.h"

/* clang-format off: one a line */
const struct rcore_command *const rcore_commands[] = {
	&rcore_command_analyze, &rcore_command_threads,
	&rcore_command_bt,      &rcore_command_state,
	&rcore_command_doctor,  &rcore_command_explain,
	&rcore_command_convert, &rcore_command_pack,
	NULL,
};
