# SPDX-License-Identifier: MIT
"""Variables of C of the types VALUE and ID as what they are in Ruby: `type category enable ruby`."""

import lldb
from rcore_bridge import Error
from rcore_printer import TYPES

_CATEGORY = "ruby"


def make(processes, debugger):
    """A function for `type summary add -F`."""

    def ruby_summary(value, _dictionary):
        kind = value.GetType().GetUnqualifiedType().GetName()
        if kind not in TYPES or value.GetByteSize() != 8:
            return None
        session = processes.session(debugger, value.GetTarget(), value.GetThread())
        try:
            return session.printer.text(kind, value.GetValueAsUnsigned())
        except (Error, OSError, ValueError):
            return None

    return ruby_summary


def register(debugger, module):
    """Neither for pointers nor for types made of these."""
    result = lldb.SBCommandReturnObject()
    line = "type summary add --category %s --skip-pointers --no-value --cascade false -F %s.ruby_summary %s"
    words = (_CATEGORY, module.__name__, " ".join(TYPES))
    debugger.GetCommandInterpreter().HandleCommand(line % words, result)
