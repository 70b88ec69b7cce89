# SPDX-License-Identifier: MIT
"""rcore's commands for GDB: source this file, then `help ruby`.

Works with GDB 13 to 18, on cores and on processes. It reads the target, never writes to it, and never runs
its code.
"""

import os
import sys

import gdb


def _load(folder):
    for name in ("gdb", "plugin"):
        path = os.path.normpath(os.path.join(folder, "..", name))
        if path not in sys.path:
            sys.path.append(path)
    # When this file is sourced again, its modules may have changed.
    for name in [name for name in sys.modules if name.split(".")[0] in _MODULES]:
        del sys.modules[name]
    try:
        import rcore_bridge
        from rcore_gdb import plugin

        plugin.load(rcore_bridge.load())
    except ImportError as error:
        gdb.write("rcore: %s; install rcore again\n" % error, gdb.STDERR)
    except rcore_bridge.Error as error:
        gdb.write("rcore: %s\n" % error, gdb.STDERR)


_MODULES = ("rcore_bridge", "rcore_session", "rcore_values", "rcore_expression", "rcore_printer", "rcore_gdb")
# __file__ may be that of the script which sourced this one.
_load(os.path.dirname(os.path.realpath(_load.__code__.co_filename)))
