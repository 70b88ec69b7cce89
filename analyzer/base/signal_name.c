/* SPDX-License-Identifier: MIT */
#include "base/signal_name.h"

#include <signal.h>
#include <stdio.h>

#include "base/count.h"

/*
 * glibc's sigabbrev_np came with 2.32, and the library for debuggers also runs
 * with older ones.
 */
static const char *const names[] = {
	[SIGHUP] = "HUP",   [SIGINT] = "INT",   [SIGQUIT] = "QUIT",     [SIGILL] = "ILL",
	[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT", [SIGBUS] = "BUS",       [SIGFPE] = "FPE",
	[SIGKILL] = "KILL", [SIGUSR1] = "USR1", [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
	[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM", [SIGTERM] = "TERM",     [SIGSTKFLT] = "STKFLT",
	[SIGCHLD] = "CHLD", [SIGCONT] = "CONT", [SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",
	[SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU", [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
	[SIGXFSZ] = "XFSZ", [SIGPROF] = "PROF", [SIGVTALRM] = "VTALRM", [SIGWINCH] = "WINCH",
	[SIGPOLL] = "POLL", [SIGPWR] = "PWR",   [SIGSYS] = "SYS",
};

const char *rcore_signal_name(int signo, char buffer[RCORE_SIGNAL_SIZE])
{
	if (signo > 0 && (size_t)signo < RCORE_COUNT(names) && names[signo])
		snprintf(buffer, RCORE_SIGNAL_SIZE, "SIG%s", names[signo]);
	else
		snprintf(buffer, RCORE_SIGNAL_SIZE, "signal %d", signo);
	return buffer;
}
