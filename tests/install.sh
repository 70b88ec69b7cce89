#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What `make install` puts down is enough to build a program with pkg-config, shared and static, and to
# load the GDB commands:
#
#	BUILD=build tests/install.sh
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s BUILD="$BUILD" DESTDIR="$work/dest" PREFIX=/usr install
export PKG_CONFIG_PATH="$work/dest/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/dest"

cat >"$work/user.c" <<'C'
#include <rcore.h>

int main(int argc, char **argv)
{
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *err = rcore_open_core(argv[1], NULL, &session);
	if (!err)
		err = rcore_load(session, &snapshot);
	if (!err)
		err = rcore_report_text(snapshot, NULL, stdout);
	if (err)
		puts(err->message);
	rcore_error_free(err);
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	return 0;
}
C
flags=$(pkg-config --cflags --libs rcore)
# shellcheck disable=SC2086 # words
gcc -Wall -Werror -o "$work/shared" "$work/user.c" $flags -Wl,-rpath,"$work/dest/usr/lib"
# shellcheck disable=SC2086,SC2046 # words
gcc -Wall -Werror -o "$work/static" "$work/user.c" $(pkg-config --cflags rcore) \
	"$work/dest/usr/lib/librcore.a" $(PKG_CONFIG_SYSROOT_DIR='' pkg-config --libs libelf libdw json-c libarchive) -l:libiberty.a -lm
for program in shared static; do
	"$work/$program" "$work/none" | grep -q 'none: no such file'
done
gdb -q -batch -nx -ex "source $work/dest/usr/share/rcore/gdb/rcore-gdb.py" -ex 'help ruby-fibers' | grep -q Usage
libruby=$(realpath /usr/lib/x86_64-linux-gnu/libruby-*.so.*.*.* | head -n 1)
gdb -q -batch -nx -iex "set auto-load scripts-directory $work/dest/usr/share/gdb/auto-load" \
	-iex "add-auto-load-safe-path $work/dest" -iex 'set debuginfod enabled off' "$libruby" -ex 'help ruby-fibers' | grep -q Usage
"$work/dest/usr/bin/rcore" --version | grep -q .
