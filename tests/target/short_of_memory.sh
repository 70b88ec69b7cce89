#!/bin/bash
# SPDX-License-Identifier: MIT
#
# With little memory, a report of a core lacks something only if rcore says so:
# if the status is 0, the report is whole. Libraries treat data that they have
# no memory for as missing.
#
#	tests/target/short_of_memory.sh RCORE
set -eu

RCORE=$1
FIRST=40000 STEP=700 LARGE=1000000 MARGIN=60000 # KiB of address space
work=$(mktemp -d -p /var/tmp)
trap 'rm -rf "$work"' EXIT
cd "$work"

ulimit -c unlimited
case $(cat /proc/sys/kernel/core_pattern) in
core*) ;;
*)
	echo "the kernel's cores go elsewhere: nothing to test with"
	exit 0
	;;
esac
ruby -e 'def job = [1].each { Process.kill(:ABRT, Process.pid); sleep }
job' >/dev/null 2>&1 &
wait $! 2>/dev/null || true
core=$(echo core*)

# Reads the core with at most $1 KiB; sets status.
with() {
	status=0
	prlimit --as=$(($1 * 1024)) "$RCORE" analyze "$core" >out 2>err || status=$?
}

with $LARGE
cp out whole
[ $status = 0 ] || {
	echo "status $status: $(cat err)" >&2
	exit 1
}

# Finds approximately the least memory that suffices for the whole report.
low=$FIRST high=$LARGE
while [ $((high - low)) -gt $STEP ]; do
	middle=$(((low + high) / 2))
	with $middle
	if cmp -s out whole; then high=$middle; else low=$middle; fi
done

count=0 marked=0
room=$((high + 2 * STEP))
while [ $room -gt $((high - MARGIN)) ] && [ $room -gt $FIRST ]; do
	with $room
	count=$((count + 1))
	if [ $status = 1 ]; then
		marked=$((marked + 1))
		grep -q '^Problems' out || [ -s err ] || {
			echo "$room KiB: status 1, but the report does not say what it lacks" >&2
			exit 1
		}
	fi
	if [ $status = 0 ] && ! cmp -s out whole; then
		echo "$room KiB: status 0, but the report differs:" >&2
		diff whole out >&2 || true
		exit 1
	fi
	if [ $status != 0 ] && [ ! -s out ] && [ ! -s err ]; then
		echo "$room KiB: status $status without output" >&2
		exit 1
	fi
	room=$((room - STEP))
done
[ $marked -gt 0 ] && [ $high -lt $LARGE ] || {
	echo "no limit was found under which the report lacks something: $high KiB" >&2
	exit 1
}
echo "$count limits, $marked reports that say what they lack"
