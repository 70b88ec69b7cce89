# SPDX-License-Identifier: MIT
"""Convenience functions, for conditions and scripts: break foo if $ruby_self() == 8."""

import gdb
import rcore_values
from rcore_bridge import Error

from .process import guarded, is_condition


class _Function(gdb.Function):
    _counts = ()  # of arguments

    def __init__(self, processes, name, doc, usage, example):
        self.__doc__ = "%s\n\nUsage: %s\n\nExample:\n  (gdb) %s" % (doc, usage, example)
        super().__init__(name)
        self._name = name
        self._processes = processes
        self._reported = None

    # GDB does not report that the process ran between two conditions, and an
    # error would stop it. A condition that cannot be evaluated yet, because
    # Ruby is still starting, is 0, and the reason is printed once.
    @guarded
    def invoke(self, *arguments):
        if len(arguments) not in self._counts:
            raise Error("wrong number of arguments; see help function %s" % self._name)
        session = self._processes.session()
        if not is_condition():
            return self._value(session, *arguments)
        session.resumed()
        try:
            return self._value(session, *arguments)
        except (Error, gdb.error) as error:
            if str(error) != self._reported:
                gdb.write("rcore: a condition cannot be evaluated and counts as 0: %s\n" % error, gdb.STDERR)
            self._reported = str(error)
            return _address(0)

    def _value(self, session, *arguments):
        raise NotImplementedError


def _address(number):
    return gdb.Value(number).cast(gdb.lookup_type("unsigned long"))


class _Address(_Function):
    """An address of the fiber or of its selected frame, by the name that docs/json.md gives it."""

    _counts = (0,)

    def __init__(self, processes, name, doc, of):
        call = "$%s()" % name
        super().__init__(processes, name, doc, call, "print/x " + call)
        self._of = of

    def _value(self, session):
        return _address(rcore_values.address(session, self._of))


class _Value(_Function):
    """A Ruby value by name: Integer, Float and String become GDB values, nil and false become 0. With a
    second argument, whether the two are equal."""

    _counts = (1, 2)

    def __init__(self, processes, name, doc, example, of):
        doc += (
            "\nReturns an Integer, a Float or a String, for other objects what inspect prints; 0 for nil and false."
            "\nWith a second argument, returns 1 if the value equals that number or string, and 0 otherwise."
        )
        super().__init__(processes, name, doc, '$%s("NAME" [, VALUE])' % name, example)
        self._of = of

    def _value(self, session, name, wanted=None):
        name, wanted = _plain(name), None if wanted is None else _plain(wanted)
        if not isinstance(name, str):
            raise Error("the first argument must be a name in quotes; see help function %s" % self._name)
        if wanted is not None:
            return gdb.Value(int(self._is(session, name, wanted)))
        value = self._of(session, name)
        try:
            return gdb.Value(0 if value is None else value)
        except (ValueError, OverflowError):  # an Integer past 64 bits
            return gdb.Value(str(value))


    def _is(self, session, name, wanted):
        try:
            return self._of(session, name) == wanted
        except rcore_values.Missing:
            return False


def _plain(value):
    code = value.type.strip_typedefs().code
    if code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL):
        return int(value)
    return float(value) if code == gdb.TYPE_CODE_FLT else value.string()


_ADDRESSES = (
    ("ruby_self", "Returns self of the selected Ruby frame, a VALUE, or 0 if there is none.", "self"),
    ("ruby_cfp", "Returns the selected Ruby frame, a rb_control_frame_t *, or 0 if there is none.", "cfp"),
    ("ruby_ec", "Returns the selected fiber's rb_execution_context_t *, or 0 if there is none.", "ec"),
    ("ruby_fiber", "Returns the selected fiber, a rb_fiber_t *, or 0 if there is none.", "address"),
)

_VALUES = (
    (
        "ruby_state",
        "Looks up a key in the context of the selected fiber.",
        'break foo if $ruby_state("user_id") == 42',
        rcore_values.state,
    ),
    (
        "ruby_local",
        "Looks up a local variable or an argument of the selected Ruby frame.",
        'break foo if $ruby_local("name", "abc")',
        rcore_values.local,
    ),
)


def register(processes):
    for name, doc, of in _ADDRESSES:
        _Address(processes, name, doc, of)
    for name, doc, example, of in _VALUES:
        _Value(processes, name, doc, example, of)
