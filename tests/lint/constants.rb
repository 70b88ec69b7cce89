#!/usr/bin/ruby
# SPDX-License-Identifier: MIT
#
# Fails if a program, or a file that it requires, uses a module, a class or
# another constant of the tests that none of these files defines. Ruby tells
# only when it runs such a line, and those of benchmarks rarely run.
require "timeout"
require_relative "files"

BUILT_IN = Object.constants.freeze
ROOT = File.expand_path("../..", __dir__)

# A script of the project: what it defines, refers to and requires.
class Script
  attr_reader :path, :defined, :used, :required

  def initialize(path)
    @path = path
    @defined, @used, @required = [], {}, []
    walk(RubyVM::AbstractSyntaxTree.parse_file(path))
  end

  private

  def walk(node)
    return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)
    case node.type
    when :CONST then @used[node.children[0]] ||= node.first_lineno
    when :CDECL then @defined << node.children[0] if node.children[0].is_a?(Symbol)
    when :MODULE, :CLASS then @defined << node.children[0].children[1]
    when :FCALL then add_required(*node.children)
    end
    # The name of what is defined is no use of it.
    names = %i[MODULE CLASS].include?(node.type) ? node.children.drop(1) : node.children
    names.each { |child| walk(child) }
  end

  # Of what `require` finds, only the gem is the project's.
  def add_required(name, arguments)
    folder = { require: File.join(ROOT, "gem/lib"), require_relative: File.dirname(@path) }[name]
    text = arguments.children[0] if folder && arguments
    return unless text && text.type == :STR
    path = File.expand_path(text.children[0], folder)
    @required << [path, "#{path}.rb"].find { |each| File.file?(each) }
  end
end

def closure(scripts, path, found = {})
  return found if found[path] || !scripts[path]
  found[path] = true
  scripts[path].required.each { |other| closure(scripts, other, found) }
  found
end

def program?(path) = File.binread(path, 100).to_s.match?(/\A#!.*\bruby$/)

paths = Dir.chdir(ROOT) { project_files }.map { |path| File.join(ROOT, path) }.select { |path| path.end_with?(".rb") || program?(path) }
scripts = paths.to_h { |path| [path, Script.new(path)] }
own = scripts.values.flat_map(&:defined).uniq - BUILT_IN
wrong = paths.select { |path| program?(path) }.flat_map do |program|
  files = closure(scripts, program).keys
  unknown = own - files.flat_map { |path| scripts[path].defined }
  files.flat_map { |path| (scripts[path].used.keys & unknown).map { |name| [program, path, name] } }
end
wrong.each do |program, path, name|
  program, file = [program, path].map { |each| each.delete_prefix("#{ROOT}/") }
  puts "#{file}:#{scripts[path].used[name]}: #{program} requires no file that defines #{name}"
end
exit wrong.empty?
