# SPDX-License-Identifier: MIT
"""Variables of C of the types VALUE and ID as what they are in Ruby: `set ruby print-values on`."""

import gdb
from rcore_printer import TYPES

from .process import guarded


class _Text:
    def __init__(self, text):
        self._text = text

    def to_string(self):
        return self._text


class ValuePrinter:
    """One of gdb.pretty_printers."""

    def __init__(self, processes, setting):
        self.name = "ruby"
        self.enabled = True
        self._processes = processes
        self._setting = setting

    # Both types are unsigned long by other names: only the name tells.
    def __call__(self, value):
        name = value.type.name
        if not self._setting.value or name not in TYPES or not _is_word(value.type):
            return None
        try:
            return _Text(self._text(name, int(value)))
        except gdb.GdbError:  # GDB shows what it would without us
            return None

    @guarded
    def _text(self, name, number):
        return self._processes.session().printer.text(name, number)


def _is_word(kind):
    plain = kind.strip_typedefs()
    return plain.code == gdb.TYPE_CODE_INT and plain.sizeof == 8


def register(processes, setting):
    gdb.pretty_printers[:] = [
        one for one in gdb.pretty_printers if getattr(one, "__module__", "") != __name__
    ]
    gdb.pretty_printers.append(ValuePrinter(processes, setting))
