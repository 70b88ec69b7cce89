#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The gem is installed without a compiler, runs, and leaves nothing when it is uninstalled. A test suite that
# requires rcore/minitest, rcore/rspec or rcore/rake reports its crashes. The machine's core_pattern is only read.
#
#	tests/dist/gem.sh RCORE
set -eu

rcore=$(realpath "$1")
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/ci/core_pattern.sh
. "$top/tests/ci/core_pattern.sh"
# shellcheck source=tests/dist/needs.sh
. "$top/tests/dist/needs.sh"

fail() {
	echo "$*" >&2
	exit 1
}

make -s BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage" gem
chmod 755 "$work"
GEM_PATH=$work/gems:$(gem environment gempath)
export GEM_HOME=$work/gems GEM_PATH
export PATH=$work/gems/bin:$PATH
cd "$work"
gem install --quiet --local --no-document --env-shebang dist/rcore-*.gem >log 2>&1 || fail "gem install: $(cat log)"
[ "$(rcore --version)" = "$("$rcore" --version)" ] || fail "rcore --version"

libexec=$(echo gems/gems/rcore-*/libexec)
check_needs "$libexec" "$(uname -m)"
# `make setup-tests` installs what `rcore record --ebpf` is built with.
grep -q '^- libbpf' "$libexec/share/doc/rcore/LICENCES-OF-LIBRARIES" || fail "no licence of libbpf"

cat >program.rb <<'RUBY'
Fiber.new { Fiber.yield }.resume
$stdout.puts "ready"
$stdout.flush
$stdin.read
RUBY
mkfifo in out
ruby program.rb <in >out &
pid=$!
exec 8>in 9<out
read -r _ <&9
gcore -o core $pid >log 2>&1 || fail "no core: $(cat log)"
exec 8>&- 9<&-
wait $pid
"$rcore" analyze core.$pid >expected
rcore analyze core.$pid >got
cmp expected got || fail "another report"
rcore gdb core.$pid -- -nx -batch -ex ruby-fibers >got 2>&1
grep -q 'Fiber.yield' got || fail "rcore gdb: $(cat got)"
gcc -o stacks "$top/examples/stacks.c" -I"$libexec/include/rcore" "$libexec/lib/librcore.so" -Wl,-rpath,"$work/$libexec/lib" >log 2>&1 ||
	fail "a program with librcore: $(cat log)"
./stacks core.$pid >got 2>&1 || fail "the program with librcore: $(cat got)"
grep -q '^thread T1$' got || fail "the program with librcore: $(cat got)"
[ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups "$(command -v rcore)" --version >/dev/null ||
	fail "another user cannot run it"

if has_namespaces && has_cores; then
	echo 'def crash = Process.kill(:ABRT, Process.pid) && sleep' >crash.rb
	echo 'require "./crash"; crash' >suite_test.rb
	printf 'require "rcore/rake"\ntask(:test) { require "./crash"; crash }\n' >Rakefile
	for hook in "ruby -rrcore/minitest suite_test.rb" "ruby -rrcore/rspec suite_test.rb" "rake test"; do
		rm -rf rcore-reports
		status=0
		# shellcheck disable=SC2086 # words
		with_pattern "$(cat $setting)" $hook >log 2>&1 || status=$?
		[ $status = 134 ] || fail "$hook: status $status: $(cat log)"
		grep -q 'crash.rb:1' rcore-reports/crash-1.txt || fail "$hook: no report: $(cat log)"
	done
else
	echo "no mount namespaces, or no cores, here: reports of a test suite not tested"
fi

# As docs/install.md says for a Gemfile, with no server of gems.
mkdir -p bundled/vendor/cache
cp dist/rcore-*-linux.gem bundled/vendor/cache
printf 'source "https://example.com"\ngem "rcore", group: :development\n' >bundled/Gemfile
bundle() {
	env -u GEM_HOME -u GEM_PATH HOME="$work/home" BUNDLE_PATH="$work/bundle" ruby -e 'load Gem.bin_path("bundler", "bundle")' "$@"
}
(cd bundled && bundle install --local) >log 2>&1 || fail "bundle install: $(cat log)"
(cd bundled && bundle exec rcore --version) >got 2>log || fail "bundle exec: $(cat log)"
[ "$(cat got)" = "$("$rcore" --version)" ] || fail "bundle exec rcore: $(cat got)"

# The same with a server of gems.
if gem help commands | grep -q generate_index; then
	rm -rf bundle
	mkdir -p server/gems added
	cp dist/rcore-*-linux.gem server/gems
	gem generate_index -d server >log 2>&1 || fail "gem generate_index: $(cat log)"
	echo "source 'file://$work/server'" >added/Gemfile
	(cd added && bundle add rcore --group development) >log 2>&1 || fail "bundle add: $(cat log)"
	grep -q 'gem "rcore".*development' added/Gemfile || fail "bundle add: $(cat added/Gemfile)"
	(cd added && bundle exec rcore --version) >got 2>log || fail "bundle exec: $(cat log)"
	[ "$(cat got)" = "$("$rcore" --version)" ] || fail "bundle exec rcore: $(cat got)"
else
	echo "this RubyGems makes no index: bundle add not tested"
fi

# The source gem reports what is missing before it compiles anything, and on
# which systems rcore runs.
extconf=$top/gem/ext/extconf.rb
ruby=$(ruby -e 'print RbConfig.ruby')
mkdir -p none empty
for name in sh gcc; do ln -s "$(command -v $name)" none; done
(cd empty && ! PATH=$work/none "$ruby" "$extconf") >got 2>&1 || fail "extconf.rb needs nothing: $(cat got)"
grep -q 'cannot be built.*without: make, awk, pkg-config, protoc-c, libelf, libdw' got || fail "extconf.rb: $(cat got)"
grep -q 'Debian, Ubuntu: gcc make pkg-config libelf-dev' got || fail "extconf.rb: $(cat got)"
(cd empty && ! "$ruby" -rrbconfig -e 'RbConfig::CONFIG["host_os"] = "darwin24"; load ARGV[0]' "$extconf") >got 2>&1 || fail "extconf.rb builds on macOS"
grep -q '^rcore: runs on Linux, .* not on x86_64-darwin24' got || fail "extconf.rb on macOS: $(cat got)"
[ -z "$(ls empty)" ] || fail "extconf.rb wrote $(ls empty)"
# It names the packages that setup installs.
for package in $(sed -n 's/^build_packages="\(.*\)"/\1/p' "$top/scripts/setup"); do
	case $package in libc6-dev | gdb | ruby) continue ;; esac
	grep -qw -- "$package" "$extconf" || fail "extconf.rb does not name $package"
done
# RubyGems takes the gem with glibc and with musl.
for system in linux linux-gnu linux-musl; do
	ruby -e 'own, here = ARGV.map { |name| Gem::Platform.new(name) }; exit own === here' "$(uname -m)-linux" "$(uname -m)-$system" ||
		fail "RubyGems does not take the gem for $(uname -m)-$system"
done

gem uninstall --quiet --executables rcore >log 2>&1 || fail "gem uninstall: $(cat log)"
rest=$(find gems -name '*rcore*')
[ -z "$rest" ] || fail "left behind: $rest"
