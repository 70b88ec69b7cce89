/* SPDX-License-Identifier: MIT */
#include "base/signal_name.h"

#include <stdio.h>
#include <string.h>

const char *rcore_signal_name(int signo, char buffer[RCORE_SIGNAL_SIZE])
{
	const char *name = sigabbrev_np(signo);
	if (name)
		snprintf(buffer, RCORE_SIGNAL_SIZE, "SIG%s", name);
	else
		snprintf(buffer, RCORE_SIGNAL_SIZE, "signal %d", signo);
	return buffer;
}
