# SPDX-License-Identifier: MIT
# Completion of rcore for bash. `rcore complete` knows the words (analyzer/cli/complete.h).

_rcore() {
	local line=${COMP_LINE:0:COMP_POINT} words begun kept candidate file
	# COMP_WORDS is split at = and :, too. A backslash before a space is wanted here.
	# shellcheck disable=SC2162
	read -a words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=('')
	begun=${words[-1]}
	# Of the last word, bash replaces what follows its last = or :.
	kept=${begun%"${begun##*[=:]}"}
	COMPREPLY=()
	while IFS=$'\t' read -r candidate _; do
		if [[ $candidate == :files ]]; then
			compopt -o filenames 2>/dev/null
			while IFS= read -r file; do
				COMPREPLY+=("$file")
			done < <(compgen -f -- "${begun#"$kept"}")
		else
			COMPREPLY+=("${candidate#"$kept"}")
		fi
	done < <("$1" complete "${words[@]:1}" 2>/dev/null)
}
complete -F _rcore rcore
