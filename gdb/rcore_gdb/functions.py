# SPDX-License-Identifier: MIT
"""Convenience functions, for conditions and scripts: break foo if $ruby_self() == 8."""

import gdb
from rcore_bridge import Error

from .process import guarded, is_condition


class _Function(gdb.Function):
    def __init__(self, processes, name, doc, usage, example):
        self.__doc__ = "%s\n\nUsage: %s\n\nExample:\n  (gdb) %s" % (doc, usage, example)
        super().__init__(name)
        self._processes = processes
        self._told = None

    # GDB does not tell that the process ran between two conditions, and an error would end the run: what a
    # condition cannot know yet, when Ruby is still starting, is 0 to it, and said once.
    @guarded
    def invoke(self, *arguments):
        session = self._processes.session()
        if not is_condition():
            return self._value(session, *arguments)
        session.resumed()
        try:
            return self._value(session, *arguments)
        except (Error, gdb.error) as error:
            if str(error) != self._told:
                gdb.write("rcore: in a condition, taken as 0: %s\n" % error, gdb.STDERR)
            self._told = str(error)
            return _address(0)

    def _value(self, session, *arguments):
        raise NotImplementedError


def _address(number):
    return gdb.Value(number).cast(gdb.lookup_type("unsigned long"))


class _Address(_Function):
    """`of` takes the fiber (docs/json.md) and its selected frame, and gives an address as JSON has it."""

    def __init__(self, processes, name, doc, of):
        call = "$%s()" % name
        super().__init__(processes, name, doc, call, "print/x " + call)
        self._of = of

    def _value(self, session):
        fiber = session.stack() or {}
        frames = fiber.get("frames", [])
        number = session.frame()
        frame = frames[number] if number < len(frames) else {}
        return _address(int(self._of(fiber, frame) or "0", 16))


_ADDRESSES = (
    (
        "ruby_self",
        "self of the selected Ruby frame, a VALUE; 0: there is none.",
        lambda fiber, frame: frame.get("self"),
    ),
    (
        "ruby_cfp",
        "The selected Ruby frame, a rb_control_frame_t *; 0: there is none.",
        lambda fiber, frame: frame.get("cfp"),
    ),
    (
        "ruby_ec",
        "The selected fiber's rb_execution_context_t *; 0: there is none.",
        lambda fiber, frame: fiber.get("ec"),
    ),
    (
        "ruby_fiber",
        "The selected fiber, a rb_fiber_t *; 0: there is none.",
        lambda fiber, frame: fiber.get("address"),
    ),
)


def register(processes):
    for name, doc, of in _ADDRESSES:
        _Address(processes, name, doc, of)
