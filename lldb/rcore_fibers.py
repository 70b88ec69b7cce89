# SPDX-License-Identifier: MIT
"""LLDB loads this by itself when ruby-fiber has selected a fiber (target.process.python-os-plugin-path)."""

import struct

from rcore_bridge import REGISTERS
from rcore_for_lldb import stack

# Registers that a parked fiber has saved: LLDB's name, its number in DWARF, what LLDB calls it.
_SAVED = {
    "x86_64": [
        ("rbx", 3, None),
        ("rbp", 6, "fp"),
        ("rsp", 7, "sp"),
        ("r12", 12, None),
        ("r13", 13, None),
        ("r14", 14, None),
        ("r15", 15, None),
        ("rip", 16, "pc"),
    ],
    "aarch64": [("x%d" % n, n, None) for n in range(19, 29)]
    + [("fp", 29, "fp"), ("sp", 31, "sp"), ("pc", 32, "pc")],
}
_OURS = {"fp": "x29"}  # where rcore has another name


def _machine(process):
    return process.GetTarget().GetTriple().split("-")[0]


class OperatingSystemPlugIn:
    """LLDB's name for the class."""

    def __init__(self, process):
        self._process = process
        self._registers = _SAVED.get(_machine(process), [])

    def get_thread_info(self):
        return [
            {
                "tid": tid,
                "name": place.id.decode(),
                "queue": "",
                "state": "stopped",
                "stop_reason": "none",
            }
            for tid, place in sorted(stack.fibers(self._process).items())
        ]

    def get_register_info(self):
        registers = []
        for index, (name, number, generic) in enumerate(self._registers):
            register = {
                "name": name,
                "bitsize": 64,
                "offset": 8 * index,
                "encoding": "uint",
                "format": "hex",
                "set": 0,
                "gcc": number,
                "dwarf": number,
            }
            if generic:
                register["generic"] = generic
            registers.append(register)
        return {"sets": ["Saved by the fiber"], "registers": registers}

    def get_register_data(self, tid):
        place = stack.fibers(self._process).get(tid)
        if not place:
            return b""
        values = place.values(_machine(self._process))
        words = [values.get(_OURS.get(name, name), 0) for name, _, _ in self._registers]
        return struct.pack("<%dQ" % len(words), *words)
