#!/bin/sh
# SPDX-License-Identifier: MIT
# Usage: tables.sh RCORE FOLDER FILE...: a table into FOLDER from each FILE with DWARF.
set -eu
rcore=$1 folder=$2
shift 2
for file; do
	table=$("$rcore" layout "$file")
	name=$(printf '%s\n' "$table" | sed -n 's/^layout //p')
	printf '%s\n' "$table" >"$folder/$name.layout"
	echo "$folder/$name.layout"
done
