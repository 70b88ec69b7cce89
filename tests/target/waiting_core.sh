# SPDX-License-Identifier: MIT
#
# For scripts that give cores to rcore collect; source it. Starts a Ruby program that sleeps, with the variables that
# are set for it, in a new folder, and ends and removes both. Sets RCORE, `work`, `pid`, `core`.
RCORE=$1
work=$(mktemp -d)
chmod 755 "$work"
cd "$work"
trap 'kill $pid 2>/dev/null || true; rm -rf "$work"' EXIT
env $waiting_environment ruby -e 'Fiber.new { Fiber.yield }.resume; $stdout.puts; $stdout.close; sleep' >ready &
pid=$!
until [ -s ready ]; do sleep 0.1; done
gcore -o core $pid >/dev/null 2>&1
core=$PWD/core.$pid

fail() {
	echo "$*" >&2
	exit 1
}
