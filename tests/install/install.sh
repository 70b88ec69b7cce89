#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Checks that `make install` installs the public API and no more, and that this
# is enough to build examples/stacks.c with pkg-config, shared and static, and
# to load the GDB commands, and that `make uninstall` removes all of it:
#
#	BUILD=build tests/install/install.sh
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What `scripts/measure` leaves in build/measure is not read by make, although
# CRuby's probes.d has the suffix of a list of files.
mkdir -p "$work/build/measure"
echo 'provider ruby {' >"$work/build/measure/probes.d"
make -n BUILD="$work/build" clean >/dev/null

make -s BUILD="$BUILD" DESTDIR="$work/dest" PREFIX=/usr install
export PKG_CONFIG_PATH="$work/dest/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/dest"

tests/install/api "$work/dest/usr/include/rcore" "$work/dest/usr/lib/librcore.so"

# Run the example, shared and static, on a core of a small program and on the
# program itself.
strict='-std=c11 -Wall -Wextra -Werror -pedantic'
# shellcheck disable=SC2086,SC2046 # words
gcc $strict -o "$work/shared" examples/stacks.c $(pkg-config --cflags --libs rcore) -Wl,-rpath,"$work/dest/usr/lib"
# shellcheck disable=SC2086,SC2046 # words
gcc $strict -o "$work/static" examples/stacks.c $(pkg-config --cflags rcore) \
	"$work/dest/usr/lib/librcore.a" $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs libelf libdw json-c libarchive zlib libprotobuf-c) \
	$(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs libdeflate 2>/dev/null || true) -l:libiberty.a -lm
cat >"$work/program.rb" <<'RUBY'
def work = Fiber.yield
fiber = Fiber.new { work }
fiber.resume
$stdout.puts "ready"
$stdout.flush
$stdin.read
RUBY
mkfifo "$work/in" "$work/out"
ruby "$work/program.rb" <"$work/in" >"$work/out" &
program=$!
exec 8>"$work/in" 9<"$work/out"
read -r _ <&9
gdb -q -batch -nx -p "$program" -ex "generate-core-file $work/core" >"$work/gdb.log" 2>&1 || { cat "$work/gdb.log"; exit 1; }
for command in shared static; do
	for target in "$work/core" "$program"; do
		"$work/$command" "$target" >"$work/stacks"
		grep -q "^thread T1$" "$work/stacks"
		grep -q "^    Object#work at $work/program.rb:1$" "$work/stacks"
		grep -q "^    <main> at $work/program.rb:6$" "$work/stacks"
	done
	! "$work/$command" "$work/none" 2>"$work/errors"
	grep -q 'none: no such file' "$work/errors"
done
exec 8>&- 9<&-
wait "$program"

gdb -q -batch -nx -ex "source $work/dest/usr/share/rcore/gdb/rcore-gdb.py" -ex 'help ruby-fibers' | grep -q Usage
libruby=$(realpath /usr/lib/x86_64-linux-gnu/libruby-*.so.*.*.* | head -n 1)
gdb -q -batch -nx -iex "set auto-load scripts-directory $work/dest/usr/share/gdb/auto-load" \
	-iex "add-auto-load-safe-path $work/dest" -iex 'set debuginfod enabled off' "$libruby" -ex 'help ruby-fibers' | grep -q Usage
"$work/dest/usr/bin/rcore" --version | grep -q .

# `make uninstall` removes everything of rcore and nothing else. Folders may
# have spaces in their names. Python may write __pycache__ beside the scripts.
mv "$work/dest" "$work/an other"
man=$work/an\ other/usr/share/man/man1
mkdir -p "$work/an other/usr/share/rcore/gdb/rcore_gdb/__pycache__"
touch "$work/an other/usr/share/rcore/gdb/rcore_gdb/__pycache__/commands.pyc"
make -s BUILD="$BUILD" DESTDIR="$work/an other" PREFIX=/usr install
touch "$man/other.1"
make -s BUILD="$BUILD" DESTDIR="$work/an other" PREFIX=/usr uninstall
[ "$(find "$work/an other" ! -type d)" = "$man/other.1" ] || { find "$work/an other" ! -type d; exit 1; }
[ -z "$(find "$work/an other" -name '*rcore*')" ]

# Programs find a library in PREFIX through ldconfig, which a package calls itself.
mkdir "$work/programs"
printf '#!/bin/sh\necho called >>"%s"\n' "$work/called" >"$work/programs/ldconfig"
printf '#!/bin/sh\necho 0\n' >"$work/programs/id"
chmod 755 "$work/programs/ldconfig" "$work/programs/id"
PATH="$work/programs:$PATH" make -s BUILD="$BUILD" DESTDIR="$work/dest" install-library
[ ! -e "$work/called" ]
PATH="$work/programs:$PATH" make -s BUILD="$BUILD" DESTDIR= PREFIX="$work/prefix" install-library
[ "$(cat "$work/called")" = called ]
