/* SPDX-License-Identifier: MIT */
#include "command/list.h"

/* One a line, so that two that are added do not meet. */
/* clang-format off */
const struct rcore_command *const rcore_commands[] = {
	&rcore_command_analyze,
	&rcore_command_threads,
	&rcore_command_bt,
	&rcore_command_locals,
	&rcore_command_exception,
	&rcore_command_state,
	&rcore_command_waits,
	&rcore_command_doctor,
	&rcore_command_explain,
	&rcore_command_convert,
	&rcore_command_pack,
	&rcore_command_print,
	&rcore_command_fiber,
	&rcore_command_frame,
	&rcore_command_up,
	&rcore_command_down,
	NULL,
};
/* clang-format on */
