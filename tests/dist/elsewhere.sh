#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What `make dist` builds works in the Debians of tests/packages/rubies, from 11
# on, which have Ruby, but no compiler that rcore uses: the static command and
# that of the gem print what the dynamic one prints for a core and for a running
# process, the gem's library loads, root and others can install the gem. Nothing
# is written to the folders: each has its own /tmp in a mount namespace.
#
#	tests/dist/elsewhere.sh RCORE [RUBY ...]
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

# same COMMAND...: all three print the same.
same() {
	here "/tmp/built/$(cd built && echo ld-linux*)" --library-path /tmp/built /tmp/built/rcore "$@" >expected 2>&1 ||
		fail "rcore $* fails: $(cat expected)"
	here /tmp/static "$@" >got 2>&1 || fail "rcore $* fails: $(cat got)"
	cmp expected got || fail "rcore $*: another report of the static command"
	here GEM_HOME=/tmp/gems "$ruby" /tmp/gems/bin/rcore "$@" >got 2>&1 || fail "rcore $* of the gem fails: $(cat got)"
	cmp expected got || fail "rcore $*: another report of the gem"
}

# In the root, as root and as another user.
here() {
	chroot "$root" env -i PATH=/usr/bin:/bin HOME=/tmp LC_ALL=C.UTF-8 "$@"
}

nobody() {
	chroot --userspec=65534:65534 "$root" env -i PATH=/usr/bin:/bin HOME=/tmp/home LC_ALL=C.UTF-8 "$@"
}

# Inside the namespace: try FOLDER RUBY FILES, as root.
try() {
	root=$1 ruby=$2 files=$3
	gem=${ruby/ruby/gem}
	mount -t tmpfs -o mode=1777 tmp "$root/tmp"
	mkdir -p "$root/proc" 2>/dev/null || true
	mount --rbind /proc "$root/proc"
	mount --rbind /dev "$root/dev"
	cp -r "$files/." "$root/tmp"
	cd "$root/tmp"

	here "$gem" install --quiet --local --no-document --install-dir /tmp/gems /tmp/rcore.gem >log 2>&1 || fail "gem install: $(cat log)"
	ulimit -c unlimited
	here sh -c "cd /tmp && exec $ruby program.rb" >ready 2>log &
	job=$!
	until [ -s ready ]; do
		kill -0 $job 2>/dev/null || fail "no program: $(cat log)"
		sleep 0.1
	done
	pid=$(cat ready)
	trap 'kill -KILL "$pid" 2>/dev/null' EXIT
	same waits -p "$pid"
	same analyze -p "$pid"
	grep -q 'program.rb:3' got || fail "a report without the thread: $(cat got)"
	here /tmp/static pack -p "$pid" -o /tmp/pack 2>log || fail "rcore pack: $(cat log)"
	kill -ABRT "$pid"
	wait $job 2>/dev/null || true
	trap - EXIT
	core=$(echo core*)
	if [ -s "$core" ]; then
		[ "$core" = core ] || mv "$core" core
	else
		echo "the kernel writes no core into the folder of its process: other Debians with packs alone"
		cp pack core
	fi
	for file in core pack; do
		same analyze /tmp/$file
		grep -q 'Fiber.yield' got || fail "a report without the fiber: $(cat got)"
		same analyze --json /tmp/$file
		same doctor /tmp/$file
	done
	here GEM_HOME=/tmp/gems "$ruby" /tmp/library.rb >log 2>&1 || fail "the library of the gem: $(cat log)"

	mkdir home && chown 65534:65534 home
	nobody "$gem" install --quiet --local --no-document --user-install --bindir /tmp/home/bin /tmp/rcore.gem >log 2>&1 ||
		fail "gem install by another user: $(cat log)"
	nobody "$ruby" /tmp/home/bin/rcore --version >got 2>&1 || fail "another user cannot run it: $(cat got)"
	nobody "$gem" uninstall --quiet --executables --user-install --bindir /tmp/home/bin rcore >log 2>&1 ||
		fail "gem uninstall by another user: $(cat log)"
	[ -z "$(find home -name '*rcore*')" ] || fail "left behind: $(find home -name '*rcore*')"
}

if [ "${1-}" = --try ]; then
	try "$2" "$3" "$4"
	exit
fi

rcore=$(realpath "$1")
shift
[ "$(id -u)" = 0 ] || { echo "not root: other Debians not tested"; exit 0; }
unshare -m true 2>/dev/null || { echo "no mount namespaces here: other Debians not tested"; exit 0; }
top=$(cd "$(dirname "$0")/../.." && pwd)
rubies=${RCORE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rcore}/rubies
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage" gem
mkdir -p "$work/files/built"
cp "$work/dist/"*-linux "$work/files/static"
cp "$work/dist/"*-linux.gem "$work/files/rcore.gem"
# The dynamic one, with its libraries where no process has them.
# shellcheck disable=SC2046 # words
cp "$rcore" $(ldd "$rcore" | grep -o '/[^ ]*') "$work/files/built"
cat >"$work/files/program.rb" <<'RUBY'
fiber = Fiber.new { Fiber.yield }
fiber.resume
Thread.new { Mutex.new.lock; sleep }
Thread.pass until Thread.list.last.stop?
puts Process.pid
$stdout.flush
sleep
RUBY
# What a debugger does first.
cat >"$work/files/library.rb" <<'RUBY'
require "rcore"
require "fiddle"
abi = Fiddle.dlopen(Rcore::LIBRARY)["rcore_plugin_abi"]
exit Fiddle::Function.new(abi, [], Fiddle::TYPE_INT).call.positive?
RUBY
[ $# -gt 0 ] || set -- 2.7 3.1 3.3 3.4
for name in "$@"; do
	read -r _ folder suite ruby _ < <(grep "^$name " "$top/tests/packages/rubies")
	# The machine's own Ruby has no folder.
	[ "$name" != "$folder" ] || [ ! -x "$ruby" ] || continue
	unshare -m "$0" --try "$rubies/$folder" "$ruby" "$work/files" || fail "Debian's $suite: failed (above is why)"
done
