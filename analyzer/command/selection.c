/* SPDX-License-Identifier: MIT */
#include "command/list.h"

/*
 * The commands that show or change a debugger's selection. Only the debugger's
 * own scripts know it, so they run these commands (plugin/rcore_session.py),
 * and there is no `run` here.
 */

const struct rcore_command rcore_command_fiber = {
	.verb = "fiber",
	.input = RCORE_INPUT_NONE,
	.summary = "select a fiber",
	.doc = "Select a parked fiber: until the process runs, the debugger's own commands for "
	       "stacks and registers work on its stack, and the ruby commands work on it. "
	       "Without an argument, print which fiber is selected. off selects the fiber that "
	       "the thread runs.",
	.words = "[ID|off]",
	.completion = RCORE_COMPLETE_FIBER,
	.examples = (const char *const[]){"T1.F7", "0x7f1234567890", "off", NULL},
};

const struct rcore_command rcore_command_frame = {
	.verb = "frame",
	.input = RCORE_INPUT_NONE,
	.summary = "select a Ruby frame",
	.doc = "Select a Ruby frame of the selected fiber by the number that ruby-bt prints. "
	       "ruby-locals and ruby-print work on it. Without an argument, print the frame "
	       "that is selected.",
	.words = "[N]",
	.examples = (const char *const[]){"2", "", NULL},
};

const struct rcore_command rcore_command_up = {
	.verb = "up",
	.input = RCORE_INPUT_NONE,
	.summary = "select the Ruby frame that called this one",
	.doc = "Select the Ruby frame that called the selected one, or the frame N levels "
	       "further out.",
	.words = "[N]",
	.examples = (const char *const[]){"", "2", NULL},
};

const struct rcore_command rcore_command_down = {
	.verb = "down",
	.input = RCORE_INPUT_NONE,
	.summary = "select the Ruby frame that this one called",
	.doc = "Select the Ruby frame that the selected one called, or the frame N levels "
	       "further in.",
	.words = "[N]",
	.examples = (const char *const[]){"", "2", NULL},
};
