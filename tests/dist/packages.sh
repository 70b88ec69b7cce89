#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Builds the Debian packages, looks at them with lintian, and installs, runs, removes and purges them. It
# installs and removes packages, so it runs in a Debian made for it:
#
#	scripts/try-minimal SUITE tests/dist/packages.sh
set -eu

fail() {
	echo "packages: $*" >&2
	exit 1
}

[ "$PWD" = /root/rcore ] || fail "this is not a Debian made for this test: run scripts/try-minimal"
export DEBIAN_FRONTEND=noninteractive
apt="apt-get -q -y --no-install-recommends"
apt-get -q update
$apt install build-essential fakeroot lintian
$apt build-dep ./
dpkg-buildpackage -us -uc
lintian --fail-on error,warning --tag-display-limit 0 ../rcore_*.changes

# shellcheck disable=SC2086 # words
$apt install ../rcore_*.deb ../librcore0_*.deb ../librcore-dev_*.deb ruby gdb man-db bash-completion

mkdir -p /root/try
cd /root/try
cat >program.rb <<'RUBY'
fiber = Fiber.new { Fiber.yield }
fiber.resume
$stdout.puts "ready"
$stdout.flush
sleep
RUBY
ruby program.rb >ready &
pid=$!
until [ -s ready ]; do sleep 0.1; done
gdb -q -batch -nx -p $pid -ex "generate-core-file core" >log 2>&1 || fail "no core: $(cat log)"
rcore analyze core | grep -q 'Fiber.yield' || fail "rcore analyze: $(rcore analyze core)"
rcore analyze -p $pid | grep -q 'Fiber.yield' || fail "rcore analyze -p"
# It has the program of record --ebpf; whether the kernel loads it is another matter.
rcore doctor -p $pid >log 2>&1 || true
grep -q '^rcore record --ebpf' log || fail "rcore doctor: $(cat log)"
! grep 'built without BPF' log || fail "the package has no BPF"
rcore gdb core -- -batch -ex ruby-fibers >log 2>&1
grep -q 'Fiber.yield' log || fail "rcore gdb: $(cat log)"
# GDB finds the commands by itself.
gdb -q -batch -p $pid -ex ruby-fibers >log 2>&1
grep -q 'Fiber.yield' log || fail "gdb: $(cat log)"
kill $pid
man -w rcore-analyze >/dev/null || fail "no manual page"
[ "$(rcore complete bt core --thread '')" = T1 ] || fail "rcore complete"
[ -f /usr/share/bash-completion/completions/rcore ] || fail "no completion"
# shellcheck disable=SC2046 # words
gcc -o stacks /usr/share/doc/librcore-dev/examples/stacks.c $(pkg-config --cflags --libs rcore)
./stacks core | grep -q 'thread T1' || fail "the example of librcore-dev"
setpriv --reuid=nobody --regid=nogroup --clear-groups rcore --version >/dev/null || fail "not as another user"

apt-get -q -y remove rcore librcore0 librcore-dev
dpkg --purge rcore librcore0 librcore-dev
rest=$(find / -xdev \( -path /root -o -path /proc \) -prune -o -name '*rcore*' -print | grep -v '^/var/lib/apt/\|^/var/cache/' || true)
[ -z "$rest" ] || fail "left after purge: $rest"
echo "packages: built, clean, installed, run, removed and purged"
