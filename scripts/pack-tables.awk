# SPDX-License-Identifier: MIT
#
#	awk -f scripts/pack-tables.awk analyzer/layout/tables/*.layout
#
# Prints the layout tables as C strings (layout/tables.h). The first table of a
# series and machine is printed whole, the others only with the lines that
# differ from it. If another table does not measure an item of the first, the
# item is '?' in it.
BEGIN {
	print "#include \"layout/tables.h\"\n"
	print "const struct rcore_layout_table rcore_layout_tables[] = {"
}

# "struct vm", "vm.main_thread" or "enum qnil".
function item() {
	return $1 == "struct" || $1 == "enum" ? $1 " " $2 : $1
}

function finish(  i) {
	for (i = 1; !is_first && i <= items[series]; i++)
		if (!((count, item_at[series, i]) in has))
			printf "\"%s ?\\n\"\n", item_at[series, i]
	print "},"
}

FNR == 1 {
	if (name)
		finish()
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

/^#/ || /^$/ {
	next
}

/^(layout|ruby|machine) / {
	if ($1 == "machine" && !is_first)
		next
	printf "\"%s\\n\"\n", $0
	next
}

{
	has[count, item()]
}

!is_first && (series, $0) in lines {
	next
}

{
	if (is_first) {
		lines[series, $0]
		item_at[series, ++items[series]] = item()
	}
	gsub(/["\\]/, "\\\\&")
	printf "\"%s\\n\"\n", $0
}

END {
	if (name)
		finish()
	print "{0}};"
}
