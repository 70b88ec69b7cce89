#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A compressed core, or one through a pipe, has the same report as the core
# itself. If it ends early, the report has what there is of it, and says so.
#
#	tests/target/compressed.sh RCORE
set -eu

rcore=$1
work=$(mktemp -d)
ruby -e 'filling = Random.bytes(32 << 20); Fiber.new { Fiber.yield }.resume; $stdout.puts; $stdout.close; sleep' >"$work/ready" &
pid=$!
trap 'kill $pid; rm -rf "$work"' EXIT
until [ -s "$work/ready" ]; do sleep 0.1; done
gcore -o "$work/core" $pid >/dev/null 2>&1
core=$work/core.$pid
# systemd stores them under other names; the first bytes show what they are.
zstd -qc "$core" >"$work/zstd"
xz -c0 "$core" >"$work/xz"
lz4 -qc "$core" >"$work/lz4"
gzip -c1 "$core" >"$work/gzip"
bzip2 -c1 "$core" >"$work/bzip2"

fail() {
	echo "$*" >&2
	exit 1
}

# All but the core's name.
report() {
	"$rcore" analyze "$@" >"$work/out"
	sed '1s/^.*  ruby/ruby/' "$work/out"
}

report "$core" >"$work/expected"
grep -q 'Fiber.yield' "$work/expected" || fail "the core itself gives no report"
for format in zstd xz lz4 gzip bzip2; do
	report "$work/$format" >"$work/got"
	cmp "$work/expected" "$work/got" || fail "$format: another report"
	report - <"$work/$format" >"$work/got"
	cmp "$work/expected" "$work/got" || fail "$format through a pipe: another report"
	head -c "$(($(stat -c %s "$work/$format") / 2))" "$work/$format" >"$work/half"
	status=0
	"$rcore" analyze "$work/half" >"$work/out" 2>&1 || status=$?
	[ $status -le 3 ] || fail "half of $format: status $status"
	grep -qE 'truncated|cannot be decompressed' "$work/out" ||
		fail "half of $format does not say so: $(cat "$work/out")"
done
report - <"$core" | cmp "$work/expected" - || fail "standard input: another report"
# They are decompressed as a stream: neither the core nor a window of 2 GiB is
# kept in memory.
(
	# shellcheck disable=SC3045
	ulimit -d 200000
	report "$work/zstd" | cmp "$work/expected" -
	report - <"$core" | cmp "$work/expected" -
) || fail "200 MB of memory do not do"
zstd -q -1 --ultra --long=31 -c <"$core" >"$work/wide"
status=0
"$rcore" analyze "$work/wide" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "a window of 2 GiB: status $status"
grep -q 'cannot be decompressed' "$work/err" || fail "a window of 2 GiB: $(cat "$work/err")"
# A file that is not a core is not decompressed: its first bytes are enough.
mkdir "$work/full"
head -c 64M /dev/urandom | zstd -qc >"$work/noise"
small='mount -t tmpfs -o size=8m none "$1/full" && TMPDIR=$1/full exec "$2" analyze "$3"'
status=0
unshare -m sh -c "$small" sh "$work" "$rcore" "$work/noise" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "no core, compressed: status $status"
grep -q 'is not an ELF file' "$work/err" || fail "no core, compressed: $(cat "$work/err")"
# A core never fills the disk.
status=0
unshare -m sh -c "$small" sh "$work" "$rcore" "$work/zstd" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "a core larger than the disk: status $status"
grep -q 'needs more than the 7 MiB that rcore may take' "$work/err" ||
	fail "a core larger than the disk: $(cat "$work/err")"
status=0
TMPDIR=/nonexistent "$rcore" analyze "$work/zstd" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "no folder for temporary files: status $status"
grep -q 'TMPDIR' "$work/err" || fail "no folder for temporary files: $(cat "$work/err")"
[ -z "$(find "${TMPDIR:-/var/tmp}" -maxdepth 1 -name 'rcore.*' -newer "$work/ready")" ] ||
	fail "a temporary file is left"
