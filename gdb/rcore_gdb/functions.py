# SPDX-License-Identifier: MIT
"""Convenience functions, for conditions and scripts: break foo if $ruby_self() == 8."""

import gdb

from .process import guarded


class _Address(gdb.Function):
    """`of` takes the fiber (docs/json.md) and its selected frame, and gives an address as JSON has it."""

    def __init__(self, processes, name, doc, of):
        self.__doc__ = doc + "\n\nUsage: $ruby_%s()\n\nExample:\n  (gdb) print/x $ruby_%s()" % (
            name,
            name,
        )
        super().__init__("ruby_" + name)
        self._processes = processes
        self._of = of

    @guarded
    def invoke(self):
        session = self._processes.fresh_session()
        fiber = session.stack()
        frames = fiber.get("frames", []) if fiber else []
        number = session.frame()
        frame = frames[number] if number < len(frames) else {}
        address = self._of(fiber, frame) if fiber else None
        kind = gdb.lookup_type("unsigned long")
        return gdb.Value(int(address, 16) if address else 0).cast(kind)


def register(processes):
    for name, doc, of in (
        ("self", "self of the selected Ruby frame, a VALUE; 0: there is none.", lambda _, frame: frame.get("self")),
        ("cfp", "The selected Ruby frame, a rb_control_frame_t *; 0: there is none.", lambda _, frame: frame.get("cfp")),
        ("ec", "The selected fiber's rb_execution_context_t *; 0: there is none.", lambda fiber, _: fiber.get("ec")),
        ("fiber", "The selected fiber, a rb_fiber_t *; 0: there is none.", lambda fiber, _: fiber.get("address")),
    ):
        _Address(processes, name, doc, of)
