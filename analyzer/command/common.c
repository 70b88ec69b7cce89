/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "model/redaction_names.h"

const struct rcore_option rcore_common_options[] = {
	{"redact", 0, RCORE_OPTION_CHOICE, offsetof(struct rcore_common, redact), "WHAT",
	 RCORE_REDACT_HELP, rcore_redact_names, .completion = RCORE_COMPLETE_NOTHING},
	{0},
};
