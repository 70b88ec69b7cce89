# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# For tests of programs that read or set the kernel's core_pattern: a file
# replaces it, in a mount namespace for the command alone. The machine's own
# setting is never written, so the kernel still writes cores where that setting
# says. The caller has set `work`, its temporary folder.
: "${work:?}"

setting=/proc/sys/kernel/core_pattern

# Whether such a namespace can be made here.
has_namespaces() {
	unshare -m true 2>/dev/null
}

# Whether the kernel writes a core into the working directory of its process.
has_cores() {
	case $(cat $setting) in
	core | core.%p) ;;
	*) false ;;
	esac
}

# with_pattern PATTERN COMMAND...: only those who know $work/pattern can write
# to it.
with_pattern() {
	printf '%s\n' "$1" >"$work/pattern"
	shift
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$0" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"' \
		"$work/pattern" $setting "$@"
}

# The same for a command that may set it; its setting is then in $work/pattern.
with_own_pattern() {
	printf '%s\n' "$1" >"$work/pattern"
	shift
	# shellcheck disable=SC2016
	unshare -m sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$work/pattern" $setting "$@"
}
