# SPDX-License-Identifier: MIT
"""LLDB loads this after ruby-fiber has selected a fiber (target.process.python-os-plugin-path)."""

import struct

from rcore_for_lldb import stack

# By their numbers in DWARF. LLDB unwinds through some code only if it knows all
# of them.
_NAMES = {
    "x86_64": "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip".split(),
    "aarch64": ["x%d" % number for number in range(31)] + ["sp", "pc"],
}
_GENERIC = {"rbp": "fp", "rsp": "sp", "rip": "pc", "x29": "fp", "x30": "ra", "sp": "sp", "pc": "pc"}
# What coroutine_transfer() of CRuby saves.
_SAVED = {
    "x86_64": "rbx rbp rsp r12 r13 r14 r15 rip".split(),
    "aarch64": ["x%d" % number for number in range(19, 30)] + ["sp", "pc"],
}


def _machine(process):
    return process.GetTarget().GetTriple().split("-")[0].replace("arm64", "aarch64")


class OperatingSystemPlugIn:
    """LLDB's name for the class."""

    def __init__(self, process):
        self._process = process
        self._machine = _machine(process)
        self._names = _NAMES.get(self._machine, [])

    def get_thread_info(self):
        fibers = stack.fibers(self._process)
        return [self._describe(tid, fibers[tid]) for tid in sorted(fibers)]

    def create_thread(self, tid, _context):
        place = stack.fibers(self._process).get(tid)
        return self._describe(tid, place) if place else None

    @staticmethod
    def _describe(tid, place):
        return {
            "tid": tid,
            "name": place.id.decode(),
            "queue": "",
            "state": "stopped",
            "stop_reason": "none",
        }

    def get_register_info(self):
        registers = []
        for number, name in enumerate(self._names):
            register = {
                "name": name,
                "bitsize": 64,
                "offset": 8 * number,
                "encoding": "uint",
                "format": "hex",
                "set": 0 if name in _SAVED[self._machine] else 1,
                "gcc": number,
                "dwarf": number,
            }
            if name in _GENERIC:
                register["generic"] = _GENERIC[name]
            registers.append(register)
        return {"sets": ["Saved by the fiber", "Not saved, so not known"], "registers": registers}

    def get_register_data(self, tid):
        place = stack.fibers(self._process).get(tid)
        values = place.values(self._machine) if place else {}
        words = [values.get(name, 0) for name in self._names]
        return struct.pack("<%dQ" % len(words), *words)
