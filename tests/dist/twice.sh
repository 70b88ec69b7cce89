#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Equal sources make equal files: builds what is published, and the library for
# developers, here and in another folder, and compares.
#
#	tests/dist/twice.sh [all]
#
# `all` is what is published for each machine, which takes longer to build.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000
goals="all gem source-gem"
[ "${1-}" != all ] || goals="all dist"
mkdir -p "$work/another/longer"
git ls-files -co --exclude-standard | tar -c -T - | tar -x -C "$work/another/longer"
build() {
	# shellcheck disable=SC2086 # words
	make -s "-j$(nproc)" $goals "$@" >"$work/log" 2>&1 || {
		tail -n 5 "$work/log"
		exit 1
	}
}
build BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage"
(cd "$work/another/longer" && build)
status=0
[ "$(cd "$work/dist" && ls)" = "$(cd "$work/another/longer/dist" && ls)" ] || status=1
for file in "$work"/dist/*; do
	cmp "$file" "$work/another/longer/dist/${file##*/}" || status=1
done
for file in librcore.a librcore.so.0; do
	cmp "$BUILD/$file" "$work/another/longer/build/$file" || status=1
done
exit $status
