#!/bin/sh
# SPDX-License-Identifier: MIT
#
#	tests/lint/sources.sh LISTED ...
#
# Checks that each source of the product, each unit test and what these share is
# among the files that the Makefile lists, so that it is built and installed.
. tests/lint/files.sh
found=$(
	{
		files analyzer plugin gdb lldb tests/support | grep -E '\.(c|proto)$|^(plugin|gdb|lldb)/.*\.py$'
		files tests/unit | grep -E '/check_[^/]*\.c$'
	} | grep -Fxv "$(printf '%s\n' "$@")"
)
[ -z "$found" ] && exit 0
echo "$found"
echo "in no list of the Makefile, so it is neither built nor installed"
exit 1
