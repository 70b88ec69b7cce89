# SPDX-License-Identifier: MIT
"""Ruby frames in GDB's own backtrace, in their places between the native ones."""

import gdb
from gdb.FrameDecorator import FrameDecorator
from rcore_bridge import Error

from .stack import STACKS


def _printable(text):
    escape = lambda c: c if c.isprintable() else c.encode("unicode_escape").decode()
    return "".join(map(escape, text))


class NativeFrame(FrameDecorator):
    """Shows a frame without a function as GDB does; GDB's own decorator shows nothing."""

    def function(self):
        return super().function() if self.inferior_frame().name() else "??"


class RubyFrame(FrameDecorator):
    """A frame without a number. GDB omits the number of a frame that it has already shown, so this one is
    based on the native frame that it called."""

    def __init__(self, inside, frame):
        super().__init__(inside)
        self._frame = frame

    def function(self):
        label = self._frame.get("label", "(%s frame)" % self._frame.get("kind"))
        return "    " + _printable(label)

    def filename(self):
        path = self._frame.get("path")
        return _printable(path) if path else None

    def line(self):
        return self._frame.get("line") if "path" in self._frame else None

    def address(self):
        return None

    def frame_args(self):
        return None

    def frame_locals(self):
        return None

    def elided(self):
        return None


class _Weave:
    """Finds the Ruby frames that belong before a native frame, by its pc and sp."""

    def __init__(self, stack):
        self._steps = stack.get("stack", [])
        self._frames = stack.get("frames", [])
        self._at = 0
        native = stack.get("native", [])
        self._place = {}
        for place, step in enumerate(self._steps):
            if "native" in step:
                frame = native[step["native"]]
                key = (int(frame.get("pc", "0"), 16), int(frame.get("sp", "0"), 16))
                self._place.setdefault(key, place)

    def before(self, pc, sp):
        place = self._place.get((pc, sp))
        return [] if place is None else self._take(place)

    def rest(self):
        return self._take(len(self._steps))

    def _take(self, end):
        steps, self._at = self._steps[self._at : end], max(self._at, end)
        frames = [self._frames[step["frame"]] for step in steps if "frame" in step]
        return [frame for frame in frames if frame.get("kind") != "dummy"]


class RubyFrames:
    def __init__(self, processes, setting):
        self._processes = processes
        self._setting = setting
        self.name = "ruby-frames"
        self.priority = 50
        self._enabled = True
        gdb.frame_filters[self.name] = self

    # If there is no Ruby, GDB's own backtrace must not change. Any enabled
    # filter, even one that does nothing, changes how it looks.
    @property
    def enabled(self):
        return self._enabled and (STACKS.place() is not None or self._stack() is not None)

    @enabled.setter
    def enabled(self, value):
        self._enabled = value

    def filter(self, frames):
        weave = _Weave(self._stack() or {})
        return self._woven(frames, STACKS.level(), weave)

    # GDB must print a backtrace even if Ruby cannot be decoded.
    def _stack(self):
        if not self._setting.value:
            return None
        try:
            return self._processes.session().stack()
        except (Error, gdb.error, OSError, ValueError, LookupError):
            return None

    @staticmethod
    def _woven(frames, own, weave):
        last = None
        for decorator in map(NativeFrame, frames):
            frame = decorator.inferior_frame()
            pc, sp = _position(frame)
            # Nothing called the first function of a fiber, but GDB continues.
            if frame.level() <= own or (own >= 0 and pc == 0):
                continue
            found = weave.before(pc, sp)
            if not last:
                yield decorator
            for ruby in found:
                yield RubyFrame(last or decorator, ruby)
            if last:
                yield decorator
            last = decorator
        for ruby in weave.rest() if last else ():
            yield RubyFrame(last, ruby)


def _position(frame):
    try:
        return frame.pc(), int(frame.read_register("sp")) & (1 << 64) - 1
    except (gdb.error, ValueError):
        return 0, 0
