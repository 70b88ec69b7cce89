#!/bin/sh
# SPDX-License-Identifier: MIT
#
# No Debian Ruby carries DWARF. To test how rcore reads it, this compiles the private
# headers of several releases, as the gem datadog-ruby_core_source brings them, with
# -g against each Ruby's own public headers, and compares what rcore reads of the
# result with the built-in tables.
#
#	tests/layout/dwarf.sh RCORE	compare; status 1 if anything differs
#	tests/layout/dwarf.sh fetch	only bring the gem
set -u

gem=datadog-ruby_core_source-3.5.6
cache=${RCORE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rcore}
here=$(cd "$(dirname "$0")" && pwd)
tables=$here/../../analyzer/layout/tables

fail() {
	echo "dwarf: $*" >&2
	exit 1
}

fetch() {
	[ -d "$cache/gems/$gem" ] && return
	if ! { mkdir -p "$cache/gems" && cd "$cache/gems" &&
		"$here/../../scripts/fetch-gems" "${gem%-*}:${gem##*-}" &&
		gem unpack --quiet $gem.gem >/dev/null; }; then
		fail "cannot fetch the gem $gem: check the network and the sources of gem"
	fi
}

# The folder before usr/include/ruby-X.Y.0: the machine's own, or a Ruby's folder.
headers_root() {
	for root in "" "$cache/rubies/$1"; do
		if [ -d "$root/usr/include/ruby-$1.0" ]; then
			echo "$root/"
			return
		fi
	done
	fail "no headers of Ruby $1; \`make setup-tests\` brings them"
}

# The rows of a table that are measured. rb_vm_t grew at its end within 3.3
# (3.3.7).
rows() {
	grep -E '^(struct|enum|[a-z_]+\.)' "$1" | grep -v -e ' -$' -e '^struct vm ' | sort
}

# table_of RELEASE: the table whose range of patch levels has it.
table_of() {
	for table in "$tables/${1%.*}".*-"$machine.layout"; do
		range=$(sed -n 's/^ruby //p' "$table")
		first=${range%%..*} last=${range##*..}
		if [ "${1##*.}" -ge "${first##*.}" ] && [ "${1##*.}" -le "${last##*.}" ]; then
			basename "$table" .layout
			return
		fi
	done
	fail "no table of Ruby $1"
}

# compare SERIES HEADERS NEEDED...: the gem's folder, and what must be found.
compare() {
	series=$1 headers=$2
	shift 2
	release=${headers#ruby-}
	table=$(table_of "${release%-p*}") || return 1
	root=$(headers_root "$series") || return 1
	private=$cache/gems/$gem/lib/datadog/ruby_core_source/$headers
	public=${root}usr/include
	# What such headers leave to the compiler is an error since GCC 14.
	${CC:-cc} -g -w -Wno-implicit-int -Wno-implicit-function-declaration -shared -fPIC -DDWARF_VERSION="\"${release%-p*}\"" -I"$private" -I"$public/ruby-$series.0" \
		-I"$public/$machine-linux-gnu/ruby-$series.0" -o "$work/dwarf.so" "$here/../unit/layout/dwarf/private.c" ||
		fail "cannot compile the headers of $headers"
	"$rcore" layout "$work/dwarf.so" >"$work/dwarf.layout" || fail "rcore layout failed on $headers"
	rows "$tables/$table.layout" >"$work/expected"
	# What the table has not measured cannot be compared.
	grep -E '^(struct|enum|[a-z_]+\.)' "$tables/$table.layout" | sed -E 's/^(struct|enum) /\1_/; s/ .*//' >"$work/measured"
	rows "$work/dwarf.layout" | awk 'NR == FNR { measured[$1]; next }
		(/^(struct|enum) / ? $1 "_" $2 : $1) in measured' "$work/measured" - >"$work/got"
	for needed; do
		grep -q "^$needed\." "$work/got" || fail "$headers: no struct $needed in its DWARF"
	done
	if different=$(comm -23 "$work/got" "$work/expected" | grep .); then
		echo "dwarf: $headers against $table differs; DWARF says:" >&2
		echo "$different" >&2
		return 1
	fi
	echo "dwarf: $headers: $(wc -l <"$work/got") rows, all as in $table"
}

[ $# -eq 1 ] || fail "usage: $0 RCORE | fetch"
(fetch) || exit 1
[ "$1" != fetch ] || exit 0

rcore=$1
machine=$(uname -m)
[ "$machine" = x86_64 ] || fail "no built-in table of $machine to compare with yet"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
compare 2.7 ruby-2.7.0-p0 vm thread ec cfp iseq_body method_def string || status=1
compare 3.1 ruby-3.1.0-p0 vm ractor thread ec cfp iseq_body method_def string || status=1
compare 3.3 ruby-3.3.0-p0 vm ractor thread native_thread ec cfp iseq_body method_def shape classext string || status=1
compare 3.4 ruby-3.4.0-p0 vm ractor thread native_thread ec cfp iseq_body method_def shape classext string || status=1
exit $status
