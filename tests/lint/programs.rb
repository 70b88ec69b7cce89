#!/usr/bin/ruby
# SPDX-License-Identifier: MIT
#
# Checks that each program that a script or a test runs is in a package that
# scripts/setup installs, or that every Debian has: the table is
# tests/lint/programs. A word counts as a program if it is where a command can
# be, and if this machine has a program of that name.
require "set"
require_relative "files"

TABLE = File.join(__dir__, "programs")
KEYWORDS = %w[if then else elif while until do exec env nice command timeout xargs ! { (].freeze
BUILTINS = %w[alias break cd continue echo eval exit export false getopts hash kill local printf pwd read return set shift
              test times trap true type ulimit umask unset wait case esac fi done for in function time].to_set
LAUNCHERS = /\b(?:system|spawn|popen|exec|capture[23]e?|run|check_output|Popen)/.freeze

def shell_words(text)
  functions = text.scan(/^\s*(\w+)\s*\(\)/).flatten.to_set
  text = text.gsub(/\\\n/, " ").gsub(/<<-?\s*['"]?(\w+)['"]?.*?^\s*\1$/m, "").gsub(/(^|\s)#.*$/, "").gsub(/'\\''/, "").gsub(/'[^']*'/m, "''").gsub(/"(?:[^"\\$`]|\\.|\$(?!\())*"/m, '""')
  text.split(/\n|\$\(|[;|&(`]+/).map do |command|
    words = command.sub(/\A[\t ]*[@-]?/, "").split
    words.shift while words.first && (KEYWORDS.include?(words.first) || words.first =~ /\A\w+=/)
    words.first
  end.compact.reject { |word| BUILTINS.include?(word) || functions.include?(word) }
end

def recipes(text)
  shell_words(text.scan(/^\t(.*)/).flatten.join("\n").gsub(/\$\$/, "$").gsub(/\$\([^()]*\)/, ""))
end

# Returns the words that are launched, or that begin a list of words.
def script_words(text)
  text.scan(/#{LAUNCHERS}[ (\[]+(?:\*?\w+, )*"([^"\s]+)/).flatten +
    text.scan(/(?<![\w\])])\["([^"\s]+)", /).flatten + text.scan(/(?<![\w\])])%w\[(\S+) /).flatten +
    text.scan(/= `(\S+) /).flatten
end

def words(path)
  text = File.read(path).scrub
  case path
  when /\.mk\z|Makefile\z/ then recipes(text)
  when /\.(rb|py)\z/ then script_words(text)
  else
    case text.lines.first
    when /\A#!.*sh$/ then shell_words(text)
    when /\A#!.*(ruby|python3)$/ then script_words(text)
    else []
    end
  end
end

def program?(word)
  word =~ /\A[a-z][\w.+-]*\z/ && ENV["PATH"].split(":").any? { |folder| File.file?(path = File.join(folder, word)) && File.executable?(path) }
end

rows = File.readlines(TABLE, chomp: true).grep_v(/\A#/).map(&:split)
known = rows.flat_map { |_, *programs| programs }.to_set
installed = `scripts/setup packages`.split.to_set + %w[essential itself none]
problems = rows.map(&:first).uniq.reject { |package| installed.include?(package) }.map { |package| "#{TABLE}: scripts/setup does not install #{package}" }
project_files.select { |path| path !~ %r{\A(?:tests/fixtures|tests/.*/programs|docs)/} }.each do |path|
  words(path).uniq.reject { |word| known.include?(word) || !program?(word) }.each do |word|
    problems << "#{path}: runs #{word}, which not every machine has: add it to tests/lint/programs, with its package"
  end
end
# A test that waits without end hangs all tests. Fixtures may wait for whatever
# they like.
project_files("tests").select { |path| path !~ %r{\Atests/(?:fixtures/|golden/|lint/|all\z|support/child\.rb\z)|/programs/|\.[ch]\z} }.each do |path|
  File.read(path).scrub.each_line.with_index(1) do |line, number|
    problems << "#{path}:#{number}: waits without end: use Child.wait or Child.stop of tests/support/child.rb" if line =~ /\bProcess\.(?:wait|detach)(?!.*WNOHANG)/
  end
end
puts problems
exit problems.empty?
