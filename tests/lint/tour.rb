#!/usr/bin/ruby
# SPDX-License-Identifier: MIT
#
# Checks the lines of the sources that docs/tour.md quotes. The first line of
# each block of C is a comment that names the file. The others must still be
# lines of it, with any indentation.
TOUR = "docs/tour.md".freeze

def problems_of(block)
  path = block.lines.first[%r{\A/\* (\S+) \*/$}, 1] or return ["quotes no file: #{block.lines.first}"]
  return ["there is no #{path}"] unless File.file?(path)
  missing = block.lines.drop(1).map(&:strip) - File.readlines(path).map(&:strip)
  missing.map { |line| "#{path} has no line '#{line}'" }
end

blocks = File.read(TOUR).scan(/^```c\n(.*?)^```$/m).flatten
problems = blocks.flat_map { |block| problems_of(block) }
problems << "quotes nothing" if blocks.empty?
problems.each { |problem| puts "#{TOUR}: #{problem}" }
exit problems.empty?
