#!/bin/bash
# SPDX-License-Identifier: MIT
#
# rcore collect --spool: every file that has a name is complete, a line appears after its pack, and nothing is lost when
# rcore is killed.
#
#	tests/target/spool.sh RCORE
set -eu

waiting_environment="OTEL_SERVICE_NAME=till HOSTNAME=pod-7"
. "$(dirname "$0")/waiting_core.sh"

# collect OPTION... <CORE: sets `status`, and writes messages to the file err.
collect() {
	status=0
	timeout 100 "$RCORE" collect --keep-free 1 "$@" 2>err || status=$?
}

# listed FOLDER: prints the files of a folder, with X for their name.
listed() {
	(cd "$1" && find . -type f | sed 's|/[0-9TZ]*-[0-9a-z]*-[0-9]*\.|/X.|' | sort | xargs)
}

# line FOLDER KEY: prints a field of each line of a spool.
line() {
	ruby -rjson -e 'key = ARGV.shift; puts ARGF.map { |line| JSON.parse(line)[key].to_s }' "$2" "$1"/lines/*.jsonl
}

# Each line is whole, and its pack can be read.
sound() {
	find "$1/lines" -name '*.jsonl' | while read -r file; do
		[ "$(wc -l <"$file")" = 1 ] || fail "$2: not one line: $file"
		pack=$1/packs/$(ruby -rjson -e 'puts JSON.parse(File.read(ARGV[0])).fetch("core")' "$file")
		[ -f "$pack" ] || fail "$2: a line without its pack: $(cat "$file")"
	done
	find "$1/packs" -name '*.core' | while read -r pack; do
		"$RCORE" analyze "$pack" | grep -q 'Fiber.yield' || fail "$2: a pack that is not whole: $pack"
	done
	case $(listed "$1") in
	"" | ./packs/X.core | "./lines/X.jsonl ./packs/X.core") ;;
	*) fail "$2: left behind: $(listed "$1")" ;;
	esac
}

collect -d reports --spool spool --release 1.10 <"$core"
[ $status = 0 ] || fail "a core: status $status, $(cat err)"
[ "$(listed spool)" = "./lines/X.jsonl ./packs/X.core" ] || fail "the spool: $(find spool)"
[ "$(listed reports)" = "./X.html ./X.json ./X.txt" ] || fail "the reports: $(find reports)"
sound spool "a core"
[ "$(line spool schema) $(line spool service) $(line spool release) $(line spool host) $(line spool pid)" = "rcore-triage/2 till 1.10 pod-7 $pid" ] ||
	fail "the line: $(cat spool/lines/*)"
[ "$(line spool time_source)" = clock ] || fail "the line: $(cat spool/lines/*)"
[ -z "$(find spool -type f ! -perm 600)" ] || fail "not private: $(ls -lR spool)"
# The pack says the same, with what the option said.
"$RCORE" triage --json spool/packs/*.core | grep -q '"release":"1.10"' || fail "the pack does not know its release"

# If its group can read the spool, it can also read its files.
mkdir -m 750 shared
group=$(id -G | tr ' ' '\n' | tail -n 1)
chown ":$group" shared
collect -d reports --spool shared <"$core"
[ "$(stat -c '%a %g' shared/lines shared/packs shared/*/* | sort | xargs)" = "640 $group 640 $group 750 $group 750 $group" ] || fail "not shared: $(ls -lRn shared)"

# If the process is not Ruby, the line says so, and where the core is.
sleep 100 &
sleeper=$!
until [ "$(cat /proc/$sleeper/comm)" = sleep ]; do sleep 0.1; done
gcore -o other $sleeper >/dev/null 2>&1
kill $sleeper
collect -d kept --spool other --process $pid <other.$sleeper
[ "$status $(line other status) $(line other time_source) $(line other pid)" = "3 3 clock $pid" ] || fail "no Ruby: status $status, $(cat other/lines/*)"
[ -f "kept/$(line other core)" ] && [ -n "$(line other error)" ] || fail "no Ruby: $(cat other/lines/*), $(ls kept)"
[ "$(listed other)" = ./lines/X.jsonl ] || fail "no Ruby: $(find other)"

# The limits apply to our own files in both folders.
touch -d '20 days ago' spool/lines/20200101T000000Z-1-0.jsonl spool/packs/20200101T000000Z-1-0.core spool/lines/mine.jsonl
collect -d reports --spool spool <"$core"
[ "$(find spool -name '2020*')" = "" ] && [ -f spool/lines/mine.jsonl ] || fail "limits: $(find spool)"

# If the disk is too full, packs are missing, but no lines.
mkdir -p full/lines full/packs
touch full/lines/20200101T000000Z-1-0.jsonl full/packs/20200101T000000Z-1-0.core
collect -d reports --spool full --keep-free 100 <"$core"
[ "$(find full -name '2020*')" = full/lines/20200101T000000Z-1-0.jsonl ] || fail "a full disk: $(find full) $(cat err)"

# A spool that cannot be used costs no core: it is stored, its report and pack are next to it, and the log says why.
mkdir -m 777 open
mkdir -m 1777 sticky
mkdir -m 775 group linked foreign
chmod 755 linked foreign
mkdir victim
ln -s "$work/victim" linked/packs
echo file >foreign/lines
mkdir another
[ "$(id -u)" != 0 ] || chown 65534 another
while read -r bad why; do
	# Only root can make a folder of another user.
	[ "$bad $(stat -c %u another)" != "another $(id -u)" ] || continue
	collect -d "bad.${bad%/*}" --spool "$bad" <"$core"
	[ $status = 2 ] && grep -q "$why" "bad.${bad%/*}/rcore.log" || fail "the spool $bad: status $status, $(cat err)"
	[ "$(listed "bad.${bad%/*}" | sed 's/full-core\.[a-z]*/full-core/')" = "./X.core ./X.full-core ./X.html ./X.json ./X.txt ./rcore.log" ] ||
		fail "the spool $bad: $(ls "bad.${bad%/*}")"
	# They are one crash.
	[ "$("$RCORE" triage --json "bad.${bad%/*}" | wc -l)" = 1 ] || fail "the spool $bad: two crashes"
done <<-END
	open everybody can write to it; name a folder of your own$
	sticky everybody can write to it; name a folder of your own$
	another belongs to another user; name a folder of your own$
	group others can replace .*, or set its sticky bit$
	linked cannot open the folder packs
	foreign cannot open the folder lines
	gone/spool cannot create the folder
END
# The messages and the help are right.
"$RCORE" collect --help | tr -s '\n ' ' ' | grep -q ' 2 [^;]*the spool cannot be used;' || fail "the help does not name the status"
chmod +t group
collect -d reports --spool group <"$core"
[ $status = 0 ] || fail "a group's spool with a sticky bit: status $status, $(cat err)"
[ -z "$(ls victim)" ] || fail "it follows a link: $(ls victim)"

# --redact all removes the machine's name, too.
env -u HOSTNAME ruby -e 'Fiber.new { Fiber.yield }.resume; $stdout.puts; $stdout.close; sleep' >nameless &
other_pid=$!
until [ -s nameless ]; do sleep 0.1; done
gcore -o nameless $other_pid >/dev/null 2>&1
kill $other_pid
for redact in secrets all; do
	collect -d "reports.$redact" --spool "$redact" --redact $redact <nameless.$other_pid
	collect -d "reports.$redact" --spool "$redact" --redact $redact <other.$sleeper
	{
		cat "$redact"/lines/*
		"$RCORE" triage --json "$redact"/packs/*.core
	} >"said.$redact"
	grep -c '"host_source": *"machine"' "said.$redact" >>sources || true
done
[ "$(xargs <sources)" = "3 0" ] || fail "the name of the machine: $(cat sources said.*)"

# The stored core is deleted only after the files of the spool and their names
# are on the disk.
strace -f -y -qq -o trace -e trace=fsync,linkat,unlink "$RCORE" collect --keep-free 1 -d reports --spool synced <"$core"
ruby -e '
  lines = File.readlines("trace")
  gone = lines.index { |line| line =~ /unlink\("reports\/.*full-core/ } or abort "it keeps the core"
  %w[packs lines].each do |name|
    named = lines.index { |line| line =~ %r{linkat\(.*/synced/#{name}>} } or abort "no link in #{name}"
    lines[named...gone].any? { |line| line =~ %r{fsync\(\d+<.*/synced/#{name}>\) += 0} } or abort "#{name} is not on the disk"
  end' || fail "not on the disk: $(cat trace)"

# Killed while it reads the core: what it has read is kept, and the spool is empty.
mkfifo fifo
mkdir half
"$RCORE" collect --keep-free 1 -d half.reports --spool half <fifo 2>err &
collector=$!
exec 8>fifo
head -c 5000000 "$core" >&8
until [ -n "$(find half.reports -name '*.full-core.*' -size +0 2>/dev/null)" ]; do sleep 0.1; done
kill -KILL $collector
wait $collector || true
exec 8>&-
[ -z "$(listed half)" ] || fail "killed half-way: $(find half)"

# Killed when it is about to name one of its files: if there is no line yet, the core is still there.
for at in 1 2 3 4 5; do
	strace -f -qq -o trace -e trace=linkat -e "inject=linkat:signal=KILL:when=$at" \
		"$RCORE" collect --keep-free 1 -d "reports.$at" --spool "spool.$at" <"$core" 2>/dev/null || true
	grep -q 'killed by SIGKILL' trace || fail "it was not killed at file $at: $(cat trace)"
	sound "spool.$at" "killed at file $at"
	[ -n "$(find "spool.$at" -name '*.jsonl')" ] || ls "reports.$at"/*.full-core.* >/dev/null || fail "killed at file $at: the core is lost"
done
