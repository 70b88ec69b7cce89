#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that only target/output/output.c opens files for writing, renames or
# links them, or makes temporary ones, so that no device, link or input is ever
# replaced. base/confine.c names the flags only to refuse them.
. tests/lint/files.sh
writes='\b(O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|O_TRUNC|O_APPEND)\b'
writes="$writes|\\b(creat|mkstemps?|mkostemps?|tmpfile|tempnam|tmpnam|mktemp|renameat2?|rename|linkat|link|truncate)\\("
writes="$writes|\\b(fopen|freopen)\\([^;]*\"[^\",]*[wa+][^\",]*\"\\)"
python='\bopen\([^#]*,[^#]*["'\''][rbt]*[wax+]|\bos\.(open|rename|replace|link|truncate)\(|\b(shutil|tempfile|pathlib)\b'

found=$(
	files analyzer plugin | grep -E '\.[ch]$' | grep -vE '^analyzer/(target/output/output|base/confine)\.c$' |
		xargs -r grep -nE "$writes" | grep -vE '^[^:]*:[0-9]+:[[:space:]]*(/?\*|//)' | grep -vF -e 'open("/dev/null", O_RDWR)' -e 'open("/proc/self/oom_score_adj", '
	files plugin gdb lldb | grep '\.py$' | xargs -r grep -nE "$python"
)
[ -z "$found" ] && exit 0
echo "$found"
echo "opened for writing outside analyzer/target/output/output.c: rcore_output_write() and its like do that"
exit 1
