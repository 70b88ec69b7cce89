#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that each source file has the licence and is not too long, and that no
# file names a path or a host outside the lists below, so nothing of one
# developer's machine slips in. Also checks that nothing calls what leaves out
# text without an error if memory is short.
. tests/lint/files.sh
status=0
complain() {
	echo "$1"
	status=1
}

# A table (.def) has a line for each of its items.
unfit=$(files | grep -E '\.(c|h|S|def|awk|mk|py|rb|sh)$|^Makefile$|^scripts/|^\.ci/' |
	xargs -r awk '
		function check() {
			if (!licensed)
				print name ": no SPDX-License-Identifier: MIT in its first lines"
			if (lines > 800 && name !~ /\.def$/)
				print name ": " lines " lines; 800 is the limit"
		}
		FNR == 1 {
			if (NR > 1)
				check()
			name = FILENAME
			seen[name] = 1
			licensed = 0
		}
		FNR <= 5 && /SPDX-License-Identifier: MIT/ { licensed = 1 }
		{ lines = FNR }
		END {
			if (NR > 0)
				check()
			for (i = 1; i < ARGC; i++)
				if (!(ARGV[i] in seen))
					print ARGV[i] ": empty"
		}') || complain "$0: awk failed"
[ -z "$unfit" ] || complain "$unfit"

folders='app|bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|tmp|usr|var|nonexistent'
foreign=$(files | xargs -r grep -IoHnE "(^|[[:space:]\"'=(:])/[a-z][a-z0-9_.-]*/[A-Za-z0-9._-]+" |
	grep -vE ":[^/]?/($folders)/")
[ -z "$foreign" ] || complain "$foreign
a path that not every machine has"

hosts='github\.com|bugs\.ruby-lang\.org|docs\.ruby-lang\.org|www\.ruby-lang\.org|elfutils\.org|debuginfod\.[a-z.]*|docs\.oasis-open\.org|json-schema\.org|www\.speedscope\.app|www\.w3\.org|www\.debian\.org|flapenguin\.me|example\.com|127\.0\.0\.1'
# The files in tests/schemas come from other projects.
foreign=$(files | grep -v '^tests/schemas/' | xargs -r grep -IoHnE 'https?://[A-Za-z0-9.-]+' |
	grep -vE "https?://($hosts)\$")
[ -z "$foreign" ] || complain "$foreign
a host that is not in the list of $0"

silent=$(files analyzer plugin | grep -E '\.[ch]$' | grep -vE '^analyzer/(base/text\.h|target/output/json_tree\.[ch])$' |
	xargs -r grep -nE '\b(open_memstream|json_object_to_json_string(_ext|_length)?)\(')
[ -z "$silent" ] || complain "$silent
leaves out text if memory is short: use rcore_open_text() of base/text.h, or target/output/json_tree.h"

exit $status
