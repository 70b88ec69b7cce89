# SPDX-License-Identifier: MIT
"""Shows C variables of the types VALUE and ID as Ruby does, after `type category enable ruby`."""

import lldb
from rcore_bridge import Error
from rcore_printer import TYPES

_CATEGORY = "ruby"


def make(processes, debugger):
    """Returns a function for `type summary add -F`."""

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
    """Adds the summaries, but not for pointers to these types or for types made of them."""
    result = lldb.SBCommandReturnObject()
    line = "type summary add --category %s --skip-pointers --no-value --cascade false -F %s.ruby_summary %s"
    words = (_CATEGORY, module.__name__, " ".join(TYPES))
    debugger.GetCommandInterpreter().HandleCommand(line % words, result)
