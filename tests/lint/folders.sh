#!/bin/sh
# SPDX-License-Identifier: MIT
# A header of each folder of analyzer/ introduces it: a comment that begins with "FOLDER/ ".
status=0
for folder in $(git ls-files -co --exclude-standard 'analyzer/*/*.h' | sed 's|/[^/]*$||' | sort -u); do
	grep -qE "^ \* ${folder#analyzer/}/ [a-z]" "$folder"/*.h || {
		echo "$folder: no header introduces the folder (\"${folder#analyzer/}/ reads ...\": what is here, what it may include, where to start)"
		status=1
	}
done
exit $status
