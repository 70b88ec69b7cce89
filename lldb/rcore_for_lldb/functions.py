# SPDX-License-Identifier: MIT
"""Functions for conditions of breakpoints and for scripts:

    breakpoint command add -o 'return rcore_lldb.ruby_state("user_id", frame) == 42' 1

The last argument of each is the SBFrame that LLDB passes to a callback as `frame`. Without it, they use the selected thread.
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
    """A callback that raises an exception stops the process with a traceback. Print one line and return None instead."""

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
        """Returns the value under `key` in the context of the fiber, or None."""
        return rcore_values.state(_session(processes, debugger, frame), key)

    def ruby_local(name, frame=None):
        """Returns the value of a local variable of the selected frame, or of the innermost frame of Ruby code."""
        return rcore_values.local(_session(processes, debugger, frame), name)

    functions = {"ruby_state": _quiet(ruby_state), "ruby_local": _quiet(ruby_local)}
    for name, of, what in (
        ("ruby_self", "self", "returns self of the selected Ruby frame, or of the innermost one: a VALUE"),
        ("ruby_cfp", "cfp", "returns the rb_control_frame_t * of that frame"),
        ("ruby_fiber", "address", "returns the rb_fiber_t * of the fiber"),
        ("ruby_ec", "ec", "returns the rb_execution_context_t * of the fiber"),
    ):
        functions[name] = _address(processes, debugger, of, what)
    return functions


def _address(processes, debugger, of, what):
    def function(frame=None):
        return rcore_values.address(_session(processes, debugger, frame), of)

    function.__doc__ = "%s%s, or 0." % (what[0].upper(), what[1:])
    return _quiet(function)
