# SPDX-License-Identifier: MIT
"""Everything that the plugin adds to LLDB."""

from rcore_session import all_commands

from . import commands, functions, summaries
from .process import Processes


def load(debugger, library, module):
    """`module` gets what LLDB and the user ask it for: the classes of the commands, and the functions for
    the conditions of breakpoints."""
    processes = Processes(library)
    for name, value in functions.make(processes, debugger).items():
        setattr(module, name, value)
    module.look_in = processes.look_in
    module.ruby_summary = summaries.make(processes, debugger)
    summaries.register(debugger, module)
    commands.register(debugger, module, processes, all_commands(library, "(lldb) "))
