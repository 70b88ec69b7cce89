# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For tests of what reads or sets the kernel's core_pattern: a file stands in its place, in a mount namespace of the
# command alone. The machine's own setting is never written, so the kernel goes on writing cores where that says.
# The caller has set `work`, its temporary folder.
: "${work:?}"

setting=/proc/sys/kernel/core_pattern

# Whether such a namespace can be made here.
has_namespaces() {
	unshare -m true 2>/dev/null
}

# Whether the kernel writes a core into the folder in which its process stands.
has_cores() {
	case $(cat $setting) in
	core | core.%p) ;;
	*) false ;;
	esac
}

# with_pattern PATTERN COMMAND...: nobody can write it but who knows of $work/pattern.
with_pattern() {
	printf '%s\n' "$1" >"$work/pattern"
	shift
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$0" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"' \
		"$work/pattern" $setting "$@"
}

# The same for a command that may set it; $work/pattern is what it sets.
with_own_pattern() {
	printf '%s\n' "$1" >"$work/pattern"
	shift
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$work/pattern" $setting "$@"
}
