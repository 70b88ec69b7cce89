#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The gem for 64-bit ARM, in the Debian for it that setup unpacks, under qemu's
# user emulation: Ruby installs it, its command prints what the dynamic one of
# this machine prints for a core of that Ruby, and its library loads.
#
#	tests/dist/arm.sh RCORE
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

try() {
	root=$1 files=$2
	mount -t tmpfs -o mode=1777 tmp "$root/tmp"
	mkdir -p "$root/proc"
	mount --rbind /proc "$root/proc"
	mount --rbind /dev "$root/dev"
	cp -r "$files/." "$root/tmp"
	cd "$root/tmp"
	emulated() {
		chroot "$root" /tmp/qemu -E PATH=/usr/bin:/bin -E HOME=/tmp -E GEM_HOME=/tmp/gems "$@"
	}
	emulated /usr/bin/ruby3.1 /usr/bin/gem3.1 install --quiet --local --no-document --install-dir /tmp/gems /tmp/rcore.gem >log 2>&1 ||
		fail "gem install: $(cat log)"
	emulated /usr/bin/ruby3.1 /tmp/library.rb >log 2>&1 || fail "the library of the gem: $(cat log)"
	command=/tmp/$(echo gems/gems/rcore-*/libexec/bin/rcore)
	emulated "$command" --version >got || fail "the command of the gem"
	grep -q '^rcore [0-9]' got || fail "rcore --version: $(cat got)"

	# qemu writes a core of what it emulates; the kernel may write one of qemu.
	(ulimit -c unlimited && emulated /usr/bin/ruby3.1 /tmp/program.rb) >log 2>&1 || true
	mv qemu_*.core core || fail "no core: $(cat log)"
	for arguments in "analyze" "analyze --json" "doctor" "heap"; do
		# shellcheck disable=SC2086 # words
		chroot "$root" "/tmp/built/$(cd built && echo ld-linux*)" --library-path /tmp/built /tmp/built/rcore $arguments /tmp/core >expected 2>&1 ||
			fail "rcore $arguments fails: $(cat expected)"
		# shellcheck disable=SC2086 # words
		emulated "$command" $arguments /tmp/core >got 2>&1 || fail "rcore $arguments of the gem fails: $(cat got)"
		cmp expected got || fail "rcore $arguments: another report of the gem"
	done
	emulated "$command" analyze /tmp/core >got 2>&1
	grep -q 'held_back.*program.rb:1' got || fail "a report without the fiber: $(cat got)"
}

if [ "${1-}" = --try ]; then
	try "$2" "$3"
	exit
fi

rcore=$(realpath "$1")
# shellcheck source=tests/dist/needs.sh
. "$(dirname "$0")/needs.sh"
[ "$(id -u)" = 0 ] || { echo "not root: the gem for 64-bit ARM not tested"; exit 0; }
unshare -m true 2>/dev/null || { echo "no mount namespaces here: the gem for 64-bit ARM not tested"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s "-j$(nproc)" BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage" aarch64-dist >"$work/log" 2>&1 || fail "no gem: $(tail -n 5 "$work/log")"
mkdir -p "$work/files/built" "$work/archive"
tar -xf "$work/dist/"*-aarch64-linux.tar.gz -C "$work/archive" --strip-components=1
check_needs "$work/archive" aarch64
cp "$work/dist/"*-aarch64-linux.gem "$work/files/rcore.gem"
cp "$(command -v qemu-aarch64-static)" "$work/files/qemu"
# The dynamic one, with its libraries where no process has them.
# shellcheck disable=SC2046 # words
cp "$rcore" $(ldd "$rcore" | grep -o '/[^ ]*') "$work/files/built"
cat >"$work/files/program.rb" <<'RUBY'
def held_back; Fiber.yield; end
fiber = Fiber.new { held_back }
fiber.resume
Dir.chdir("/tmp")
Process.kill(:ABRT, Process.pid)
sleep
RUBY
cat >"$work/files/library.rb" <<'RUBY'
require "rcore"
require "fiddle"
abi = Fiddle.dlopen(Rcore::LIBRARY)["rcore_plugin_abi"]
exit Fiddle::Function.new(abi, [], Fiddle::TYPE_INT).call.positive?
RUBY
unshare -m "$0" --try "${RCORE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rcore}/rubies/3.1-arm64" "$work/files"
