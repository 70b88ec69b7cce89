/* SPDX-License-Identifier: MIT */
#include "cli/list.h"

/* One a line, so that two that are added do not conflict. */
/* clang-format off */
const struct rcore_command *const rcore_cli_commands[] = {
	&rcore_cli_ps,
	&rcore_cli_triage,
	&rcore_cli_collect,
	&rcore_cli_record,
	&rcore_cli_report,
	&rcore_cli_top,
	&rcore_cli_layout,
	&rcore_cli_gdb,
	&rcore_cli_lldb,
	NULL,
};
/* clang-format on */
