# SPDX-License-Identifier: MIT
"""Texts for variables of the types VALUE and ID that the debugger shows."""

from rcore_bridge import Error, Target

# The arguments of ruby-print for each type.
TYPES = {"VALUE": (), "ID": ("--id",)}


class Printer:
    """The debugger calls it while it prints something, when no other thread may be selected. So it has a
    Target of its own, which knows only the memory."""

    def __init__(self, library, adapter):
        self._adapter = adapter
        self._target = Target(library, adapter.read)
        self._token = None

    def stale(self):
        self._token = None

    def text(self, kind, number):
        """Returns the number and the value on one line, or only the number if the value cannot be read."""
        shown = hex(number)
        try:
            text, _ = self._current_target().run(["print", "--depth", "0", *TYPES[kind], shown])
        except Error:
            text = None
        first = text.decode().split("\n", 1)[0] if text else ""
        return "%s %s" % (shown, first) if first else shown

    def _current_target(self):
        token = self._adapter.token()
        if token != self._token or not self._target.has_facts:
            self._target.forget()
            self._adapter.tell_memory(self._target)
            self._target.has_facts = True
            self._token = token
        return self._target
