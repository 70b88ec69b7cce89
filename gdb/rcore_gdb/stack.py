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
    """Unwinds the innermost frame of a thread into a fiber's stack: the next frame, #1, is where the
    fiber was parked. GDB gives Python no way to replace #0 itself, and the filter of backtraces hides
    it. If functions are inlined into the innermost one, they are #0 and on, and the rest follows."""

    _NAMES = {"i386:x86-64": ("x86_64", "rip", "rsp"), "aarch64": ("aarch64", "pc", "sp")}

    def __init__(self):
        super().__init__("rcore-fiber")
        # By number of the inferior: connection, thread, Place, and the level
        # of the thread's innermost frame.
        self._places = {}

    def clear(self, thread):
        """A thread has run; None: all have."""
        whose = {number: ptid for number, (_, ptid, _, _) in self._places.items()}
        for number, ptid in whose.items():
            if thread is None or not thread.is_valid() or thread.ptid == ptid:
                del self._places[number]

    def select(self, inferior, place):
        """Selects the fiber's first frame; the place is None, or that of a running fiber: frame #0."""
        self._places.pop(inferior.num, None)
        gdb.invalidate_cached_frames()
        connection = inferior.connection.num if inferior.connection else 0
        thread = self._thread(inferior, place) if place else None
        if thread:
            thread.switch()
        selected = gdb.selected_thread()
        if not (place and place.state == Place.PARKED and selected):
            gdb.newest_frame().select()
            return
        innermost = self._innermost()
        self._places[inferior.num] = (connection, selected.ptid, place, innermost.level())
        gdb.invalidate_cached_frames()
        innermost = self._innermost()
        (innermost.older() or innermost).select()

    @staticmethod
    def _innermost():
        """The first frame that no other is part of."""
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME and frame.older():
            frame = frame.older()
        return frame

    @staticmethod
    def _thread(inferior, place):
        for thread in inferior.threads():
            if place.tid and place.tid == tid_of(thread):
                return thread
        return None

    def place(self):
        """The Place of the fiber that replaces the selected thread, or None."""
        return self._selected()[0]

    def level(self):
        """The level of the last frame that is the thread's own; -1 if no fiber replaces it."""
        return self._selected()[1]

    def _selected(self):
        thread = gdb.selected_thread()
        if not self._places or not thread:
            return None, -1
        inferior = thread.inferior
        connection = inferior.connection.num if inferior.connection else 0
        *whose, place, level = self._places.get(inferior.num, (None, None, None, -1))
        return (place, level) if whose == [connection, thread.ptid] else (None, -1)

    def __call__(self, pending_frame):
        place, level = self._selected()
        if not place or pending_frame.level() != level:
            return None
        names = self._NAMES.get(pending_frame.architecture().name())
        if not names:
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
