# SPDX-License-Identifier: MIT
# Completion of rcore for fish. `rcore complete` knows the words (analyzer/cli/complete.h).

function __rcore_complete
	set -l words (commandline -opc)
	set -l begun (commandline -ct)
	for line in ($words[1] complete $words[2..-1] "$begun" 2>/dev/null)
		if test "$line" != :files
			echo $line
		else if set -l kept (string match -r -- '^--[^=]*=' "$begun")
			__fish_complete_path (string replace -- $kept '' "$begun") | string replace -r '^' -- $kept
		else
			__fish_complete_path "$begun"
		end
	end
end
complete -c rcore -f -a '(__rcore_complete)'
