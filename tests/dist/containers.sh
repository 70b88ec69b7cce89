#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The recipes of docs/install.md for containers, with namespaces on one machine:
# a Ruby is process 1 of a container (its own PID and mount namespace, with the
# root of another Debian), and rcore runs in a container made as
# examples/container/Dockerfile says.
#
#	tests/dist/containers.sh RCORE
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

# Docker's own capabilities, and with them what `--cap-add SYS_PTRACE` adds.
docker=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap
adding=$docker,+sys_ptrace

# The host: start COMMAND in a container whose root is $root; sets $outer, the
# PID on the host of its process 1. As in a container, $root is the root of its
# mounts: the paths in /proc depend on it.
start() {
	rm -f "$root/tmp/ready"
	# shellcheck disable=SC2016 # the inner shell expands it
	unshare --pid --mount --fork --kill-child sh -c 'mount --rbind "$0" "$0" && mount -t proc proc "$0/proc" && cd "$0" &&
		pivot_root . mnt && exec chroot . env -i PATH=/usr/bin:/bin "$@"' "$root" "$@" 2>launcher &
	launcher=$!
	trap 'kill -KILL "$launcher" ${outer:+"$outer"} 2>/dev/null' EXIT
	outer=
	until [ -s "$root/tmp/ready" ]; do
		kill -0 $launcher 2>/dev/null || fail "no container of $*: $(cat launcher)"
		sleep 0.1
	done
	outer=$(cat /proc/$launcher/task/$launcher/children)
	outer=${outer%% *}
}

stop() {
	kill -KILL "$outer"
	wait $launcher 2>/dev/null || true
	trap - EXIT
}

# beside CAPABILITIES COMMAND...: runs it in a container of the image that
# shares the PID namespace of process $outer.
beside() {
	capabilities=$1
	shift
	# shellcheck disable=SC2016 # the inner shell expands it
	nsenter --target "$outer" --pid unshare -m sh -c 'mount -t proc proc "$0/proc" && capabilities=$1 && shift &&
		exec setpriv --bounding-set "$capabilities" chroot "$0" "$@"' "$image" "$capabilities" "$@"
}

# same COMMAND...: the entry point prints what the dynamic rcore prints there.
same() {
	beside "$adding" "/opt/$(cd "$image/opt" && echo ld-linux*)" --library-path /opt /opt/rcore "$@" >expected 2>&1 || fail "rcore $*: $(cat expected)"
	beside "$adding" "$entry" "$@" >got 2>&1 || fail "rcore $* in a container: $(cat got)"
	cmp expected got || fail "rcore $*: another report in a container"
}

# whole WHAT: the file `got` has the fiber, and nothing is missing.
whole() {
	grep -q 'Object#held_back' got || fail "$1: no fiber: $(cat got)"
	! grep '!' got || fail "$1: has problems: $(cat got)"
}

try() {
	root=$1 ruby=$2 image=$3 entry=$4
	cd "$image/.."
	mount -t tmpfs -o mode=1777 tmp "$root/tmp"
	mount --rbind /dev "$root/dev"
	cat >"$root/tmp/program.rb" <<-'RUBY'
		def held_back; Fiber.yield; end
		fiber = Fiber.new { held_back }
		fiber.resume
		File.write("/tmp/ready", "ready")
		sleep
	RUBY

	# docker run --pid=container:web --cap-add=SYS_PTRACE; an ephemeral container with --target.
	start "$ruby" /tmp/program.rb
	same analyze -p 1
	whole "the process of another container"
	same waits -p 1
	same ps
	if beside "$docker" "$entry" analyze -p 1 >got 2>&1; then fail "no capability, and yet: $(cat got)"; fi
	grep -q -e '--cap-add SYS_PTRACE' got || fail "no word of the capability: $(cat got)"
	# From the host.
	"$rcore" analyze -p "$outer" >got 2>&1 || fail "rcore analyze -p on the host: $(cat got)"
	whole "a container's process on the host"
	# In a volume: a pack, and a core with the files of its container.
	mkdir -p volume "$image/srv" "$image/app"
	gcore -o volume/core "$outer" >log 2>&1 || fail "no core: $(cat log)"
	mount --bind volume "$image/srv"
	beside "$adding" "$entry" pack -p 1 -o /srv/pack >log 2>&1 || fail "no pack: $(cat log)"
	stop
	mount -o remount,bind,ro "$image/srv"
	mount --rbind "$root" "$image/app"
	chroot "$image" "$entry" analyze /srv/pack >got 2>&1 || fail "a pack in a volume: $(cat got)"
	whole "a pack in a volume"
	chroot "$image" "$entry" analyze "/srv/core.$outer" --sysroot /app >got 2>&1 || fail "a core in a volume: $(cat got)"
	whole "a core in a volume"
	umount -R "$image/srv" "$image/app"

	# A pod with shareProcessNamespace: process 1 only waits.
	start sh -c "$ruby /tmp/program.rb; true"
	same ps
	pid=$(awk '/program.rb/ { print $1; exit }' got)
	[ "$pid" != 1 ] || fail "the pod's process 1 is no Ruby: $(cat got)"
	same analyze -p "$pid"
	whole "a process of a pod"
	same analyze -p program.rb
	stop
}

if [ "${1-}" = --try ]; then
	shift
	rcore=$5
	try "$@"
	exit
fi

rcore=$(realpath "$1")
top=$(cd "$(dirname "$0")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "not root: recipes for containers not tested"; exit 0; }
unshare -m --pid --fork true 2>/dev/null || { echo "no namespaces here: recipes for containers not tested"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make -s BUILD="$BUILD" DIST="$work/dist" STAGES="$work/stage" dist-machine
# What the Dockerfile says: ARG, COPY and ENTRYPOINT; and /proc, as every container has it.
dockerfile=$top/examples/container/Dockerfile
RCORE=$(sed -n 's/^ARG RCORE=//p' "$dockerfile")
read -r from to < <(sed -n "s/^COPY \\\$RCORE/$RCORE/p" "$dockerfile")
entry=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]/\1/p' "$dockerfile")
mkdir -p "$work/image/proc" "$work/image/opt"
cp "$work/dist/$from" "$work/image$to"
# The dynamic one, to compare with.
# shellcheck disable=SC2046 # words
cp "$rcore" $(ldd "$rcore" | grep -o '/[^ ]*') "$work/image/opt"
read -r _ folder _ ruby _ < <(grep '^2.7 ' "$top/tests/packages/rubies")
unshare -m "$0" --try "${RCORE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rcore}/rubies/$folder" "$ruby" "$work/image" "$entry" "$rcore"
