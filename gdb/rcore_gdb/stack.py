# SPDX-License-Identifier: MIT
"""A parked fiber in place of the stack of its thread."""

import gdb
from gdb.unwinder import Unwinder
from rcore_bridge import Place


class _FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class Stacks(Unwinder):
    """Unwinds frame #0 of a thread into a fiber's stack: frame #1 is where the fiber was parked. GDB
    gives Python no way to replace #0 itself, and the filter of backtraces hides it."""

    _NAMES = {"i386:x86-64": ("x86_64", "rip", "rsp"), "aarch64": ("aarch64", "pc", "sp")}

    def __init__(self):
        super().__init__("rcore-fiber")
        self._places = {}  # by number of the inferior: tid of its thread, Place

    def clear(self):
        self._places.clear()

    def select(self, inferior, place):
        """Selects frame #1; the place is None, or that of a running fiber: frame #0."""
        self._places.pop(inferior.num, None)
        thread = self._thread(inferior, place) if place else None
        if thread:
            thread.switch()
        selected = gdb.selected_thread()
        parked = place and place.state == Place.PARKED and selected
        if parked:
            self._places[inferior.num] = (selected.ptid, place)
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        (frame.older() if parked and frame.older() else frame).select()

    @staticmethod
    def _thread(inferior, place):
        for thread in inferior.threads():
            if place.tid and place.tid in (thread.ptid[1], thread.ptid[0]):
                return thread
        return None

    def place(self):
        """The Place of the fiber that stands for the selected thread, or None."""
        thread = gdb.selected_thread()
        if not self._places or not thread:
            return None
        ptid, place = self._places.get(thread.inferior.num, (None, None))
        return place if ptid == thread.ptid else None

    def __call__(self, pending_frame):
        if not self._places or pending_frame.level() > 0:
            return None
        place = self.place()
        names = self._NAMES.get(pending_frame.architecture().name())
        if not place or not names:
            return None
        machine, pc, sp = names
        values = place.values(machine)
        # The stack pointer is further in than that of each frame of the fiber.
        info = pending_frame.create_unwind_info(_FrameId(values[sp], values[pc]))
        for name, value in values.items():
            kind = pending_frame.read_register(name).type
            info.add_saved_register(name, gdb.Value(value).cast(kind))
        return info


STACKS = Stacks()
