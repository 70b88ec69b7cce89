#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that the length of an array is written as RCORE_COUNT(array), which
# analyzer/base/count.h defines. Programs that a test compiles into a debuggee
# cannot include that header.
. tests/lint/files.sh
found=$(files '*.c' '*.h' |
	grep -vE '^(analyzer/base/count\.h|tests/stops/truth\.c|tests/.*/ext/.*)$' |
	xargs -r grep -nE '\bsizeof[^;]*/ *(\(int\) *)?\(? *sizeof\b')
[ -z "$found" ] && exit 0
echo "$found"
echo "the length of an array: write RCORE_COUNT(array) (analyzer/base/count.h)"
exit 1
