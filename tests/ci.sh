#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A job in which a Ruby crashes: reports, annotations, a summary, and the command's own status; and the
# kernel's own pipe into rcore collect. Whatever happens, the kernel's setting is as it was.
#
#	tests/ci.sh RCORE
set -eu

RCORE=$1
export RCORE
top=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
pattern=$(cat /proc/sys/kernel/core_pattern)
if [ -w /proc/sys/kernel/core_pattern ]; then
	trap 'echo "$pattern" >/proc/sys/kernel/core_pattern; rm -rf "$work"' EXIT
else
	trap 'rm -rf "$work"' EXIT
fi
cd "$work"

fail() {
	echo "$*" >&2
	exit 1
}

mkdir lib
cat >lib/job.rb <<'END'
class Job
  def run
    password = "hunter2-#{Process.pid}"
    [password].each { Process.kill(:ABRT, Process.pid); sleep }
  end
end
Job.new.run
END

status=0
"$top/ci/run" -d out true >log 2>&1 || status=$?
[ "$status$(ls out)" = 0 ] || fail "no crash: status $status, $(ls out)"
status=0
"$top/ci/run" -d out bash -c 'exit 7' >log 2>&1 || status=$?
[ $status = 7 ] || fail "the command's status: $status"

: >summary
status=0
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$work/summary \
	"$top/ci/run" -d out ruby lib/job.rb >log 2>&1 || status=$?
[ "$(cat /proc/sys/kernel/core_pattern)" = "$pattern" ] || fail "the pattern was not put back"
if [ ! -e out/crash-1.txt ]; then
	grep -q 'only root can change' log || fail "no report: $(cat log)"
	exit 0
fi
[ $status = 134 ] || fail "a crash: status $status"
grep -q '^::error file=lib/job.rb,line=4,' log || fail "no annotation: $(cat log)"
grep -q '<details open><summary>T1 main' summary || fail "no summary: $(cat summary)"
grep -q 'Blame: .*Job#run  lib/job.rb:4' out/crash-1.txt || fail "$(cat out/crash-1.txt)"
ruby -rjson -rrexml/document -e '
  JSON.parse(File.read("out/crash-1.json"))["signature"] or abort "no signature"
  result = JSON.parse(File.read("out/crash-1.sarif"))["runs"][0]["results"][0]
  result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "lib/job.rb" or abort "SARIF: #{result}"
  JSON.parse(File.read("out/gitlab-1.json"))[0]["location"]["path"] == "lib/job.rb" or abort "GitLab"
  REXML::Document.new(File.read("out/crash-1.xml")).elements["//failure"] or abort "JUnit"' || fail "a report is wrong"
[ -z "$(find "$work" -name 'core*' -size +0)" ] || fail "a core is left"

! grep -rq hunter2 out log summary || fail "a secret: $(grep -r hunter2 out log summary)"

[ -w /proc/sys/kernel/core_pattern ] || exit 0

# Whatever becomes of it, the kernel's setting comes back.
"$top/ci/run" -d out sleep 60 >log 2>&1 &
run=$!
for _ in $(seq 100); do
	[ "$(cat /proc/sys/kernel/core_pattern)" = "$pattern" ] || break
	sleep 0.1
done
[ "$(cat /proc/sys/kernel/core_pattern)" != "$pattern" ] || fail "ci/run did not set the pattern: $(cat log)"
job=$(for child in $(cat /proc/$run/task/$run/children); do
	[ "$(cat /proc/"$child"/comm)" != sleep ] || echo "$child"
done)
kill -KILL $run
wait $run || true
[ -z "$job" ] || kill "$job"
for _ in $(seq 100); do
	[ "$(cat /proc/sys/kernel/core_pattern)" != "$pattern" ] || break
	sleep 0.1
done
[ "$(cat /proc/sys/kernel/core_pattern)" = "$pattern" ] || fail "a killed ci/run did not put the pattern back"

# collect ends at its limits, says so, and leaves nothing.
status=0
sleep 5 | "$RCORE" collect -d limits --time-limit 1 2>err || status=$?
[ $status = 124 ] || fail "a limit of time: status $status, $(cat err)"
grep -q 'core: given up after 1 seconds' limits/rcore.log || fail "no word of the limit: $(cat limits/rcore.log)"
[ "$(ls limits)" = rcore.log ] || fail "left behind: $(ls limits)"
cp "$RCORE" "$work/rcore"
echo "|$work/rcore collect -d $work/crash --process %P" >/proc/sys/kernel/core_pattern
ruby lib/job.rb >/dev/null 2>&1 || true
for _ in $(seq 100); do
	[ -z "$(find crash -name '*.core' 2>/dev/null)" ] || break
	sleep 0.1
done
echo "$pattern" >/proc/sys/kernel/core_pattern
report=$(find crash -name '*.txt' 2>/dev/null)
[ -n "$report" ] || fail "the kernel's pipe left no report: $(cat crash/rcore.log 2>&1)"
grep -q 'Blame: .*Job#run  lib/job.rb:4' "$report" || fail "$(cat "$report")"
grep -q 'Redacted (secrets)' "$report" || fail "nothing was redacted: $(cat "$report")"
! grep -rq hunter2 crash || fail "a secret: $(grep -r hunter2 crash)"
[ "$(find crash -size +8M)" = "" ] || fail "a core is left: $(ls -l crash)"
"$RCORE" analyze "$(find crash -name '*.core')" >packed || fail "the pack cannot be read"
grep -q 'Blame: .*Job#run  lib/job.rb:4' packed || fail "$(cat packed)"
