# SPDX-License-Identifier: MIT
"""librcore for debuggers written in Python: what GDB and LLDB share.

Wraps the C ABI as a Target; rcore_session.py uses it. This file imports nothing of a debugger. Every failure is an Error with one line.
"""

import ctypes
import json
import os
import sys

ABI = 4
NOT_SAVED, SAVED, CUT_OFF = 0, 1, 2

_READ = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64
)
_READ_ALL, _CANNOT_READ = 1, 2
_TEXT = ctypes.c_char_p
_PLUGIN = ctypes.c_void_p
_RET = ctypes.POINTER(ctypes.c_void_p)


class Place(ctypes.Structure):
    """struct rcore_plugin_place: where a fiber is."""

    RUNS, PARKED, NONE = 0, 1, 2
    _fields_ = [
        ("id", ctypes.c_char * 32),
        ("tid", ctypes.c_int32),
        ("state", ctypes.c_int32),
        ("known", ctypes.c_uint64),
        ("registers", ctypes.c_uint64 * 34),
    ]

    def values(self, machine):
        """The registers that are known, by name."""
        names = enumerate(REGISTERS[machine])
        return {name: self.registers[n] for n, name in names if self.known >> n & 1}


# What rcore_plugin.h declares: name, result, arguments.
_FUNCTIONS = (
    ("rcore_plugin_abi", ctypes.c_uint32, ()),
    ("rcore_plugin_version", _TEXT, ()),
    ("rcore_plugin_open", _PLUGIN, (_READ, ctypes.c_void_p)),
    ("rcore_plugin_close", None, (_PLUGIN,)),
    ("rcore_plugin_forget", None, (_PLUGIN,)),
    ("rcore_plugin_set_text", ctypes.c_int32, (_PLUGIN, _TEXT, _TEXT)),
    ("rcore_plugin_set_number", ctypes.c_int32, (_PLUGIN, _TEXT, ctypes.c_int64)),
    (
        "rcore_plugin_set_siginfo",
        ctypes.c_int32,
        (_PLUGIN, ctypes.c_int32, ctypes.c_int32, ctypes.c_uint64, ctypes.c_int32),
    ),
    (
        "rcore_plugin_add_thread",
        ctypes.c_int32,
        (
            _PLUGIN,
            ctypes.c_int32,
            ctypes.POINTER(ctypes.c_uint64),
            ctypes.c_uint32,
            ctypes.c_uint64,
        ),
    ),
    (
        "rcore_plugin_add_mapping",
        ctypes.c_int32,
        (_PLUGIN, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64, _TEXT),
    ),
    (
        "rcore_plugin_add_segment",
        ctypes.c_int32,
        (_PLUGIN, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32),
    ),
    ("rcore_plugin_add_core", ctypes.c_int32, (_PLUGIN, _TEXT)),
    ("rcore_plugin_add_auxv", ctypes.c_int32, (_PLUGIN, ctypes.c_uint64, ctypes.c_uint64)),
    ("rcore_plugin_commands", ctypes.c_void_p, ()),
    ("rcore_plugin_help", ctypes.c_void_p, (_TEXT, _TEXT)),
    (
        "rcore_plugin_run",
        ctypes.c_int32,
        (_PLUGIN, ctypes.c_int32, ctypes.POINTER(_TEXT), _RET),
    ),
    ("rcore_plugin_complete", ctypes.c_int32, (_PLUGIN, _TEXT, _TEXT, _RET)),
    ("rcore_plugin_current_fiber", ctypes.c_int32, (_PLUGIN, ctypes.c_int32, _RET)),
    ("rcore_plugin_locate_fiber", ctypes.c_int32, (_PLUGIN, _TEXT, ctypes.POINTER(Place))),
    ("rcore_plugin_text_free", None, (ctypes.c_void_p,)),
    ("rcore_plugin_error", _TEXT, (_PLUGIN,)),
)

# elf_gregset_t, by the names that debuggers give the registers.
REGISTERS = {
    "x86_64": (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
        "fs_base gs_base ds es fs gs"
    ).split(),
    "aarch64": ["x%d" % number for number in range(31)] + ["sp", "pc", "cpsr"],
}
THREAD_POINTERS = {"x86_64": "fs_base", "aarch64": "tpidr"}


class Error(Exception):
    """A message for the user: one line."""


def _candidates():
    here = os.path.dirname(os.path.realpath(__file__))
    named = os.environ.get("RCORE_LIBRARY")
    if named:
        return [named]
    prefix = os.path.join(here, "..", "..", "..")
    machine = os.uname().machine
    folders = [
        os.path.join(here, "..", "build"),
        os.path.join(prefix, "lib"),
        os.path.join(prefix, "lib64"),
        os.path.join(prefix, "lib", machine + "-linux-gnu"),
    ]
    files = [os.path.normpath(os.path.join(folder, "librcore.so.0")) for folder in folders]
    return [file for file in files if os.path.exists(file)] + ["librcore.so.0"]


def load():
    """Loads the library, declares its functions and compares its ABI."""
    tried = []
    for file in _candidates():
        try:
            library = ctypes.CDLL(file)
        except OSError as error:
            tried.append(str(error).replace("\n", " "))
            continue
        try:
            for name, result, arguments in _FUNCTIONS:
                function = getattr(library, name)
                function.restype = result
                function.argtypes = arguments
        except AttributeError:
            raise Error("%s and this script are from different releases of rcore; install both again" % file)
        if library.rcore_plugin_abi() != ABI:
            raise Error(
                "%s has plugin ABI %d, but this script needs %d; install both again"
                % (file, library.rcore_plugin_abi(), ABI)
            )
        return library
    raise Error(
        "cannot load librcore.so.0 (%s); install what is missing, or set RCORE_LIBRARY"
        % "; ".join(tried)
    )


def commands(library):
    """Returns the commands: a list of dictionaries, as rcore_plugin.h describes them."""
    pointer = ctypes.c_void_p(library.rcore_plugin_commands())
    if not pointer:
        raise Error("out of memory")
    text = ctypes.string_at(pointer)
    library.rcore_plugin_text_free(pointer)
    return json.loads(text)


def help_text(library, verb, prompt):
    """Returns the help of a command. Its first line is the summary; `prompt` ("(gdb) ") precedes each example."""
    pointer = ctypes.c_void_p(library.rcore_plugin_help(verb.encode(), prompt.encode()))
    if not pointer:
        raise Error("out of memory")
    text = ctypes.string_at(pointer).decode()
    library.rcore_plugin_text_free(pointer)
    return text


def _bytes(text):
    return None if text is None else os.fsencode(text).split(b"\0")[0]


class Target:
    """A stopped process. `read(address, size)` returns that many bytes, or raises an exception."""

    # Python also calls __del__() if Ctrl-C ended __init__() early.
    _plugin = None

    def __init__(self, library, read):
        self._library = library
        self._read = read
        self._raised = None
        self.has_facts = False
        # ctypes does not keep the callback alive.
        self._callback = _READ(self._copy)
        self._plugin = library.rcore_plugin_open(self._callback, None)
        if not self._plugin:
            raise Error("out of memory")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __del__(self):
        self.close()

    def close(self):
        if self._plugin:
            self._library.rcore_plugin_close(self._plugin)
        self._plugin = None

    def forget(self):
        """Drops all facts, because the target has run or is another one."""
        self.has_facts = False
        self._library.rcore_plugin_forget(self._plugin)

    # An exception must not leave a callback, because ctypes would print it. A
    # Ctrl-C is kept until the library returns, which it does soon, because it
    # reads nothing more.
    def _copy(self, _context, address, buffer, size):
        try:
            data = self._read(address, size)
            if len(data) != size:
                return _CANNOT_READ
            to = (ctypes.c_char * size).from_address(buffer)
            memoryview(to).cast("B")[:] = memoryview(data).cast("B")
            return _READ_ALL
        except KeyboardInterrupt as interrupt:
            self._raised = interrupt
            return 0
        except BaseException:  # whatever a debugger raises for memory it cannot read
            return _CANNOT_READ

    def _check(self, status):
        if status:
            raise Error(self._error())

    def _error(self):
        text = self._library.rcore_plugin_error(self._plugin)
        return os.fsdecode(text) if text else "rcore failed"

    def set_text(self, name, value):
        if value is not None:
            self._check(
                self._library.rcore_plugin_set_text(self._plugin, _bytes(name), _bytes(value))
            )

    def set_number(self, name, value):
        if value is not None:
            self._check(self._library.rcore_plugin_set_number(self._plugin, _bytes(name), value))

    def set_siginfo(self, signo, code, address, sender_pid):
        self._check(
            self._library.rcore_plugin_set_siginfo(self._plugin, signo, code, address, sender_pid)
        )

    def add_thread(self, tid, registers, thread_pointer):
        """`registers` in the order of REGISTERS, or None."""
        count = len(registers) if registers else 0
        words = (ctypes.c_uint64 * count)(*registers) if registers else None
        self._check(
            self._library.rcore_plugin_add_thread(self._plugin, tid, words, count, thread_pointer)
        )

    def add_mapping(self, start, end, offset, path):
        self._check(
            self._library.rcore_plugin_add_mapping(self._plugin, start, end, offset, _bytes(path))
        )

    def add_segment(self, start, end, held):
        """`held` is NOT_SAVED, SAVED or CUT_OFF."""
        if start < end:
            self._check(self._library.rcore_plugin_add_segment(self._plugin, start, end, held))

    def add_core(self, path):
        """Names the core file that the debugger shows."""
        self._check(self._library.rcore_plugin_add_core(self._plugin, _bytes(path)))

    def add_auxv(self, kind, value):
        self._check(self._library.rcore_plugin_add_auxv(self._plugin, kind, value))

    def run(self, argv):
        """Runs a command; argv[0] is its verb. Returns what it prints, as bytes (UTF-8) or None, and the
        error or None."""
        words = (_TEXT * len(argv))(*[_bytes(word) for word in argv])
        return self._ask(self._library.rcore_plugin_run, len(argv), words)

    def complete(self, kind, begun=""):
        """Returns each "thread", "fiber" or "constant" of the target that begins with `begun`."""
        text = self._must(self._library.rcore_plugin_complete, _bytes(kind), _bytes(begun))
        return text.decode().split() if text else []

    def current_fiber(self, tid):
        """Returns the id of the fiber that a kernel thread runs, or None."""
        text = self._must(self._library.rcore_plugin_current_fiber, tid)
        return text.decode() if text else None

    def locate_fiber(self, name):
        """Returns the Place of a fiber."""
        place = Place()
        status = self._call(
            self._library.rcore_plugin_locate_fiber, _bytes(name), ctypes.byref(place)
        )
        if status > 1:
            raise Error(self._error())
        return place

    def _ask(self, function, *arguments):
        pointer = ctypes.c_void_p()
        status = self._call(function, *arguments, ctypes.byref(pointer))
        text = ctypes.string_at(pointer) if pointer else None
        self._library.rcore_plugin_text_free(pointer)
        return text, self._error() if status > 1 else None

    # A Ctrl-C may come before the first line of a callback or after its last
    # one. ctypes then passes it to this hook. What was decoded until then is
    # incomplete and must not be kept.
    def _call(self, function, *arguments):
        hook = sys.unraisablehook
        sys.unraisablehook = self._keep
        try:
            status = function(self._plugin, *arguments)
        finally:
            sys.unraisablehook = hook
        raised, self._raised = self._raised, None
        if raised is not None:
            self.forget()
            raise raised
        return status

    def _keep(self, unraisable):
        self._raised = unraisable.exc_value or KeyboardInterrupt()

    def _must(self, function, *arguments):
        text, error = self._ask(function, *arguments)
        if error:
            raise Error(error)
        return text
