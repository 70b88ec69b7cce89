# SPDX-License-Identifier: MIT
# Checks that a file of analyzer/ includes only from its own folder and from
# lower ones, in the order of analyzer/layers. Only image/, target/core/,
# target/pack/ and layout/dwarf* see elfutils; ruby/, vm/ and proof/ see no
# <sys/...> either, so that they run on fake memory.

BEGIN {
	while ((getline name <"analyzer/layers") > 0)
		if (name !~ /^#/)
			rank[name] = ++count
	elfutils = "^(elfutils/.*|gelf|libelf|libdw|dwarf|nlist)[.]?h?$"
}

function complain(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	failed = 1
}

FNR == 1 {
	depth = split(FILENAME, path, "/")
	own = depth > 2 ? path[2] : "."
	base = path[depth]
	may_elf = own == "image" || (own == "target" && FILENAME ~ /\/target\/(core|pack)\//) ||
		(own == "layout" && base ~ /^dwarf/)
	if (!(own in rank))
		complain("folder " own "/ is not in analyzer/layers")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, quoted, "\"")
	depth = split(quoted[2], path, "/")
	from = depth > 1 ? path[1] : "."
	if (!(from in rank))
		complain("includes \"" quoted[2] "\", of no layer")
	else if (rank[from] > rank[own])
		complain(own "/ includes \"" quoted[2] "\", which is above it in analyzer/layers")
}

/^[ \t]*#[ \t]*include[ \t]*</ {
	split($0, quoted, /[<>]/)
	if (quoted[2] ~ elfutils && !may_elf)
		complain("elfutils' <" quoted[2] "> belongs in image/, target/core/, target/pack/ and layout/dwarf*")
	if (quoted[2] ~ /^sys\// && (own == "ruby" || own == "vm" || own == "proof"))
		complain(own "/ runs on fake memory, without <" quoted[2] ">: define here what you need of it")
}

END { exit failed }
