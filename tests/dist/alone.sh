#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The static command needs nothing of the machine except /proc: in an empty
# root, it prints what the dynamic one prints for a pack and for a running
# process. It says what it cannot do without libraries or scripts.
#
#	tests/dist/alone.sh RCORE
set -eu

rcore=$(realpath "$1")
work=$(mktemp -d)
make -s BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage" dist-machine
static=$(ls "$work/dist"/rcore-*-linux)
root=$work/root
mkdir -p "$root/proc" "$root/opt"
cp "$static" "$root/rcore"
# The dynamic one, with its libraries where no process has them.
# shellcheck disable=SC2046 # words
cp "$rcore" $(ldd "$rcore" | grep -o '/[^ ]*') "$root/opt"
cd "$root"
cat >"$work/program.rb" <<'RUBY'
password = "hunter2"
fiber = Fiber.new { Fiber.yield password }
fiber.resume
$stdout.puts "ready"
$stdout.close
sleep
RUBY
ruby "$work/program.rb" >"$work/ready" &
pid=$!
trap 'kill $pid; rm -rf "$work"' EXIT
until [ -s "$work/ready" ]; do sleep 0.1; done
gcore -o "$work/core" $pid >/dev/null 2>&1
core=$work/core.$pid

fail() {
	echo "$*" >&2
	exit 1
}

# The root has no program except rcore, and /proc; other mounts are gone with
# the namespace.
alone() {
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare $user -m sh -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "$@"' "$root" "$@"
}

"$rcore" pack -o pack "$core" >"$work/log" 2>&1 || fail "no pack: $(cat "$work/log")"
user=$([ "$(id -u)" = 0 ] || echo -r)
if alone /rcore --version >"$work/got" 2>&1; then
	for command in "analyze pack" "analyze --json pack" "doctor pack" "analyze -p $pid" "state -p $pid"; do
		# shellcheck disable=SC2086 # words
		alone "/$(echo opt/ld-linux*)" --library-path /opt /opt/rcore $command >"$work/expected" 2>&1 ||
			fail "$command fails: $(cat "$work/expected")"
		# shellcheck disable=SC2086 # words
		alone /rcore $command >"$work/got" 2>&1 || fail "$command fails in an empty root: $(cat "$work/got")"
		cmp "$work/expected" "$work/got" || fail "$command: another report in an empty root"
	done
else
	echo "no namespaces here ($(cat "$work/got")): the static command in an empty root not tested"
fi

# It contains the program of `rcore record --ebpf`, and loads it if the dynamic
# one does.
"$rcore" doctor -p $pid >"$work/expected"
./rcore doctor -p $pid >"$work/got"
cmp "$work/expected" "$work/got" || fail "rcore doctor -p: $(diff "$work/expected" "$work/got")"
if grep -q '^rcore record --ebpf works here' "$work/got"; then
	ruby -e 'def busy = loop {}' -e 'File.write(ARGV[0], "") && busy' "$work/busy.ready" &
	busy=$!
	trap 'kill $pid $busy; rm -rf "$work"' EXIT
	until [ -e "$work/busy.ready" ]; do sleep 0.1; done
	# On a busy machine, a program may get no processor for a second.
	for _ in $(seq 30); do
		./rcore record --ebpf=require -p $busy -d 1 -o "$work/busy.folded" >"$work/log" 2>&1 || continue
		! grep -q 'Object#busy' "$work/busy.folded" || break
	done
	grep -q 'Object#busy' "$work/busy.folded" || fail "rcore record --ebpf: no sample of 30 seconds: $(cat "$work/log")"
fi

# Only a library can ask a server; the report is the same.
"$rcore" analyze "$core" >"$work/expected"
DEBUGINFOD_URLS=http://127.0.0.1:1 ./rcore analyze "$core" >"$work/got" 2>"$work/err"
cmp "$work/expected" "$work/got" || fail "another report if DEBUGINFOD_URLS is set"
grep -q '^rcore: this static build cannot load libdebuginfod' "$work/err" || fail "no word of debuginfod: $(cat "$work/err")"
[ "$(wc -l <"$work/err")" = 1 ] || fail "more than a line about debuginfod: $(cat "$work/err")"

# Debuggers load scripts and a library.
status=0
./rcore gdb "$core" >"$work/got" 2>&1 || status=$?
[ $status = 2 ] || fail "rcore gdb without scripts: status $status"
grep -q "^rcore: cannot find gdb/rcore-gdb.py.*unpack rcore's archive" "$work/got" || fail "rcore gdb without scripts: $(cat "$work/got")"
tar -xf "$static.tar.gz" -C "$work"
installed=$(echo "$work"/rcore-*-linux)
"$installed/bin/rcore" gdb "$core" -- -nx -batch -ex ruby-fibers >"$work/got" 2>&1
grep -q 'Fiber.yield' "$work/got" || fail "rcore gdb of the archive: $(cat "$work/got")"
"$installed/bin/rcore" lldb "$core" -- --no-lldbinit --batch -o ruby-fibers >"$work/got" 2>&1
grep -q 'Fiber.yield' "$work/got" || fail "rcore lldb of the archive: $(cat "$work/got")"
