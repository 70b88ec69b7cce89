#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that a header of each folder of analyzer/ introduces the folder, with a
# comment that begins with "FOLDER/ "; that no folder has more than 40 files;
# and that tests/lint/long_files lists all files over 400 lines.
. tests/lint/files.sh
status=0
for folder in $(files 'analyzer/*/*.h' | sed 's|/[^/]*$||' | sort -u); do
	grep -qE "^ \* ${folder#analyzer/}/ [a-z]" "$folder"/*.h || {
		echo "$folder: no header introduces the folder (\"${folder#analyzer/}/ reads ...\": what is here, what it may include, where to start)"
		status=1
	}
done
full=$(files analyzer plugin gdb lldb | sed 's|/[^/]*$||' | sort | uniq -c |
	awk '$1 > 40 && $2 != "analyzer/layout/tables" { print $2 ": " $1 " files; 40 is the limit: add to a related file, or move some into a folder below it" }')
[ -z "$full" ] || {
	echo "$full"
	status=1
}
long=$(files analyzer plugin gdb lldb scripts ci gem | grep -v '^analyzer/layout/tables/' |
	while read -r file; do
		[ "$(wc -l <"$file")" -le 400 ] || echo "$file"
	done | sort)
listed=$(sed '/^#/d; s/:.*//' tests/lint/long_files | sort)
[ "$long" = "$listed" ] || {
	echo "tests/lint/long_files does not list exactly the files over 400 lines:"
	printf '%s\n' "$long" "$listed" | sort | uniq -u
	status=1
}
exit $status
