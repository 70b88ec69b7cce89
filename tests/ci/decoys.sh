#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ci/run takes the cores that the kernel wrote of its own job, and no other
# file. If a process died and left no core, it says why. The kernel's setting is
# not touched: a file replaces it, in a mount namespace.
#
#	tests/ci/decoys.sh RCORE
set -eu

RCORE=$1
export RCORE
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
# shellcheck source=tests/ci/core_pattern.sh
. "$top/tests/ci/core_pattern.sh"

fail() {
	echo "$*" >&2
	exit 1
}

has_cores || {
	echo "the kernel's cores go to '$(cat $setting)': what ci/run takes of a job is not tested"
	exit 0
}
has_namespaces || {
	echo "no mount namespaces here: what ci/run takes of a job is not tested"
	exit 0
}

# Runs a job in its own folder; sets $status, and $log to its log.
job() {
	rm -rf "$work/job"
	mkdir "$work/job"
	cd "$work/job"
	log=$work/log
	status=0
	"$@" >"$log" 2>&1 || status=$?
}

says() {
	grep -qE "$1" "$log" || fail "not said: $1: $(cat "$log")"
}

crash='ruby -e "Process.kill(:ABRT, Process.pid); sleep"'

# A core of a process that no job started.
mkdir "$work/other"
(cd "$work/other" && ulimit -c unlimited && eval "exec $crash") >"$work/log" 2>&1 || true
other=$(find "$work/other" -name 'core*')
[ -n "$other" ] || fail "no core of another process: $(cat "$work/log")"

# Whatever else a job makes stays, even if it is named like a core.
export other
cat >"$work/decoys" <<END
	mkdir -p dist lib old link sub/core taken
	echo 'min' >dist/core.min.js
	echo 'ext' >lib/core_ext.rb
	echo 'text' >old/core
	cp "\$other" dist/core
	cp "\$other" dist/core.1
	ln -s ../dist/core.min.js link/core
	echo 'kept' >sub/core/core
	sleep 100 & gcore -o taken/core \$! >/dev/null 2>&1 && mv taken/core.* taken/core
	kill \$!
	[ -s taken/core ]
END
decoys=$(cat "$work/decoys")
job with_pattern core "$top/ci/run" bash -ec "$decoys
	find . -type f -o -type l | sort >../names
	$crash"
[ "$status" = 134 ] || fail "a crash among decoys: status $status: $(cat "$log")"
says '1 core,'
[ -s rcore-reports/crash-1.txt ] || fail "no report: $(cat "$log")"
find . -path ./rcore-reports -prune -o \( -type f -o -type l \) -print | sort | diff ../names - || fail "files came or went"
[ "$(cat dist/core.min.js lib/core_ext.rb old/core sub/core/core)" = 'min
ext
text
kept' ] || fail "a file changed"
cmp -s "$other" dist/core && cmp -s "$other" dist/core.1 || fail "a core of another process changed"

# Two processes that die in one folder leave one core, unless its name contains
# the pid.
job with_pattern core "$top/ci/run" bash -c "$crash; $crash"
if [ "$(cat /proc/sys/kernel/core_uses_pid)" = 0 ]; then
	says "cores are all called 'core' here"
	says '1 core,'
fi

# The same in the folder that an absolute core_pattern names.
mkdir "$work/absolute"
cp "$other" "$work/absolute/core.1"
job with_pattern "$work/absolute/core.%p" "$top/ci/run" bash -c "$crash; mv core* '$work/absolute/core.2'; exit 1"
says '1 core,'
! grep -q 'all called' "$log" || fail "said of names with a pid: $(cat "$log")"
[ "$(ls "$work/absolute")" = core.1 ] || fail "an absolute pattern: $(ls "$work/absolute")"

# With sudo for the setting alone; a core that something else left in ci/run's
# folder stays.
mkdir "$work/bin"
cat >"$work/bin/sudo" <<END
#!/bin/sh
[ "\$*" = "-n tee $setting" ] || exit 1
exec cat >'$work/pattern'
END
chmod 755 "$work/bin/sudo"
# shellcheck disable=SC2016
PATH=$work/bin:$PATH job with_pattern '|/bin/false' "$top/ci/run" -s bash -c '
	pattern=$(cat /proc/sys/kernel/core_pattern)
	cp "$other" "${pattern%/*}/core.7"
	kill -ABRT $$'
says 'left no core: no core of it is in'
says 'may not be of this job are left in'
cmp -s "$other" "$work"/tmp/rcore-ci.*/kernel/core.7 || fail "another's core is gone: $(cat "$log")"
[ "$(cat "$work/pattern")" = '|/bin/false' ] || fail "the pattern was not put back: $(cat "$work/pattern")"
rm -rf "$work"/tmp/rcore-ci.*

# Why there is none.
job with_pattern '|/bin/false' "$top/ci/run" bash -c "$crash"
[ "$status" = 134 ] || fail "a pipe: status $status"
says "left no core: the kernel hands cores to '\|/bin/false'"
job with_pattern core bash -c "ulimit -H -c 0; exec '$top/ci/run' bash -c '$crash'"
says 'left no core: the hard limit of core sizes is 0'
job with_pattern core bash -c "ulimit -H -c 8; exec '$top/ci/run' bash -c '$crash'"
says 'left no core: the hard limit of core sizes is 8 KiB; raise it'
job with_pattern core bash -c "ulimit -H -c 5000; exec '$top/ci/run' bash -c '$crash'"
says 'truncated core; raise `ulimit -c`'

# A report does not name a folder that is gone.
job with_pattern core "$top/ci/run" bash -c "$crash"
case $(head -n 1 "$work/job/rcore-reports/crash-1.txt") in
'core  ruby '* | core.[0-9]*'  ruby '*) ;;
*) fail "a core of a folder that is gone: $(head -n 1 "$work/job/rcore-reports/crash-1.txt")" ;;
esac
job with_pattern core "$top/ci/run" bash -c "mkdir core; $crash"
says 'left no core: ./core, where the core would go, is a folder'
mkdir "$work/elsewhere"
job with_pattern core "$top/ci/run" bash -c "cd '$work/elsewhere'; $crash"
says 'left no core: .* which may be outside of'
job with_pattern core "$top/ci/run" bash -c 'exit 3'
[ "$status$(cat "$log")" = 3 ] || fail "a job without a crash: status $status: $(cat "$log")"
[ -z "$(ls "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
