#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Cores in a folder like that of systemd-coredump: found by the ids of
# coredumpctl, compressed, and grouped.
#
#	tests/target/journal.sh RCORE
set -eu

RCORE=$1
work=$(mktemp -d -p /var/tmp)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
	echo "$*" >&2
	exit 1
}

ulimit -c unlimited
cat >job.rb <<'END'
class Job
  def run
    [ARGV[0]].each { Process.kill(:ABRT, Process.pid); sleep }
  end
end
Job.new.run
END
case $(cat /proc/sys/kernel/core_pattern) in
core*) ;;
*)
	echo "the kernel's cores go elsewhere: nothing to test with"
	exit 0
	;;
esac

# put NAME UID TIME COMPRESSION: a core under the name that systemd would give it; prints its process.
boot=0123456789abcdef0123456789abcdef
mkdir coredump
put() {
	rm -f core core.[0-9]*
	ruby job.rb "$1" >/dev/null 2>&1 &
	pid=$!
	wait $pid || true
	file=coredump/core.$1.$2.$boot.$pid.$3
	[ -f core ] || mv core.$pid core
	case $4 in
	zst) zstd -q -c core >"$file.zst" ;;
	lz4) lz4 -q -c core >"$file.lz4" ;;
	xz) xz -0 -c core >"$file.xz" ;;
	*) cp core "$file" ;;
	esac
	rm -f core
}

put ruby 0 1700000000000001 zst
first=$pid
put ruby 0 1700000000000002 lz4
second=$pid
put 'puma\x2e6\x20x' 1000 1700000000000003 xz
third=$pid
put bash 0 1700000000000009 none
other=$pid
mv "coredump/core.bash.0.$boot.$other.1700000000000009" "coredump/core.bash.0.$boot.77.1700000000000009"
attributes=no
if python3 -c 'import os, sys
for name, value in [("pid", "12345"), ("comm", "sidekiq"), ("signal", "6"), ("timestamp", "1600000000"), ("hostname", "web-3")]:
    os.setxattr(sys.argv[1], "user.coredump." + name, value.encode())' "coredump/core.bash.0.$boot.77.1700000000000009" 2>/dev/null; then
	attributes=yes
fi
echo "no core" >coredump/.#core.ruby.partial
echo "no core" >coredump/README

# found ID PID: the core under ID is that of the process PID.
found() {
	"$RCORE" analyze --coredump-dir coredump "coredump:$1" >out 2>err || fail "coredump:$1: $(cat err)"
	grep -q "  pid $2  " out || fail "coredump:$1 is not of process $2: $(head -1 out)"
	grep -q 'Blame: .*Job#run' out || fail "coredump:$1: $(cat out)"
}

found "$first" "$first"
found "$second" "$second"
found ruby "$second"
found 'puma.6 x' "$third"
found "$third" "$third"
if [ $attributes = yes ]; then
	found sidekiq "$other"
	found 12345 "$other"
else
	found bash "$other"
	found 77 "$other"
fi

status=0
"$RCORE" analyze --coredump-dir coredump coredump:nobody >out 2>err || status=$?
[ $status = 2 ] || fail "an id that is not there: status $status"
grep -q "coredump: no core of 'nobody' among 4; .coredumpctl list" err || fail "$(cat err)"
status=0
"$RCORE" threads --coredump-dir nowhere coredump:1 >out 2>err || status=$?
[ $status = 2 ] || fail "no folder: status $status"
grep -q 'nowhere, where systemd keeps cores: No such file' err || fail "$(cat err)"

"$RCORE" triage coredump >out 2>err || fail "triage: $(cat out err)"
grep -q '^4 .*Job#run' out || grep -q '4 cores' out || fail "triage: $(cat out)"

# systemd knows when, and on which host; some releases write seconds, others microseconds.
"$RCORE" triage --json coredump >lines || fail "triage --json: $(cat lines)"
[ "$(grep -c '"time":"2023-11-14T22:13:20Z","time_source":"systemd"' lines)" -ge 3 ] || fail "no time of systemd's: $(cat lines)"
[ $attributes = no ] || grep '"time":"2020-09-13T12:26:40Z","time_source":"systemd"' lines | grep -q '"host":"web-3","host_source":"systemd"' ||
	fail "not what the attributes say: $(cat lines)"
