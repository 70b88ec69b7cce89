# SPDX-License-Identifier: MIT
"""rcore's commands for GDB; ../rcore-gdb.py loads them."""
