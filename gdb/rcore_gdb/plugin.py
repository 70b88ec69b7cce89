# SPDX-License-Identifier: MIT
"""Everything that the plugin adds to GDB."""

import gdb
from gdb.unwinder import register_unwinder
from rcore_session import all_commands

from . import commands, functions, printers, settings
from .frames import RubyFrames
from .process import Processes
from .stack import STACKS


def load(library):
    processes = Processes(library)
    commands.register(processes, all_commands(library, "(gdb) "))
    functions.register(processes)
    switches = settings.register()
    RubyFrames(processes, switches["frames"])
    printers.register(processes, switches["print-values"])
    register_unwinder(None, STACKS, replace=True)
