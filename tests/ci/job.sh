#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A job in which a Ruby crashes: reports, annotations, a summary, and the
# command's own status; and a core that the kernel pipes into rcore collect. The
# machine's core_pattern is only read.
#
#	tests/ci/job.sh RCORE
set -eu

RCORE=$1
export RCORE
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/ci/core_pattern.sh
. "$top/tests/ci/core_pattern.sh"
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

# collect ends at its limits, says so, and leaves nothing.
status=0
sleep 5 | "$RCORE" collect --keep-free 1 -d limits --time-limit 1 2>err || status=$?
[ $status = 124 ] || fail "a limit of time: status $status, $(cat err)"
grep -q 'core: not finished after 1 second;' limits/rcore.log || fail "no word of the limit: $(cat limits/rcore.log)"
[ "$(ls limits)" = rcore.log ] || fail "left behind: $(ls limits)"

has_namespaces || {
	echo "no mount namespaces here: core_pattern as ci/run sets it, reports of a crash and rcore collect are not tested"
	exit 0
}

pattern='|/bin/false %P'
status=0
with_own_pattern "$pattern" "$top/ci/run" -d out true >log 2>&1 || status=$?
[ "$status$(ls out)" = 0 ] || fail "no crash: status $status, $(ls out)"
status=0
with_own_pattern "$pattern" "$top/ci/run" -d out bash -c 'exit 7' >log 2>&1 || status=$?
[ $status = 7 ] || fail "the command's status: $status"
[ "$(cat pattern)" = "$pattern" ] || fail "the pattern was not put back"
# Without rcore, the core of a crash would be deleted for nothing.
status=0
with_own_pattern "$pattern" env RCORE=no-rcore "$top/ci/run" -d out touch started >log 2>&1 || status=$?
[ "$status $(cat log)" = "2 ci/run: 'no-rcore' does not run (command not found), so the command was not started: run ci/get, or set RCORE" ] ||
	fail "no rcore: status $status, $(cat log)"
[ ! -e started ] || fail "no rcore, but the command was started"
# What the loader says names the library, and then the error.
cat >broken <<'END'
#!/bin/sh
echo "$0: error while loading shared libraries: libelf.so.1: cannot open shared object file: No such file or directory" >&2
exit 127
END
printf '#!/bin/sh\nexit 3\n' >silent
chmod +x broken silent
with_own_pattern "$pattern" env RCORE=./broken "$top/ci/run" -d out true >log 2>&1 || true
grep -q "broken' does not run (error while loading shared libraries: libelf.so.1: cannot open" log || fail "no library: $(cat log)"
with_own_pattern "$pattern" env RCORE=./silent "$top/ci/run" -d out true >log 2>&1 || true
grep -q "silent' does not run (exit status 3)" log || fail "no message: $(cat log)"
# bash adds no line with the text of the script to the log.
status=0
# shellcheck disable=SC2016
with_own_pattern "$pattern" "$top/ci/run" -d out sh -c 'echo a line >&2; kill -KILL $$' >log 2>&1 || status=$?
[ "$status $(cat log)" = "137 a line" ] || fail "a killed command: status $status, $(cat log)"

# Also if ci/run is killed.
# shellcheck disable=SC2016
with_own_pattern "$pattern" "$top/ci/run" -d out bash -c 'echo $PPID $$ >job; exec sleep 60' >log 2>&1 &
shell=$!
for _ in $(seq 100); do
	[ ! -s job ] || break
	sleep 0.1
done
read -r run child <job || fail "the job did not start: $(cat log)"
[ "$(cat pattern)" != "$pattern" ] || fail "ci/run did not set the pattern: $(cat log)"
kill -KILL "$run"
wait $shell || true
kill "$child"
for _ in $(seq 100); do
	[ "$(cat pattern)" != "$pattern" ] || break
	sleep 0.1
done
[ "$(cat pattern)" = "$pattern" ] || fail "a killed ci/run did not put the pattern back"

has_cores || {
	echo "the kernel's cores go to '$(cat $setting)': reports of a crash and rcore collect are not tested"
	exit 0
}

# The kernel, which follows the machine's setting, left the core in the Ruby's
# working directory. Before the job ends, this moves it to where ci/run's
# setting says.
cat >crash <<'END'
status=0
ruby lib/job.rb || status=$?
cp core* "$COPY"
mv core* "$(sed 's/%p/1/' /proc/sys/kernel/core_pattern)"
printf 'no end of line'
exit $status
END
: >summary
status=0
GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$work/summary COPY=$work/copy \
	with_own_pattern "$pattern" "$top/ci/run" -d out bash crash >log 2>&1 || status=$?
[ "$(cat pattern)" = "$pattern" ] || fail "the pattern was not put back"
[ $status = 134 ] || fail "a crash: status $status, $(cat log)"
[ -e out/crash-1.txt ] || fail "no report: $(cat log)"
grep -q '^::error file=lib/job.rb,line=4,' log || fail "no annotation: $(cat log)"
grep -q '<details open><summary>T1 main' summary || fail "no summary: $(cat summary)"
grep -q 'Blame: .*Job#run  lib/job.rb:4' out/crash-1.txt || fail "$(cat out/crash-1.txt)"
ruby -rjson -rzlib -rrexml/document -e '
  JSON.parse(File.read("out/crash-1.json"))["signature"] or abort "no signature"
  result = JSON.parse(File.read("out/crash-1.sarif"))["runs"][0]["results"][0]
  result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "lib/job.rb" or abort "SARIF: #{result}"
  JSON.parse(File.read("out/gitlab-1.json"))[0]["location"]["path"] == "lib/job.rb" or abort "GitLab"
  REXML::Document.new(File.read("out/crash-1.xml")).elements["//failure"] or abort "JUnit"
  page = Zlib.gunzip(File.read("out/crash-1.html")[%r{<script id="data" type="text/plain">([^<]*)<}, 1].unpack1("m"))
  page == File.read("out/crash-1.json") or abort "the page has other data"' || fail "a report is wrong"
[ -z "$(find "$work" -name 'core*' -size +0)" ] || fail "a core is left"

grep -q 'ci/run: 1 core, 1 report in .*/out$' log || fail "no count: $(cat log)"

# What is not Ruby has no report.
status=0
cat >other <<'END'
status=0
sh -c 'kill -ABRT $$' || status=$?
mv core* "$(sed 's/%p/2/' /proc/sys/kernel/core_pattern)"
exit $status
END
with_own_pattern "$pattern" "$top/ci/run" -d none bash other >other.log 2>&1 || status=$?
[ $status = 134 ] || fail "a crash of another program: status $status, $(cat other.log)"
grep -q 'ci/run: 1 core, 0 reports in .*/none$' other.log || fail "another program: $(cat other.log)"

! grep -rq hunter2 out log summary || fail "a secret: $(grep -r hunter2 out log summary)"

# Like the kernel's handler (core(5)): only standard input, no environment, in
# the root folder. The process that died is replaced by one with the same files.
status=0
(cd / && exec env -i "$RCORE" collect --keep-free 1 -d "$work/collected" --process $$ <"$work/copy" >&- 2>&-) || status=$?
[ $status -le 1 ] || fail "collect: status $status, $(cat collected/rcore.log)"
report=$(find collected -name '*.txt' 2>/dev/null)
[ -n "$report" ] || fail "collect left no report: $(cat collected/rcore.log 2>&1)"
grep -q 'Blame: .*Job#run  lib/job.rb:4' "$report" || fail "$(cat "$report")"
grep -q 'Redacted (secrets)' "$report" || fail "nothing was redacted: $(cat "$report")"
! grep -rq hunter2 collected || fail "a secret: $(grep -r hunter2 collected)"
[ "$(find collected -size +8M)" = "" ] || fail "a core is left: $(ls -l collected)"
"$RCORE" analyze "$(find collected -name '*.core')" >packed || fail "the pack cannot be read"
grep -q 'Blame: .*Job#run  lib/job.rb:4' packed || fail "$(cat packed)"
