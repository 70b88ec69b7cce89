# SPDX-License-Identifier: MIT
"""In GDB: prints where libruby's writable data holds the pointer `WANTED`."""
import os
import re
import struct

import gdb

wanted = int(os.environ["WANTED"], 16)
ranges = []
for line in gdb.execute("info proc mappings", to_string=True).splitlines():
    found = re.match(r"\s*(0x[0-9a-f]+)\s+(0x[0-9a-f]+)\s+0x[0-9a-f]+\s+0x[0-9a-f]+.*libruby", line)
    if found:
        ranges.append([int(part, 16) for part in found.groups()])
# .bss ends in a page or more that no file backs.
start, end = ranges[-1][0], ranges[-1][1] + (64 << 10)
while start < end:
    try:
        found = gdb.selected_inferior().search_memory(start, min(4096, end - start), struct.pack("<Q", wanted))
    except gdb.error:
        found = None
    if found:
        print("pointer at %#x" % found)
        break
    start += 4096
