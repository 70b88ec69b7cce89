# SPDX-License-Identifier: MIT
"""set ruby ... and show ruby ..."""

import gdb


class _Prefix(gdb.Command):
    def __init__(self, name, doc):
        self.__doc__ = doc
        super().__init__(name, gdb.COMMAND_STACK, prefix=True)


class Switch(gdb.Parameter):
    def __init__(self, name, value, doc, what):
        self.__doc__ = self.set_doc = self.show_doc = doc
        self._what = what
        super().__init__("ruby " + name, gdb.COMMAND_STACK, gdb.PARAM_BOOLEAN)
        self.value = value

    def get_set_string(self):
        return ""

    def get_show_string(self, value):
        return "%s is %s." % (self._what, value)


def register():
    """The settings, by name."""
    _Prefix("set ruby", "Settings of the ruby commands.")
    _Prefix("show ruby", "Show settings of the ruby commands.")
    return {
        "frames": Switch(
            "frames",
            True,
            "Whether GDB's backtrace shows Ruby frames (bt -no-filters hides them once).",
            "Ruby frames in backtraces",
        ),
        "print-values": Switch(
            "print-values",
            False,
            "Whether GDB prints variables of the types VALUE and ID as Ruby values (print/r prints a number).",
            "Printing of VALUE and ID as Ruby values",
        ),
    }
