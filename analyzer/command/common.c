/* SPDX-License-Identifier: MIT */
#include "command/command.h"
#include "model/redaction_names.h"
#include "model/report_options.h"

const struct rcore_option rcore_common_options[] = {
	{"redact", 0, RCORE_OPTION_CHOICE, offsetof(struct rcore_common, redact), "WHAT",
	 RCORE_REDACT_HELP, rcore_redact_names, .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

const char *const rcore_native_names[] = {
	[RCORE_NATIVE_FOLDED] = "fold",
	[RCORE_NATIVE_ALL] = "all",
	[RCORE_NATIVE_NONE] = "none",
	NULL,
};
