# SPDX-License-Identifier: MIT

# Returns the files of the project that are there, as files.sh does.
def project_files(*paths)
  IO.popen(["git", "ls-files", "-co", "--exclude-standard", "--", *paths], &:read).split("\n").select { |path| File.file?(path) }
end
