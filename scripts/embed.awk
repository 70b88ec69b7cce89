# SPDX-License-Identifier: MIT
#
#	awk -v name=NAME -f scripts/embed.awk FILE
#
# Prints FILE as a C string: const char NAME[].
BEGIN { printf "extern const char %s[];\nconst char %s[] =\n", name, name }
{
	# Releases of mawk disagree about backslashes in a replacement, not about "&".
	gsub(/\\/, "&&")
	gsub(/"/, "\\\"")
	printf "\t\"%s\\n\"\n", $0
}
END { print "\t\"\";" }
