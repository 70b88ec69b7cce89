#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Equal sources make equal files: builds what is published, and the library for
# developers, here and in another folder, and compares.
#
#	tests/dist/twice.sh [all]
#
# Each run draws DRAWN objects that the other folder compiles again; the others
# are copied. What is linked, packed and generated is made again. `all` compiles
# everything, and builds what is published for each machine.
set -eu

DRAWN=60
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1700000000
goals="all gem source-gem"
[ "${1-}" != all ] || goals="all dist"
another=$work/another/longer
mkdir -p "$another"
git ls-files -co --exclude-standard | tar -c -T - | tar -x -C "$another"

build() {
	# shellcheck disable=SC2086 # words
	make -s "-j$(nproc)" $goals "$@" >"$work/log" 2>&1 || {
		tail -n 5 "$work/log"
		exit 1
	}
}

# Not those of sources that are gone.
objects() {
	(cd "$BUILD" && find analyzer plugin portable/analyzer portable/plugin -name '*.[od]') | while read -r object; do
		source=${object#portable/}
		[ ! -e "${source%.[od]}.c" ] || echo "$object"
	done
}

build BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage"
: >"$work/drawn"
if [ "$goals" != "all dist" ]; then
	mkdir "$another/build"
	objects | tar -C "$BUILD" -c -T - | tar -x -C "$another/build"
	(cd "$another/build" && find . -name '*.o' | shuf -n "$DRAWN" | tee "$work/drawn" | xargs rm)
fi
(cd "$another" && build)
status=0
[ "$(cd "$work/dist" && ls)" = "$(cd "$another/dist" && ls)" ] || status=1
for file in "$work"/dist/*; do
	cmp "$file" "$another/dist/${file##*/}" || status=1
done
for file in librcore.a librcore.so.0; do
	cmp "$BUILD/$file" "$another/build/$file" || status=1
done
# What is needed for tests alone is not made again: what replaces BPF.
compared=0
while read -r object; do
	[ -e "$another/build/$object" ] || continue
	cmp "$BUILD/$object" "$another/build/$object" || status=1
	compared=$((compared + 1))
done <"$work/drawn"
[ "$goals" = "all dist" ] || [ "$compared" -ge $((DRAWN - 2)) ] || {
	echo "only $compared of $DRAWN objects were made again"
	status=1
}
exit $status
