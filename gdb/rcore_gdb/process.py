# SPDX-License-Identifier: MIT
"""The inferiors, each with a Session of rcore, and the events after which what was read is no longer valid."""

import functools
import os

import gdb
from rcore_bridge import Error
from rcore_session import Session

from .facts import Facts
from .stack import STACKS, tid_of


def guarded(function):
    """Turns every error into one line: a bug of these scripts must not end in a traceback."""

    @functools.wraps(function)
    def call(*arguments):
        try:
            return function(*arguments)
        except (KeyboardInterrupt, gdb.GdbError):
            raise
        except (Error, gdb.error, OSError) as failure:
            raise gdb.GdbError("rcore: %s" % str(failure).replace("\n", " "))
        except Exception as failure:
            name = type(failure).__name__
            raise gdb.GdbError("rcore: unexpected %s: %s; please report it" % (name, failure))

    return call


_WORDS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_CHAR)


def is_condition():
    """Whether GDB is evaluating the condition of a breakpoint: threads then still count as running."""
    thread = gdb.selected_thread()
    if not thread or not thread.is_running():
        return False
    try:
        gdb.newest_frame()
    except gdb.error:
        return False
    return True


class Adapter:
    """GDB, as rcore_session wants it."""

    def __init__(self, inferior):
        self._inferior = inferior

    def token(self):
        if not self._inferior.pid:
            raise Error("there is no process; use core-file CORE or attach PID, and try again")
        thread = gdb.selected_thread()
        if thread and thread.is_running() and not is_condition():
            raise Error("the process is running; stop it with interrupt")
        connection = self._inferior.connection
        return (
            (self._inferior.pid, connection.num if connection else 0),
            self._inferior.progspace.filename,
            gdb.parameter("sysroot"),
            gdb.parameter("solib-search-path"),
        )

    def read(self, address, size):
        return self._inferior.read_memory(address, size)

    def tell(self, target):
        Facts(self._inferior).tell(target)

    def tell_memory(self, target):
        Facts(self._inferior).tell_memory(target)

    def tid(self):
        thread = gdb.selected_thread()
        return tid_of(thread) if thread else 0

    def color(self):
        return bool(gdb.parameter("style enabled")) and os.isatty(1)

    def select(self, place):
        STACKS.select(self._inferior, place)

    # Expressions may call functions and assign, but not here. GDB 13 refuses to
    # set may-write-registers while a process is attached;
    # plugin/rcore_expression.py lets no assignment pass.
    def evaluate(self, text):
        names = ("may-call-functions", "may-write-memory")
        before = [name for name in names if gdb.parameter(name)]
        try:
            for name in before:
                gdb.execute("set %s off" % name, to_string=True)
            value = gdb.parse_and_eval(text)
            return int(value) if value.type.strip_typedefs().code in _WORDS else None
        except (gdb.error, ValueError, OverflowError):
            return None
        finally:
            for name in before:
                gdb.execute("set %s on" % name, to_string=True)


class Processes:
    """The sessions, by inferior."""

    def __init__(self, library):
        self._library = library
        self._sessions = {}
        events = gdb.events
        for event in (events.cont, events.stop, events.exited):
            event.connect(self._on_run)
        for event in (events.memory_changed, events.register_changed):
            event.connect(self._on_write)
        events.inferior_deleted.connect(self._on_delete)

    def session(self):
        """That of the selected inferior."""
        inferior = gdb.selected_inferior()
        if inferior.num not in self._sessions:
            self._sessions[inferior.num] = Session(self._library, Adapter(inferior))
        return self._sessions[inferior.num]

    # In all-stop mode, the event does not name the thread or the inferiors that
    # run: everything is read again.
    def _on_run(self, event):
        thread = getattr(event, "inferior_thread", None)
        for session in self._sessions.values():
            session.resumed(tid_of(thread) if thread else None)
        STACKS.clear(thread)

    def _on_write(self, _event):
        for session in self._sessions.values():
            session.stale()

    def _on_delete(self, event):
        self._sessions.pop(event.inferior.num, None)
