# SPDX-License-Identifier: MIT
"""rcore's commands for LLDB; ../rcore_lldb.py loads them."""
