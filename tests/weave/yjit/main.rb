# SPDX-License-Identifier: MIT
# At its first call a method would be compiled before its constants are known, and exit at each.
#: ext compiled=50 only=3.1 machine=x86_64 variants=hot,chain,fiber,thread flags=--yjit,--yjit-call-threshold=2
require_relative "../cases"
