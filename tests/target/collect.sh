#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rcore collect, as root, with cores through its standard input: it stores them before it looks at
# them, looks at them without privileges, and writes to nothing that others put in its way.
#
#	tests/target/collect.sh RCORE
set -eu

waiting_environment=
. "$(dirname "$0")/waiting_core.sh"

# collect FOLDER OPTION... <CORE: sets `status`, and writes messages to the file
# err. The disk of this machine may be nearly full.
collect() {
	status=0
	timeout 300 "$RCORE" collect --keep-free 1 -d "$@" 2>err || status=$?
}

collect whole --process $pid <"$core"
[ $status = 0 ] || fail "a core: status $status, $(cat err)"
[ "$(find whole -type f -printf '%f\n' | sed 's/^[^.]*//' | sort | xargs)" = ".core .html .json .txt" ] ||
	fail "a core: $(ls whole)"
[ -z "$(find whole -type f ! -perm 600)" ] || fail "not private: $(ls -l whole)"
grep -q 'Fiber.yield' whole/*.txt || fail "no report: $(cat whole/*.txt)"
"$RCORE" analyze whole/*.core | grep -q 'Fiber.yield' || fail "no pack"

# What the kernel wrote is kept to the last byte, even if nothing can be made of it.
collect kept --keep-core < <(cat "$core")
[ $status = 0 ] || fail "a pipe: status $status, $(cat err)"
zstd -qdc kept/*.full-core.zst | cmp - "$core" || fail "another core was stored"
collect small --memory-limit 1 <"$core"
[ $status = 124 ] || fail "no memory: status $status, $(cat err)"
zstd -qdc small/*.full-core.zst | cmp - "$core" || fail "no memory: the core is lost: $(ls small)"
[ "$(ls small | wc -l)" = 2 ] || fail "no memory: left behind: $(ls small)"
# With a little more memory it finds some of what there is, and stores it. How far it gets depends on the addresses of
# the run.
partial=0
for mib in $(seq 6 2 60); do
	rm -rf short
	collect short --memory-limit $mib <"$core"
	[ $status != 0 ] || break
	[ $status = 124 ] || fail "$mib MiB of memory: status $status, $(cat err)"
	grep -q 'out of memory; allow more' short/rcore.log || fail "$mib MiB of memory: the log says $(cat short/rcore.log)"
	ls short/*.full-core.zst >/dev/null || fail "$mib MiB of memory: the core is lost"
	! ls short/*.txt >/dev/null 2>&1 || partial=$((partial + 1))
done
[ $status = 0 ] && [ $partial != 0 ] || fail "$mib MiB of memory: status $status, $partial partial reports"
head -c 5000000 "$core" >half
collect cut <half
[ $status = 2 ] || fail "a cut core: status $status, $(cat err)"
zstd -qdc cut/*.full-core.zst | cmp - half || fail "a cut core is lost"
# The limit must be long enough for what has come. How long that takes depends on what else runs here.
for seconds in 3 6 12 24 48; do
	rm -rf late
	collect late --time-limit $seconds < <(cat "$core"; sleep $((2 * seconds)))
	[ $status -gt 1 ] || break
done
[ $status -le 1 ] || fail "a core without an end: status $status, $(cat err)"
grep -q 'did not end in time' late/rcore.log || fail "a core without an end: $(cat late/rcore.log)"
ls late/*.full-core.zst >/dev/null || fail "a core without an end: what came is lost"
collect text <<<"no core"
[ $status = 2 ] || fail "text: status $status"
grep -q 'is not an ELF file' text/rcore.log || fail "text: $(cat text/rcore.log)"
[ "$(ls text)" = rcore.log ] || fail "text: $(ls text)"

# The user who makes a process crash can choose its name. It must not start a
# line of the log.
(exec -a "$(printf 'x\n1 core: forged\033[31m')" sleep 100) &
sleeper=$!
until [ "$(cat /proc/$sleeper/comm)" = sleep ]; do sleep 0.1; done
gcore -o other $sleeper >/dev/null 2>&1
kill $sleeper
collect other <other.$sleeper
[ $status = 3 ] || fail "no Ruby: status $status, $(cat err)"
[ "$(wc -l <other/rcore.log)" = 1 ] || fail "a forged line: $(cat other/rcore.log)"
! grep -q "$(printf '\033')" other/rcore.log || fail "an escape in the log"
ls other/*.full-core.zst >/dev/null || fail "a core that is not Ruby's is lost"

# A full log is renamed once.
mkdir full
head -c 1100000 /dev/zero >full/rcore.log
chmod 600 full/rcore.log
collect full <<<text
[ "$(stat -c %s full/rcore.log.1)" = 1100000 ] && [ "$(wc -l <full/rcore.log)" = 1 ] || fail "a full log: $(ls -l full)"

# What others may put in the place of the log.
mkdir -m 1777 trap fifo
echo mine >victim
ln -s "$work/victim" trap/rcore.log
collect trap <<<text
[ "$(cat victim)" = mine ] || fail "it follows a link: $(cat victim)"
mkfifo fifo/rcore.log
collect fifo <<<text
[ $status = 2 ] || fail "a FIFO as log: status $status"
mkdir -m 777 open
collect open <"$core"
[ $status = 64 ] || fail "a folder that everybody may change: status $status"
grep -q 'sticky bit' err || fail "a folder that everybody may change: $(cat err)"

# Limits: of age and of size; only its own files are deleted.
mkdir limits
for day in 01 02 03; do
	head -c 900000 /dev/urandom >limits/202001${day}T000000Z-1-0.full-core.zst
done
touch -d '20 days ago' limits/20200101T000000Z-1-0.full-core.zst
touch -d '3 days ago' limits/20200102T000000Z-1-0.full-core.zst limits/foreign
ln -s "$work/victim" limits/20200104T000000Z-1-0.txt
collect limits <<<text
[ "$(ls limits | xargs)" = "20200102T000000Z-1-0.full-core.zst 20200103T000000Z-1-0.full-core.zst 20200104T000000Z-1-0.txt foreign rcore.log" ] ||
	fail "a limit of age: $(ls limits)"
# A file that another rcore still writes stays, however old it is.
exec 9<limits/20200102T000000Z-1-0.full-core.zst
flock 9
collect limits --max-age 1 <<<text
[ -e limits/20200102T000000Z-1-0.full-core.zst ] || fail "it deletes what another one writes"
exec 9<&-
collect limits --max-use 2 --keep-core <"$core"
[ ! -e limits/20200102T000000Z-1-0.full-core.zst ] || fail "a limit of size: $(ls -l limits)"
[ -e limits/foreign ] && [ -h limits/20200104T000000Z-1-0.txt ] || fail "a foreign file is gone"

[ "$(id -u)" = 0 ] || { echo "not root: that it gives up privileges is not tested"; exit 0; }
# On a disk that has no room for the pack, the reports and a line of the log remain.
if unshare -m true 2>/dev/null; then
	mkdir disk left
	size=$(cat kept/*.full-core.zst whole/*.txt whole/*.json whole/*.html | wc -c)
	status=0
	unshare -m sh -c 'mount -t tmpfs -o "size=$1,mode=755" none disk
		timeout 100 "$2" collect --keep-free 1 -d disk <"$3" 2>err || status=$?
		cp -p disk/* left
		exit ${status:-0}' sh $((size * 102 / 100 + 40000)) "$RCORE" "$core" || status=$?
	[ $status = 2 ] || fail "a full disk: status $status, $(cat err)"
	[ "$(ls left | sed 's/^[0-9].*-[0-9]*\././' | xargs)" = ".full-core.zst .html .json .txt rcore.log" ] ||
		fail "a full disk: $(ls -l left)"
	grep -q 'the pack: .*No space left' left/rcore.log || fail "a full disk: the log says $(cat left/rcore.log)"
	grep -q 'Fiber.yield' left/*.txt || fail "a full disk: $(cat left/*.txt)"
	ruby -rjson -e 'JSON.parse(ARGF.read)' left/*.json || fail "a full disk: no JSON"
	zstd -qdc left/*.full-core.zst | cmp - "$core" || fail "a full disk: the core is lost"
	# No empty file stays: neither of the core nor, if not even a line fits, of the log.
	for left in 4096 0; do
		rm -r left
		mkdir left
		status=0
		unshare -m sh -c 'mount -t tmpfs -o size=16k,mode=755 none disk
			head -c $((16384 - $1)) /dev/zero >disk/other
			timeout 100 "$2" collect --keep-free 1 -d disk <"$3" 2>err || status=$?
			rm disk/other
			cp -p disk/* left 2>/dev/null
			exit ${status:-0}' sh $left "$RCORE" "$core" || status=$?
		[ $status = 2 ] || fail "a disk with $left bytes: status $status, $(cat err)"
		grep -q 'the core is not stored: no room is left' err || fail "a disk with $left bytes: $(cat err)"
		[ "$(ls left)" = "$([ $left = 0 ] || echo rcore.log)" ] || fail "a disk with $left bytes: $(ls -l left)"
	done
fi

# The process that reads the core is nobody, and opens nothing for writing from
# then on.
strace -qf -e trace=setresuid,setgroups,openat,prctl,chroot -o trace "$RCORE" collect --keep-free 1 -d traced --process $pid <"$core"
ruby -e '
  child = File.readlines("trace").group_by { |line| line[/\A\d+/] }.values.find { |lines| lines.any?(/setresuid/) } or abort "no child"
  filter = child.index { |line| line =~ /PR_SET_SECCOMP.* = 0$/ } or abort "no filter"
  before, after = child[0...filter], child[filter + 1..]
  before.any?(/setresuid\(65534, 65534, 65534\) += 0/) or abort "still root"
  before.any?(/setgroups\(0, NULL\) += 0/) or abort "groups are left"
  before.any?(/chroot\("."\) += 0/) or abort "in the root folder of the machine"
  wrong = after.grep(/openat\(.*(O_WRONLY|O_RDWR|O_CREAT).* = \d/)
  wrong.empty? or abort "it opens to write: #{wrong}"' || fail "privileges"

# It has the user and the group of the process, and in the root folder of the
# process it opens nothing while it has any privilege: others made its /dev/null.
# If it also needs files outside that folder, it opens those in it through a
# descriptor.
mkdir -p jail/dev
touch jail/victim
ln -s /victim jail/dev/null
chmod 755 jail jail/dev
for null in link none outside; do
	ruby -e 'Dir.chroot("jail"); Process::Sys.setgid(4321); Process::Sys.setuid(1234); $stdout.puts; $stdout.close; sleep' >in_jail &
	prisoner=$!
	until [ -s in_jail ]; do sleep 0.1; done
	set --
	[ $null != outside ] || set -- --lib-search-path /usr/lib
	strace -qf -e trace=openat,chroot,setresuid,setresgid -o trace "$RCORE" collect "$@" --keep-free 1 -d "jailed_$null" --process $prisoner <"$core" 2>err || true
	kill $prisoner
	wait $prisoner || true
	ls jailed_$null/*.txt >/dev/null || fail "no report of a process in a jail, /dev/null is a $null: $(cat err)"
	! grep -q 'openat(.*"/proc/[0-9]*/root' trace || fail "it opens the root folder by its path: $(grep /root trace)"
	if [ $null = outside ]; then
		grep -q 'openat(.*"/proc/self/fd/[0-9]*/.*= [0-9]' trace || fail "it does not look into the root folder of the process"
		rm -f in_jail
		continue
	fi
	ruby -e '
	  child = File.readlines("trace").group_by { |line| line[/\A\d+/] }.values.find { |lines| lines.any?(/chroot/) } or abort "no child"
	  inside = child.index { |line| line =~ /chroot\("\."\) += 0/ } or abort "no root folder"
	  user = child.index { |line| line =~ /setresuid\(1234, 1234, 1234\) += 0/ } or abort "another user"
	  child.any?(/setresgid\(4321, 4321, 4321\) += 0/) or abort "another group"
	  opened = child[inside..user].grep(/openat/)
	  opened.empty? or abort "it opens as root: #{opened}"' || fail "a jail, /dev/null is a $null"
	rm -f jail/dev/null in_jail
done
