# SPDX-License-Identifier: MIT
"""What LLDB knows about a process, for rcore."""

import os
import struct

import lldb
from rcore_bridge import REGISTERS, THREAD_POINTERS, Error

from . import stack

_AT_PHDR, _AT_ENTRY, _AT_SYSINFO_EHDR = 3, 9, 33
_PT_LOAD, _MAX_HEADERS = 1, 64
_NO_ADDRESS = lldb.LLDB_INVALID_ADDRESS

_UNKNOWN_CALL = 1 << 63  # rcore_plugin_add_thread()
# LLDB's names of registers that have another name in rcore.
_NAMES = {"eflags": "rflags", "x29": "fp", "x30": "lr"}


class Facts:
    """Passes what LLDB knows about the process to the library (rcore_plugin.h). The rest stays unknown.
    The library reads a core itself, because LLDB returns zeroes for what is not in it."""

    _MACHINES = {"x86_64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}

    def __init__(self, target, files):
        self._target = target
        self._process = target.GetProcess()
        self._files = files
        self._paths = []  # of a process that lives, as they are seen from its debugger
        name = target.GetTriple().split("-")[0]
        if name not in self._MACHINES:
            raise Error("this is a process of %s; rcore reads x86-64 and aarch64" % name)
        self._machine = self._MACHINES[name]

    def tell(self, target):
        self.tell_memory(target)
        if not core_file(self._process):
            for thread in self._process:
                if thread.GetThreadID() not in stack.fibers(self._process):
                    target.add_thread(thread.GetThreadID(), *self._registers(thread))
            self._tell_signal(target, self._process.GetSelectedThread())

    def tell_memory(self, target):
        """Passes what belongs to no thread."""
        target.set_text("machine", self._machine)
        core = core_file(self._process)
        if core:
            target.set_text("core", core)
        else:
            self._tell_live(target)
        self._tell_files(target)

    def _tell_live(self, target):
        pid = self._process.GetProcessID()
        target.set_text("source", "process %d" % pid)
        target.set_number("pid", pid)
        target.set_number("live", 1)
        mappings = list(self._mappings())
        for mapping in mappings:
            target.add_mapping(*mapping)
        self._paths = [path for *_, path in mappings]
        for kind, value in self._auxv():
            target.add_auxv(kind, value)

    # LLDB knows the file of a region, but not the offset in it: that is in the
    # program headers in memory. LLDB's own modules may be other files, if the
    # process has another root.
    def _mappings(self):
        first, loads = {}, {}
        regions = self._process.GetMemoryRegions()
        for index in range(regions.GetSize()):
            region = lldb.SBMemoryRegionInfo()
            regions.GetMemoryRegionAtIndex(index, region)
            path, start, end = region.GetName(), region.GetRegionBase(), region.GetRegionEnd()
            if not path or path.startswith("["):
                continue
            if path not in first:
                first[path], loads[path] = start, list(self._loads(start))
            offset = start - first[path]
            for address, size, in_file in loads[path]:
                if address < end and start < address + size:
                    offset = max(0, in_file + start - address)
                    break
            yield start, end, offset, path

    def _loads(self, start):
        header = self._read(start, 64)
        if header[:4] != b"\x7fELF":
            return
        at, count = struct.unpack_from("<Q", header, 32)[0], struct.unpack_from("<H", header, 56)[0]
        programs = self._read(start + at, 56 * min(count, _MAX_HEADERS))
        bias = None
        for kind, _, offset, address, _, _, size, _ in struct.iter_unpack("<IIQQQQQQ", programs):
            if kind == _PT_LOAD:
                if bias is None:
                    bias = start - (address - offset)
                yield bias + address, size, offset

    def _read(self, address, size):
        error = lldb.SBError()
        data = self._process.ReadMemory(address, size, error)
        return data if error.Success() and len(data) == size else b""

    def _auxv(self):
        program = self._target.FindModule(self._target.GetExecutable())
        entry = program.GetObjectFileEntryPointAddress().GetLoadAddress(self._target)
        if entry != _NO_ADDRESS:
            yield _AT_ENTRY, entry
        header = program.GetObjectFileHeaderAddress().GetLoadAddress(self._target)
        if header != _NO_ADDRESS:
            offset = self._read(header + 32, 8)
            if offset:
                yield _AT_PHDR, header + struct.unpack("<Q", offset)[0]
        for module in self._target.module_iter():
            if module.GetFileSpec().GetFilename() == "[vdso]":
                address = module.GetSectionAtIndex(0).GetLoadAddress(self._target)
                if address != _NO_ADDRESS:
                    yield _AT_SYSINFO_EHDR, address

    def _tell_files(self, target):
        named = dict(self._files)
        sysroot = named.get("sysroot") or self._sysroot()
        if sysroot and not any(path.startswith(sysroot) for path in self._paths):
            target.set_text("sysroot", sysroot)
        for name, value in self._files:
            if name != "sysroot":
                target.set_text(name, value)
        program = self._target.FindModule(self._target.GetExecutable())
        there = program.GetPlatformFileSpec().fullpath
        here = program.GetFileSpec().fullpath
        if here and os.path.exists(here) and not os.path.exists((sysroot or "") + (there or here)):
            target.set_text("program", here)

    # The prefix that `platform select --sysroot` has put before the paths of
    # modules.
    def _sysroot(self):
        for module in self._target.module_iter():
            here, there = module.GetFileSpec().fullpath, module.GetPlatformFileSpec().fullpath
            if here and there and here != there and here.endswith(there):
                return here[: -len(there)]
        return None

    def _registers(self, thread):
        frame = thread.GetFrameAtIndex(0)
        if not frame.IsValid():
            return None, 0
        names = REGISTERS[self._machine]
        words = [self._register(frame, name) for name in names]
        pointer = self._register(frame, THREAD_POINTERS[self._machine]) or 0
        if words.count(None) == len(words):
            return None, pointer
        unknown = [_UNKNOWN_CALL if name == "orig_rax" else 0 for name in names]
        return [word if word is not None else other for word, other in zip(words, unknown)], pointer

    @staticmethod
    def _register(frame, name):
        value = frame.FindRegister(_NAMES.get(name, name))
        return value.GetValueAsUnsigned() if value.IsValid() else None

    def _tell_signal(self, target, thread):
        if not thread.IsValid() or thread.GetStopReason() != lldb.eStopReasonSignal:
            return
        signo = thread.GetStopReasonDataAtIndex(0)
        target.set_number("signal", signo)
        target.set_number("thread", thread.GetThreadID())
        info = thread.GetSiginfo() if hasattr(thread, "GetSiginfo") else None
        if not info or not info.IsValid():
            return
        code = info.GetChildMemberWithName("si_code").GetValueAsSigned()
        address = info.GetValueForExpressionPath("._sifields._sigfault.si_addr")
        sender = info.GetValueForExpressionPath("._sifields._kill.si_pid")
        target.set_siginfo(
            signo,
            code,
            address.GetValueAsUnsigned() if code > 0 else 0,
            sender.GetValueAsUnsigned() if code <= 0 else 0,
        )


def core_file(process):
    """The path of the core, or None for a process that lives."""
    if process.GetPluginName() != "elf-core":
        return None
    if hasattr(process, "GetCoreFile"):
        return process.GetCoreFile().fullpath
    # LLDB 14 does not report it, but has mapped the file.
    found = {path for path in _mapped_files() if _is_core_of(path, process.GetProcessID())}
    if len(found) != 1:
        raise Error("this LLDB does not report the path of the core; use a newer LLDB, or rcore CORE")
    return found.pop()


def _mapped_files():
    with open("/proc/self/maps") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                yield fields[5]


def _is_core_of(path, pid):
    """Whether this is a core with that number in its NT_PRPSINFO."""
    try:
        with open(path, "rb") as file:
            head = file.read(64)
            if head[:5] != b"\x7fELF\x02" or struct.unpack_from("<H", head, 16)[0] != 4:
                return False
            file.seek(struct.unpack_from("<Q", head, 32)[0])
            kind, _, offset, _, _, size = struct.unpack("<IIQQQQ", file.read(40))
            if kind != 4:
                return True
            file.seek(offset)
            return _note_pid(file.read(min(size, 1 << 20))) in (None, pid)
    except (OSError, struct.error):
        return False


def _note_pid(notes):
    at = 0
    while at + 12 <= len(notes):
        name, size, kind = struct.unpack_from("<III", notes, at)
        body = at + 12 + (name + 3) // 4 * 4
        if kind == 3 and size == 136 and body + 28 <= len(notes):
            return struct.unpack_from("<i", notes, body + 24)[0]
        at = body + (size + 3) // 4 * 4
    return None
