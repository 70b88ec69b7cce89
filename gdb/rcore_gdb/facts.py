# SPDX-License-Identifier: MIT
"""What GDB knows about a process, for rcore."""

import os
import re

import gdb
from rcore_bridge import REGISTERS, THREAD_POINTERS, Error

from .stack import tid_of


class Facts:
    """Passes what GDB knows about the process to the library (rcore_plugin.h). The rest stays
    unknown."""

    _MAPPING = re.compile(
        r"^\s*(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+0x[0-9a-f]+\s+(0x[0-9a-f]+)"
        r"(?:\s+[-r][-w][-x][-ps])?\s+(\S.*?)\s*$"
    )
    _AUXV = re.compile(r"^(\d+)\s+\S+\s.*?(0x[0-9a-f]+|\d+)(?: \".*\")?$")
    _CORE = re.compile(r"^Core file: [`'](.*)', file type ", re.MULTILINE)
    _MACHINES = {"i386:x86-64": "x86_64", "aarch64": "aarch64"}
    _AT_NULL, _AT_ENTRY = 0, 9

    def __init__(self, inferior):
        self._inferior = inferior
        connection = inferior.connection
        self._is_core = connection is not None and connection.type == "core"
        name = inferior.architecture().name()
        if name not in self._MACHINES:
            raise Error("this is a process of %s; rcore reads x86-64 and aarch64" % name)
        self._machine = self._MACHINES[name]

    def tell(self, target):
        self.tell_memory(target)
        self._tell_threads(target)

    def tell_memory(self, target):
        """Passes what needs no other thread to be selected, which would invalidate the frames that GDB works on."""
        target.set_text("machine", self._machine)
        target.set_number("pid", self._inferior.pid)
        target.set_number("live", 0 if self._is_core else 1)
        target.set_text("arguments", self._arguments())
        if self._is_core:
            self._tell_core(target)
        else:
            target.set_text("source", "process %d" % self._inferior.pid)
        mappings = self._mappings()
        for mapping in mappings:
            target.add_mapping(*mapping)
        auxv = self._auxv()
        for pair in auxv:
            target.add_auxv(*pair)
        self._tell_files(target, mappings, dict(auxv))

    @staticmethod
    def _ask(command):
        try:
            return gdb.execute(command, to_string=True)
        except gdb.error:
            return ""

    @staticmethod
    def _value(expression):
        try:
            return int(gdb.parse_and_eval(expression))
        except gdb.error:
            return None

    def _arguments(self):
        word = "exe" if self._is_core else "cmdline"
        found = re.search(r"^%s = '(.*)'$" % word, self._ask("info proc"), re.MULTILINE)
        return found.group(1) if found else None

    # For a page that is not in the core, GDB returns zeroes or bytes of a file
    # on this machine, which may be of another build. So the library gets the
    # path of the core, and asks only for what the core has. (With thousands of
    # sections, GDB would need a second to list them.)
    def _tell_core(self, target):
        found = self._CORE.search(self._ask("maint info sections .auxv"))
        if not found:
            raise Error(
                "this GDB does not say which file the core is (maint info sections): "
                "use rcore analyze CORE"
            )
        target.add_core(found.group(1))
        target.set_text("source", found.group(1))

    def _mappings(self):
        mappings = []
        for line in self._ask("info proc mappings").splitlines():
            found = self._MAPPING.match(line)
            if found and not found.group(4).startswith("["):
                numbers = [int(number, 16) for number in found.groups()[:3]]
                mappings.append(numbers + [found.group(4)])
        return mappings

    def _auxv(self):
        lines = self._ask("info auxv").splitlines()
        found = [match for match in map(self._AUXV.match, lines) if match]
        pairs = [(int(match.group(1)), int(match.group(2), 0)) for match in found]
        return [pair for pair in pairs if pair[0] != self._AT_NULL]

    def _tell_files(self, target, mappings, auxv):
        sysroot = (gdb.parameter("sysroot") or "").rstrip("/")
        if sysroot.startswith(("target:", "remote:")):
            sysroot = ""
        target.set_text("sysroot", sysroot or None)
        for folder in (gdb.parameter("solib-search-path") or "").split(":"):
            if folder:
                target.set_text("lib-search-path", folder)
        program = gdb.current_progspace().filename
        entry = auxv.get(self._AT_ENTRY, 0)
        # None where the core names no files, as those of qemu.
        paths = [path for start, end, _, path in mappings if start <= entry < end]
        is_there = bool(paths) and os.path.exists(sysroot + paths[0])
        if program and os.path.exists(program) and not is_there:
            target.set_text("program", program)

    def _tell_threads(self, target):
        threads = sorted(self._inferior.threads(), key=lambda thread: thread.num)
        selected = gdb.selected_thread()
        frame = self._selected_frame()
        died = threads[0] if self._is_core and threads else selected
        try:
            for thread in threads:
                thread.switch()
                target.add_thread(tid_of(thread), *self._registers())
                if thread.num == died.num:
                    self._tell_signal(target, thread)
        finally:
            if selected:
                selected.switch()
            if frame and frame.is_valid():
                frame.select()

    @staticmethod
    def _selected_frame():
        try:
            return gdb.selected_frame()
        except gdb.error:  # its thread is running
            return None

    def _registers(self):
        try:
            frame = gdb.newest_frame()
        except gdb.error:
            return None, 0
        words = [self._register(frame, name) for name in REGISTERS[self._machine]]
        pointer = self._register(frame, THREAD_POINTERS[self._machine]) or 0
        if words.count(None) == len(words):
            return None, pointer
        return [word or 0 for word in words], pointer

    @staticmethod
    def _register(frame, name):
        try:
            value = frame.read_register(name)
            if value.type.strip_typedefs().code != gdb.TYPE_CODE_INT:
                value = value.cast(gdb.lookup_type("long"))
            return int(value) & (1 << 64) - 1
        except (gdb.error, ValueError):
            return None

    # As in the core reader: the sender of a signal is known if si_code is not
    # positive, the address if it is.
    def _tell_signal(self, target, thread):
        signo = self._value("$_siginfo.si_signo")
        if signo is not None:
            code = self._value("$_siginfo.si_code") or 0
            address = self._value("(unsigned long) $_siginfo._sifields._sigfault.si_addr") or 0
            sender = self._value("$_siginfo._sifields._kill.si_pid") or 0
            target.set_siginfo(
                signo, code, address if code > 0 else 0, sender if code <= 0 else 0
            )
        if self._is_core:
            target.set_number("signal", self._value("$_exitsignal"))
        elif signo:
            target.set_number("signal", signo)
            target.set_number("thread", thread.ptid[1])
