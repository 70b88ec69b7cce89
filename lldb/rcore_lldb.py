# SPDX-License-Identifier: MIT
"""rcore's commands for LLDB: `command script import` this file, then `help ruby`.

Works with LLDB 14 to 19, on cores and on processes. It reads the target, never writes to it, and never
runs its code.
"""

import os
import sys

import lldb

_MODULES = (
    "rcore_bridge",
    "rcore_session",
    "rcore_values",
    "rcore_expression",
    "rcore_printer",
    "rcore_for_lldb",
    "rcore_fibers",
)


def _load(folder):
    for name in ("lldb", "plugin"):
        path = os.path.normpath(os.path.join(folder, "..", name))
        if path not in sys.path:
            sys.path.append(path)
    # When this file is imported again, its modules may have changed.
    for name in [name for name in sys.modules if name.split(".")[0] in _MODULES]:
        del sys.modules[name]
    import rcore_bridge
    from rcore_for_lldb import plugin

    return rcore_bridge, plugin


def __lldb_init_module(debugger, _dictionary):
    try:
        bridge, plugin = _load(os.path.dirname(os.path.realpath(__file__)))
    except ImportError as error:
        print("rcore: %s; install rcore again" % error, file=sys.stderr)
        return
    try:
        plugin.load(debugger, bridge.load(), sys.modules[__name__])
    except bridge.Error as error:
        print("rcore: %s" % error, file=sys.stderr)
