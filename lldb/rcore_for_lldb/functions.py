# SPDX-License-Identifier: MIT
"""What the conditions of breakpoints, and scripts, may ask:

    breakpoint command add -o 'return rcore_lldb.ruby_state("user_id", frame) == 42' 1

Each takes the SBFrame last, which LLDB gives to a callback as `frame`; without it, it is of the thread that is selected.
"""

import functools

import rcore_values
from rcore_bridge import Error


def _session(processes, debugger, frame):
    if frame is None:
        return processes.session(debugger, debugger.GetSelectedTarget())
    thread = frame.GetThread()
    return processes.session(debugger, thread.GetProcess().GetTarget(), thread)


def _quiet(function):
    """A callback that raises stops the process, with a traceback: rather say it in one line, and give None."""

    @functools.wraps(function)
    def call(*arguments):
        try:
            return function(*arguments)
        except Error as error:
            print("rcore: %s" % error)
            return None

    return call


def make(processes, debugger):
    """The functions, by name."""

    def ruby_state(key, frame=None):
        """The value under `key` in the context of the fiber; None: it has none."""
        return rcore_values.state(_session(processes, debugger, frame), key)

    def ruby_local(name, frame=None):
        """The value of a local of the innermost frame of Ruby code, or the one that is selected."""
        return rcore_values.local(_session(processes, debugger, frame), name)

    functions = {"ruby_state": _quiet(ruby_state), "ruby_local": _quiet(ruby_local)}
    for name, of, what in (
        ("ruby_self", "self", "self of the innermost Ruby frame, or the one that is selected: a VALUE"),
        ("ruby_cfp", "cfp", "that frame's rb_control_frame_t *"),
        ("ruby_fiber", "address", "the fiber's rb_fiber_t *"),
        ("ruby_ec", "ec", "its rb_execution_context_t *"),
    ):
        functions[name] = _address(processes, debugger, of, what)
    return functions


def _address(processes, debugger, of, what):
    def function(frame=None):
        return rcore_values.address(_session(processes, debugger, frame), of)

    function.__doc__ = "%s; 0: there is none." % what.capitalize()
    return _quiet(function)
