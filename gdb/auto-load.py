# SPDX-License-Identifier: MIT
"""GDB loads this with a libruby: `make install` puts it into GDB's auto-load folder under the name of the library."""

import os
import sys

import gdb

if "rcore_gdb" not in sys.modules:
    here = (lambda: None).__code__.co_filename  # __file__ may be that of another script
    share = os.path.abspath(here).split(os.path.join(os.sep, "gdb", "auto-load", ""))[0]
    gdb.execute("source " + os.path.join(share, "rcore", "gdb", "rcore-gdb.py"))
