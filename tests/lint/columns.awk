# SPDX-License-Identifier: MIT
# Checks that comments are at most 80 columns wide, and code at most 100. A tab
# is 8 columns, and each UTF-8 character is one. Usage: LC_ALL=C awk -f
# columns.awk FILE...

BEGIN { MAX_COMMENT = 80; MAX_CODE = 100 }

# Returns the number of columns that `line` takes up.
function columns(line,    parts, count, i, at)
{
	gsub(/[\200-\277]/, "", line)
	count = split(line, parts, "\t")
	at = length(parts[1])
	for (i = 2; i <= count; i++)
		at = at + 8 - at % 8 + length(parts[i])
	return at
}

function complain(limit, what)
{
	printf "%s:%d: %s wider than %d columns\n", FILENAME, FNR, what, limit
	status = 1
}

FNR == 1 { inside = 0; by_hash = FILENAME ~ /\.(py|rb)$/; is_table = FILENAME ~ /\.def$/ }

{
	width = columns($0)
	text = $0
	gsub(/\\./, "", text)
	gsub(/"[^"]*"/, "", text)
	is_comment = by_hash ? text ~ /^[ \t]*#/ : inside
	while (!by_hash && text != "") {
		if (inside && !(at = index(text, "*/")))
			break
		if (!inside && !(at = index(text, "/*")))
			break
		is_comment = 1
		text = substr(text, at + 2)
		inside = !inside
	}
	# A row of a table may have its comment next to it.
	if (is_comment && !is_table && width > MAX_COMMENT)
		complain(MAX_COMMENT, "a comment")
	else if (!by_hash && width > MAX_CODE)
		complain(MAX_CODE, "code")
}

END { exit status }
