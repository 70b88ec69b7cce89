# SPDX-License-Identifier: MIT
#
# To be sourced. files [PATH ...] lists the files of the project that are there:
# git also lists those that were deleted and are not staged.
files() {
	git ls-files -co --exclude-standard -- "$@" | while IFS= read -r file; do
		[ -e "$file" ] && printf '%s\n' "$file"
	done
}
