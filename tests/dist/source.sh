#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Checks that the source gem compiles rcore, that this rcore runs, and that uninstalling the gem leaves nothing.
# This takes as long as building rcore, so only `make check-long` runs it. gem.sh tests what the gem prints if it
# cannot compile rcore.
#
#	tests/dist/source.sh
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage" source-gem
# The space is on purpose.
export GEM_HOME="$work/the gems"
unset MAKEFLAGS
gem install --local --no-document --platform ruby --bindir "$work/bin" "$work/dist/"*.gem >"$work/log" 2>&1 || fail "gem install: $(cat "$work/log")"
[ "$("$work/bin/rcore" --version)" = "$("$BUILD/rcore" --version)" ] || fail "rcore --version"
installed=$(cd "$GEM_HOME" && echo gems/rcore-*/libexec)
for file in share/rcore/gdb/rcore-gdb.py lib/librcore.so.0 include/rcore/rcore.h ci/run; do
	[ -f "$GEM_HOME/$installed/$file" ] || fail "the gem has no $file"
done
gem uninstall --quiet --executables --bindir "$work/bin" rcore >"$work/log" 2>&1 || fail "gem uninstall: $(cat "$work/log")"
[ -z "$(find "$GEM_HOME" -name '*rcore*')" ] || fail "left behind: $(find "$GEM_HOME" -name '*rcore*')"
