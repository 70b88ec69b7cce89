#!/bin/sh
# SPDX-License-Identifier: MIT
# Versions are data. Checks that no code outside layout/ compares the version of
# the Ruby that it reads.
. tests/lint/files.sh
compare='version(\[[^]]*\])?[[:space:]]*([<>]|[=!]=)|(^|[^-])([<>]|[=!]=)[[:space:]]*[A-Za-z_.>-]*version\['
compare="$compare|(mem|str|strn|strvers)cmp\\([^\"]*version\\>"
files analyzer plugin gdb lldb |
	grep -E '\.(c|h|py)$' | grep -v '^analyzer/layout/' | xargs -r grep -nE "$compare" || exit 0
echo "a Ruby version is compared outside analyzer/layout/: make it a trait (layout/traits.c)"
exit 1
