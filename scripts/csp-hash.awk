# SPDX-License-Identifier: MIT
#
#	sha256sum < FILE | awk -v name=NAME -f scripts/csp-hash.awk
#
# Prints the hash as a C string: const char NAME[] = "sha256-...", as content
# security policies write it (in Base64).
BEGIN {
	hex = "0123456789abcdef"
	base = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
}
function digit(text, at) { return index(hex, substr(text, at, 1)) - 1 }
{
	# Three digits are 12 bits, which are two characters; the last one is alone.
	for (i = 1; i + 2 <= 64; i += 3) {
		bits = digit($1, i) * 256 + digit($1, i + 1) * 16 + digit($1, i + 2)
		hash = hash substr(base, int(bits / 64) + 1, 1) substr(base, bits % 64 + 1, 1)
	}
	hash = hash substr(base, digit($1, 64) * 4 + 1, 1) "="
	printf "extern const char %s[];\nconst char %s[] = \"sha256-%s\";\n", name, name, hash
}
