# SPDX-License-Identifier: MIT
"""What a process has in memory, as the kernel shows it: a debugger may keep what it read before."""

import hashlib

PAGE = 4096


def digest(pid):
    """A digest of the mappings, and of all that the process can write to."""
    found = hashlib.sha256()
    with open("/proc/%d/maps" % pid) as maps, open("/proc/%d/mem" % pid, "rb", 0) as memory:
        for line in maps:
            found.update(line.encode())
            place, rights = line.split()[:2]
            start, end = (int(number, 16) for number in place.split("-"))
            if "w" in rights:
                found.update(_read(memory, start, end))
    return found.hexdigest()


def _read(memory, start, end):
    parts = []
    for address in range(start, end, PAGE):
        memory.seek(address)
        try:
            parts.append(memory.read(PAGE))
        except OSError:  # a guard page within a mapping
            parts.append(b"none")
    return b"".join(parts)
