# SPDX-License-Identifier: MIT
"""The texts that stand for a VALUE and an ID where the debugger shows a variable of that type."""

from rcore_bridge import Error, Target

# How a type's values are named to ruby-print.
TYPES = {"VALUE": (), "ID": ("--id",)}


class Printer:
    """Asked in the midst of whatever the debugger shows, when the threads must not be touched: so it has a
    Target of its own, which is told of memory alone."""

    def __init__(self, library, adapter):
        self._adapter = adapter
        self._target = Target(library, adapter.read)
        self._token = None

    def stale(self):
        self._token = None

    def text(self, kind, number):
        """The number and what it is, in one line; the number alone where that cannot be told."""
        shown = hex(number)
        try:
            text, _ = self._told().run(["print", "--depth", "0", *TYPES[kind], shown])
        except Error:
            text = None
        first = text.decode().split("\n", 1)[0] if text else ""
        return "%s %s" % (shown, first) if first else shown

    def _told(self):
        token = self._adapter.token()
        if token != self._token or not self._target.is_told:
            self._target.forget()
            self._adapter.tell_memory(self._target)
            self._target.is_told = True
            self._token = token
        return self._target
