#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What make does before and while it builds: it prints no error on a machine
# without a compiler, because `make setup` installs one; it builds in a folder
# whose name has spaces; it does not start a program again for each file; it
# rebuilds what depends on an option that changed, or on a file that was removed.
#
#	BUILD=build tests/install/make.sh
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL

# Programs that answer in place of those of the machine, and count.
mkdir "$work/programs"
for name in pkg-config git; do
	printf '#!/bin/sh\necho %s "$@" >>"%s"\nexec %s "$@"\n' "$name" "$work/calls" "$(command -v "$name")" >"$work/programs/$name"
	chmod 755 "$work/programs/$name"
done

make -n CC="$work/none" setup >"$work/log" 2>"$work/errors"
[ ! -s "$work/errors" ] || fail "make setup without a compiler: $(cat "$work/errors")"

top="$work/the sources"
mkdir "$top"
cp -r Makefile mk analyzer plugin scripts "$top"
first=build/analyzer/base/arena.o
objects="$first build/analyzer/base/error.o build/plugin/facts.o"
! grep -q loader "$BUILD/bpf-used" || objects="$objects build/gen/sampler/bpf/sample.bpf.o"
# shellcheck disable=SC2086 # words
PATH="$work/programs:$PATH" make -s -C "$top" HOME="$work/a home" $objects >"$work/log" 2>&1 ||
	fail "make in a folder with a space: $(cat "$work/log")"
again=$(sort "$work/calls" | uniq -d)
[ -z "$again" ] || fail "make runs more than once: $again"
! (cd "$top" && grep -qa "$work" "$first") || fail "an object names the folder that it was built in"

current() {
	make -q -C "$top" HOME="$work/a home" "$@" >"$work/log" 2>&1
}

inflate=build/analyzer/image/symbolize/inflate_section.o
make -s -C "$top" DEFLATE=yes $inflate >"$work/log" 2>&1 || fail "make DEFLATE=yes: $(cat "$work/log")"
current DEFLATE=yes $inflate || fail "$inflate is out of date at once: $(cat "$work/log")"
! current DEFLATE= $inflate || fail "make DEFLATE= leaves what was built with libdeflate"
table=$(find "$top/analyzer/layout/tables" -name '*.layout' | head -n 1)
tables=build/gen/tables.c
make -s -C "$top" $tables >"$work/log" 2>&1 || fail "make $tables: $(cat "$work/log")"
current $tables || fail "$tables is out of date at once: $(cat "$work/log")"
sleep 0.01
rm "$table"
! current $tables || fail "$tables keeps a table that is gone"
