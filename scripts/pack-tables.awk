# SPDX-License-Identifier: MIT
#
#	awk -f scripts/pack-tables.awk analyzer/layout/tables/*.layout
#
# Prints the layout tables as C strings (layout/tables.h). The first table of a series and
# machine stands whole, the others only with the lines in which they differ from it.
BEGIN {
	print "#include \"layout/tables.h\"\n"
	print "const struct rcore_layout_table rcore_layout_tables[] = {"
}

FNR == 1 {
	if (name)
		print "},"
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.layout$/, "", name)
	split(name, part, /[.-]/)
	machine = name
	sub(/^[^-]*-/, "", machine)
	sub(/-.*/, "", machine)
	series = part[1] "." part[2] " " machine
	is_first = !(series in base)
	if (is_first)
		base[series] = count
	count++
	printf "{\"%s\", %d,\n", name, is_first ? -1 : base[series]
}

/^#/ || /^$/ || !is_first && (series, $0) in lines {
	next
}

{
	if (is_first && !/^ruby/)
		lines[series, $0]
	gsub(/["\\]/, "\\\\&")
	printf "\"%s\\n\"\n", $0
}

END {
	if (name)
		print "},"
	print "{0}};"
}
