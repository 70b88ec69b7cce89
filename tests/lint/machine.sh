#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests may run as root on a real system. Checks that none writes to /proc/sys
# or /dev, by a path or by a variable that contains one. Reading is fine, and so
# are the devices that swallow what they get (null, full) and the shell's own
# names of open files (stdout, fd/3).
. tests/lint/files.sh
files tests | grep -v '^tests/\(fuzz/corpus\|schemas\|lint\)/' | xargs -r grep -Il . |
	xargs -r awk '
BEGIN {
	place = "/(proc/sys|dev)/[A-Za-z0-9_{$#]"
	harmless = "/dev/(null|full|tty|stdin|stdout|stderr|fd/[0-9]+)([^A-Za-z0-9_/]|$)"
	# How a shell, Ruby, Python and C write to a path or a variable.
	to_shell = "(>[|]?|[^A-Za-z0-9_]tee( +-a)?|[^A-Za-z0-9_]of=|[ \"\047]-o[\"\047]?,?) *[\"\047]?"
	to_ruby = "(write|binwrite|mkfifo|mknod|unlink|rm|rm_f|mv|rename|truncate|chmod|chown|remove|creat|bind)[( ] *(Path[(])? *[\"\047]?"
	opened = "open(64)?[( ] *[\"\047]?"
	mode = "[^,)]*, *([\"\047][rb]*[wax+]|O_(WRONLY|RDWR|CREAT)|(File::|os[.]O_)?(WRONLY|RDWR))"
	shell_file = "[^A-Za-z0-9_]((rm|mv|mknod|mkfifo|chmod|chown|truncate)|(cp|ln|install) +[^|;&( ]+) [^|;&(]*[\"\047]?"
}

function is_write(line, path) {
	return line ~ to_shell path || line ~ to_ruby path || line ~ opened path mode || line ~ shell_file path
}

FNR == 1 { split("", held) }

{
	line = " " $0
	gsub(harmless, " ", line)
	if (match(line, "[A-Za-z_][A-Za-z0-9_]* *= *[\"\047]?" place)) {
		name = substr(line, RSTART)
		sub(/[^A-Za-z0-9_].*/, "", name)
		held[name]
	}
	bad = is_write(line, place)
	for (name in held)
		bad = bad || is_write(line, "[$]?[{]?" name "[^A-Za-z0-9_]") || is_write(line, "[$]?[{]?" name "$")
	if (bad) {
		printf "%s:%d: %s\n", FILENAME, FNR, $0
		failed = 1
	}
}

END { exit failed }
' && exit 0
echo "a test writes to /proc/sys or /dev: use a file in its own folder (tests/ci/core_pattern.sh shows how)"
exit 1
