#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ruby-fibers in GDB prints what `rcore analyze` prints. On a core, the output
# is equal byte for byte; on a running process, only its name differs. Whatever
# goes wrong is one line.
#
#	tests/plugin/report.sh RCORE LIBRCORE.SO
set -u

here=$(cd "$(dirname "$0")" && pwd)
rcore=$1
RCORE_LIBRARY=$2
export RCORE_LIBRARY LC_ALL=C.UTF-8
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

complain() {
	echo "report.sh: $*" >&2
	failed=1
}

# Runs GDB's commands, one for each argument; the output starts after the
# marker. On some processors, GDB warns about its own cores' registers on
# standard error.
in_gdb() {
	set -- "$@" --
	while [ "$1" != -- ]; do
		set -- "$@" -ex "$1"
		shift
	done
	shift
	gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set auto-load off' \
		-iex "source $here/../../gdb/rcore-gdb.py" "$@" >"$work/gdb" 2>"$work/errors" </dev/null
	sed '1,/^=== begin$/d; /^=== end$/,$d' "$work/gdb" >"$work/output"
	cat "$work/errors" >>"$work/gdb"
}

begin='echo === begin\n'
end='echo === end\n'

program=${RCORE_TEST_RUBY:-/usr/bin/ruby}
in_gdb "file $program" "set args $here/programs/report.rb" 'handle SIGSEGV nostop noprint' \
	'set print thread-events off' run "$begin" ruby-fibers "$end" \
	"generate-core-file $work/core"
[ -f "$work/core" ] || {
	cat "$work/gdb" >&2
	complain "GDB made no core"
	exit 1
}
"$rcore" analyze "$work/core" | tail -n +2 >"$work/expected"
tail -n +2 "$work/output" | cmp - "$work/expected" || complain "a living process is shown otherwise"
grep -q 'parked with the same stack' "$work/expected" || complain "not the program's fibers"

for options in '' --all --json --verbose '--thread T2' '--fiber T1.F1' '--all --fiber=T1.F0'; do
	in_gdb "core-file $work/core" "$begin" "ruby-fibers $options" "$end"
	# shellcheck disable=SC2086
	"$rcore" analyze $options "$work/core" >"$work/expected"
	cmp "$work/output" "$work/expected" || complain "ruby-fibers $options: not what rcore analyze prints"
done

# GDB itself has more to say, and in no fixed order.
one_line() {
	if grep -qE 'Traceback|Python Exception|File "' "$work/gdb" ||
		[ "$(grep -cE '^rcore: ' "$work/gdb")" -ne 1 ] ||
		! grep -q "$1" "$work/gdb"; then
		complain "expected one line with '$1', got: $(cat "$work/gdb")"
	fi
}
in_gdb "core-file $work/core" "$begin" 'ruby-fibers --thread T99' "$end"
one_line '^rcore: there is no thread T99; the threads are: T1 '
in_gdb "core-file $work/core" "$begin" 'ruby-fibers --bogus' "$end"
one_line "^rcore: unknown option '--bogus'; see help ruby-fibers\$"
in_gdb "core-file $work/core" "$begin" 'ruby-fibers T1' "$end"
one_line "^rcore: unexpected argument 'T1'; see help ruby-fibers\$"
in_gdb "$begin" ruby-fibers "$end"
one_line '^rcore: there is no process'
RCORE_LIBRARY=/nonexistent
in_gdb "core-file $work/core" "$begin" "$end"
one_line '^rcore: cannot load librcore.so.0'

exit $failed
