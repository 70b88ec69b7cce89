# SPDX-License-Identifier: MIT
"""The processes of LLDB, each with a Session of rcore."""

import lldb
from rcore_bridge import Error
from rcore_session import Session

from .facts import Facts
from .stack import Stacks

_STOPPED = (lldb.eStateStopped, lldb.eStateCrashed, lldb.eStateSuspended)
_RUNNING = (lldb.eStateRunning, lldb.eStateStepping, lldb.eStateLaunching, lldb.eStateAttaching)


_WORDS = lldb.eTypeIsInteger | lldb.eTypeIsPointer | lldb.eTypeIsEnumeration


class Adapter:
    """LLDB, as rcore_session wants it."""

    def __init__(self, debugger, target, files):
        self._debugger = debugger
        self._target = target
        self._files = files
        self._target_with_facts = None  # the last Target that tell() was called for
        self.thread = None  # the one that is asked about; None: the selected one
        self.stacks = Stacks(debugger)

    def token(self):
        process = self._target.GetProcess()
        state = process.GetState()
        if state in _RUNNING:
            raise Error("the process is running; stop it with process interrupt")
        if state not in _STOPPED:
            raise Error("there is no process; use target create -c CORE or process attach, and try again")
        program = self._target.GetExecutable()
        return (
            process.GetUniqueID(),
            process.GetStopID(True),
            self._target.GetNumModules(),
            program.fullpath,
            tuple(self._files),
        )

    def read(self, address, size):
        error = lldb.SBError()
        data = self._target.GetProcess().ReadMemory(address, size, error)
        if error.Fail():
            raise Error(error.GetCString())
        return data

    def tell(self, target):
        self._target_with_facts = target
        Facts(self._target, self._files).tell(target)

    def tell_memory(self, target):
        Facts(self._target, self._files).tell_memory(target)

    def tid(self):
        thread = self.thread or self._target.GetProcess().GetSelectedThread()
        return thread.GetThreadID() if thread.IsValid() else 0

    def color(self):
        return self._debugger.GetUseColor()

    def select(self, place):
        self.stacks.select(self._target.GetProcess(), place, self._target_with_facts)

    # Without JIT, LLDB still runs an expression in its interpreter, which may
    # write to a process (an assignment) and may have it map memory (any). So a
    # process gets only paths of variables and registers, which are just read.
    def evaluate(self, text):
        process = self._target.GetProcess()
        thread = process.GetSelectedThread()
        frame = thread.GetSelectedFrame() if thread.IsValid() else None
        if process.GetPluginName() == "elf-core":
            options = lldb.SBExpressionOptions()
            options.SetAllowJIT(False)
            value = (frame or self._target).EvaluateExpression(text, options)
        elif frame:
            register = text.startswith("$")
            value = frame.FindRegister(text[1:]) if register else frame.GetValueForVariablePath(text)
        else:
            return None
        if value.GetError().Fail() or not value.GetType().GetCanonicalType().GetTypeFlags() & _WORDS:
            return None
        return value.GetValueAsUnsigned()


class Processes:
    """The sessions, by number of the process."""

    def __init__(self, library):
        self._library = library
        self._sessions = {}
        self._files = []

    def look_in(self, sysroot=None, lib_search_path=None, layout=None):
        """Where files of the processes are, as the options of these names of rcore say; adds to what
        was said before."""
        said = (("sysroot", sysroot), ("lib-search-path", lib_search_path), ("layout", layout))
        self._files += [(name, value) for name, value in said if value]

    def session(self, debugger, target, thread=None):
        """That of the target's process, of its selected thread or this one."""
        process = target.GetProcess()
        number = process.GetUniqueID() if process.IsValid() else 0
        if number not in self._sessions:
            adapter = Adapter(debugger, target, self._files)
            self._sessions[number] = (adapter, Session(self._library, adapter))
        adapter, session = self._sessions[number]
        adapter.thread = thread
        if process.IsValid() and not thread:
            adapter.stacks.follow(process, session)
        return session
