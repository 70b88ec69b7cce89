# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For tests of what `make dist` builds: checks that it needs of a machine only
# what docs/install.md says. The caller has the function `fail`.

# check_needs FOLDER MACHINE: FOLDER is what the archive unpacks to.
check_needs() {
	command=$1/bin/rcore library=$1/lib/librcore.so.0
	kernel=$([ "$2" = x86_64 ] && echo 3.2.0 || echo 3.7.0)
	size=$(stat -c %s "$command")
	[ "$size" -lt 6000000 ] || fail "the command has $size bytes; 6 MB is the limit"
	readelf -n "$command" 2>/dev/null | grep -q "OS: Linux, ABI: $kernel" || fail "the command is not for Linux $kernel"
	if readelf -lW "$command" | grep -q INTERP || readelf -dW "$command" | grep -q NEEDED; then
		fail "the command needs a library"
	fi
	needed=$(readelf -dW "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^\(lib[cm]\|libpthread\|libdl\|ld-linux-.*\)\.so\.' || true)
	[ -z "$needed" ] || fail "the library needs $needed"
	newest=$(readelf -VW "$library" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
	[ "$(printf '%s\n' GLIBC_2.28 "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ] || fail "the library needs $newest"
	for name in elfutils libarchive json-c protobuf-c libiberty zlib Zstandard LZ4 XZ bzip2 'GNU C Library' uthash xxHash; do
		grep -q -- "^- .*$name" "$1/share/doc/rcore/LICENCES-OF-LIBRARIES" || fail "no licence of $name"
	done
}
