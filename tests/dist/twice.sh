#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Equal sources make equal files: what is published, and the library for developers, built in two
# folders.
#
#	tests/dist/twice.sh
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000
for folder in one another/longer; do
	mkdir -p "$work/$folder"
	git ls-files -co --exclude-standard | tar -c -T - | tar -x -C "$work/$folder"
	(cd "$work/$folder" && make -s "-j$(nproc)" all dist-machine) >"$work/log" 2>&1 || {
		tail -n 5 "$work/log"
		exit 1
	}
done
cd "$work"
status=0
for file in $(cd one && ls dist/*) build/librcore.a build/librcore.so.0; do
	cmp "one/$file" "another/longer/$file" || status=1
done
exit $status
