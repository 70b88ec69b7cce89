#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Many cores: the same crash of two programs that differ in lines and files is one group, another crash
# another; against a baseline they are new, known and gone.
#
#	tests/triage/clusters.sh RCORE
set -eu

rcore=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/cores"

fail() {
	echo "$*" >&2
	exit 1
}

# take NAME: a core of the program on standard input.
take() {
	cat >"$work/$1.rb"
	ruby "$work/$1.rb" >"$work/$1.ready" &
	pid=$!
	until [ -s "$work/$1.ready" ]; do sleep 0.1; done
	gcore -o "$work/cores/core-$1" "$pid" >/dev/null 2>&1
	kill "$pid"
}

take one <<'END'
def work = [1].each { $stdout.puts; $stdout.flush; sleep }
work
END
take moved <<'END'
# The same program in another place.

def work
  [1].each { [2].each { $stdout.puts; $stdout.flush; sleep } }
end

work
END
take other <<'END'
def rest = loop { $stdout.puts; $stdout.flush; sleep }
rest
END
echo "no core" >"$work/cores/README"
head -c 100 "$(find "$work/cores" -name 'core-one.*')" >"$work/cores/core-cut"

status=0
"$rcore" triage "$work/cores" -o "$work/old.jsonl" >"$work/out" || status=$?
[ $status = 1 ] || fail "a core that is cut off: status $status"
grep -q '^4 cores, 2 different crashes$' "$work/out" || fail "$(cat "$work/out")"
grep -q '^   2  r1:' "$work/out" || fail "the same crash is not one group: $(cat "$work/out")"
grep -q 'core-cut.*truncated' "$work/out" || fail "$(cat "$work/out")"
[ "$(wc -l <"$work/old.jsonl")" = 4 ] || fail "not a line for each core"
ruby -rjson -e 'ARGF.each { |line| JSON.parse(line).fetch("schema") == "rcore-triage/2" or abort line }' "$work/old.jsonl"

# On a terminal, a bar shows the progress.
script -qec "$rcore triage $work/cores" "$work/typescript" </dev/null >/dev/null || true
grep -q 'rcore: \[#*-*\] 1 of 4 cores' "$work/typescript" || fail "no progress: $(cat -v "$work/typescript")"

# A baseline of version 1 works, too.
sed 's|rcore-triage/2|rcore-triage/1|' "$work/old.jsonl" >"$work/first.jsonl"
"$rcore" triage "$work/cores" --baseline "$work/first.jsonl" --fail-on new >"$work/out" || true
grep -q '^4 cores, 2 different crashes, 0 new$' "$work/out" || fail "version 1: $(cat "$work/out")"

find "$work/cores" \( -name 'core-other.*' -o -name core-cut \) -delete
"$rcore" triage "$work/cores" --baseline "$work/old.jsonl" --fail-on new >"$work/out" ||
	fail "nothing is new: status $?"
grep -q '^2 cores, 1 different crash, 0 new, 1 gone$' "$work/out" || fail "$(cat "$work/out")"

: >"$work/empty.jsonl"
status=0
"$rcore" triage "$work/cores" --baseline "$work/empty.jsonl" --fail-on new >"$work/out" || status=$?
[ $status = 4 ] || fail "all are new: status $status"
status=0
"$rcore" triage "$work/cores" --baseline "$top/README.md" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "a baseline that is not one: status $status"
grep -q 'README.md, line 1' "$work/err" || fail "$(cat "$work/err")"
status=0
"$rcore" triage "$work/cores" --baseline "$work" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "a baseline that cannot be read: status $status"
grep -q 'Is a directory' "$work/err" || fail "$(cat "$work/err")"
head -c 3000000 /dev/zero >"$work/zeroes"
tr '\0' x <"$work/zeroes" >"$work/long"
for file in zeroes long; do
	status=0
	"$rcore" triage "$work/cores" --baseline "$work/$file" 2>"$work/err" || status=$?
	[ $status = 2 ] || fail "a baseline of one endless line: status $status"
	grep -q "$file, line 1: the line is longer" "$work/err" || fail "$(cat "$work/err")"
done
status=0
"$rcore" triage "$top/docs" 2>"$work/err" || status=$?
[ $status = 2 ] || fail "a folder without cores: status $status"
# How far it gets depends on the addresses of the run, so it runs out in another place each time.
for mib in 1 1 1 1 1 1 2 3; do
	status=0
	"$rcore" triage --memory-limit $mib "$work/cores" >"$work/out" || status=$?
	[ $status = 124 ] || fail "$mib MiB of memory: status $status, $(cat "$work/out")"
done

# A core that this user may not read is not left out.
[ "$(id -u)" = 0 ] || exit 0
cp "$rcore" "$work/rcore"
chmod 755 "$work"
cd "$work/cores"
echo "a log" >rcore.log
chmod 600 rcore.log core-one.*
chmod 644 core-moved.*
status=0
setpriv --reuid=65534 --regid=65534 --clear-groups "$work/rcore" triage . >"$work/out" || status=$?
[ $status = 1 ] || fail "one of two cores cannot be read: status $status"
grep -q 'core-one.*permission denied' "$work/out" || fail "$(cat "$work/out")"
grep -q '^2 cores, 1 different crash$' "$work/out" || fail "$(cat "$work/out")"
chmod 600 core-moved.*
status=0
setpriv --reuid=65534 --regid=65534 --clear-groups "$work/rcore" triage . >"$work/out" || status=$?
[ $status = 2 ] || fail "no core can be read: status $status"
