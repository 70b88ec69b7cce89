# SPDX-License-Identifier: MIT
"""Shows a parked fiber in place of the stack of its thread."""

import gdb
from gdb.unwinder import Unwinder
from rcore_bridge import Place


def tid_of(thread):
    """The kernel's number of it."""
    return thread.ptid[1] or thread.ptid[0]


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
        self._places = {}  # by number of the inferior: connection, thread, Place

    def clear(self, thread):
        """A thread has run; None: all have."""
        whose = {number: ptid for number, (_, ptid, _) in self._places.items()}
        for number, ptid in whose.items():
            if thread is None or not thread.is_valid() or thread.ptid == ptid:
                del self._places[number]

    def select(self, inferior, place):
        """Selects frame #1; the place is None, or that of a running fiber: frame #0."""
        self._places.pop(inferior.num, None)
        connection = inferior.connection.num if inferior.connection else 0
        thread = self._thread(inferior, place) if place else None
        if thread:
            thread.switch()
        selected = gdb.selected_thread()
        parked = place and place.state == Place.PARKED and selected
        if parked:
            self._places[inferior.num] = (connection, selected.ptid, place)
        gdb.invalidate_cached_frames()
        frame = gdb.newest_frame()
        (frame.older() if parked and frame.older() else frame).select()

    @staticmethod
    def _thread(inferior, place):
        for thread in inferior.threads():
            if place.tid and place.tid == tid_of(thread):
                return thread
        return None

    def place(self):
        """The Place of the fiber that replaces the selected thread, or None."""
        thread = gdb.selected_thread()
        if not self._places or not thread:
            return None
        inferior = thread.inferior
        connection = inferior.connection.num if inferior.connection else 0
        *whose, place = self._places.get(inferior.num, (None, None, None))
        return place if whose == [connection, thread.ptid] else None

    def __call__(self, pending_frame):
        if not self._places or pending_frame.level() > 0:
            return None
        place = self.place()
        names = self._NAMES.get(pending_frame.architecture().name())
        if not place or not names:
            return None
        machine, pc, sp = names
        registers = {
            name: gdb.Value(value).cast(pending_frame.read_register(name).type)
            for name, value in place.values(machine).items()
        }
        # The stack pointer is below that of each frame of the fiber.
        info = pending_frame.create_unwind_info(_FrameId(registers[sp], registers[pc]))
        for name, value in registers.items():
            info.add_saved_register(name, value)
        return info


STACKS = Stacks()
