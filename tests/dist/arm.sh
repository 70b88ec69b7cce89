#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The gem for 64-bit ARM, in the Debian for it that setup unpacks, under qemu's user emulation: Ruby installs
# it, its command runs and its library loads.
#
#	tests/dist/arm.sh
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
	cp "$files"/* "$root/tmp"
	cd "$root/tmp"
	emulated() {
		chroot "$root" /tmp/qemu -E PATH=/usr/bin:/bin -E HOME=/tmp -E GEM_HOME=/tmp/gems "$@"
	}
	emulated /usr/bin/ruby3.1 /usr/bin/gem3.1 install --quiet --local --no-document --install-dir /tmp/gems /tmp/rcore.gem >log 2>&1 ||
		fail "gem install: $(cat log)"
	emulated /usr/bin/ruby3.1 /tmp/library.rb >log 2>&1 || fail "the library of the gem: $(cat log)"
	emulated "$(cd "$root" && echo tmp/gems/gems/rcore-*/libexec/bin/rcore)" --version >got || fail "the command of the gem"
	grep -q '^rcore [0-9]' got || fail "rcore --version: $(cat got)"
}

if [ "${1-}" = --try ]; then
	try "$2" "$3"
	exit
fi

[ "$(id -u)" = 0 ] || { echo "not root: the gem for 64-bit ARM not tested"; exit 0; }
unshare -m true 2>/dev/null || { echo "no mount namespaces here: the gem for 64-bit ARM not tested"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s "-j$(nproc)" BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage" aarch64-dist >"$work/log" 2>&1 || fail "no gem: $(tail -n 5 "$work/log")"
mkdir "$work/files"
cp "$work/dist/"*-aarch64-linux.gem "$work/files/rcore.gem"
cp "$(command -v qemu-aarch64-static)" "$work/files/qemu"
cat >"$work/files/library.rb" <<'RUBY'
require "rcore"
require "fiddle"
abi = Fiddle.dlopen(Rcore::LIBRARY)["rcore_plugin_abi"]
exit Fiddle::Function.new(abi, [], Fiddle::TYPE_INT).call.positive?
RUBY
unshare -m "$0" --try "${RCORE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rcore}/rubies/3.1-arm64" "$work/files"
