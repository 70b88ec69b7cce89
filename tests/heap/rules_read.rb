# SPDX-License-Identifier: MIT
#
# What build/tests/heap/rules prints, with names for people: see rules.c.
require "json"
require "open3"

# A rule: the type of the objects, and the statements of analyzer/ruby/children/ that mark.
Rule = Struct.new(:name, :site, :edges, :lost)

class RulesOfCore
  FOLDER = File.expand_path("../../analyzer/ruby/children", __dir__)
  MARK = /\b(?:rcore_child_mark(?!_ec)|RCORE_CHILD_MARK)\w*\(/
  # Functions that mark something for their caller: the caller's statement tells rules apart.
  HELPERS = %w[each_entry mark_method mark_constant mark_cvar mark_call_caches mark_maybe mark_words mark_first mark_block scan mark_by_shape mark_fields].freeze

  attr_reader :marked, :reached, :rules, :roots, :fields

  def initialize(program, core, sysroot)
    @program = program
    Open3.popen2(program, core, *sysroot) do |into, from, status|
      lines = []
      lines << JSON.parse(from.gets || raise("#{program} ended: #{status.value}")) until lines.last&.key?("fields")
      @marked, @reached = lines.first.values_at("marked", "reached")
      @roots = lines.select { |line| line["root"] }.to_h { |line| [line["root"], line.values_at("edges", "lost")] }
      @fields = lines.last["fields"]
      @rules = merge(lines.select { |line| line["calls"] }) do |numbers|
        into.puts(numbers.join(" "))
        into.flush
        from.gets.to_i
      end
    end
  end

  # Each statement that marks, as [file, line].
  def self.sites
    Dir[File.join(FOLDER, "children*.c")].sort.flat_map do |path|
      File.readlines(path).each_with_index.filter_map { |text, at| [File.basename(path), at + 1] if text =~ MARK && text.start_with?("\t") }
    end
  end

  # The statement that begins there.
  def self.statement((file, line))
    lines = (@sources ||= {})[file] ||= File.readlines(File.join(FOLDER, file))
    last = (line - 1..).find { |at| lines[at] =~ /[;{]$/ || lines[at] =~ /\)$/ }
    lines[line - 1..last].join(" ").gsub(/\s+/, " ").strip
  end

  private

  # The same statement may be reached in several ways: they are one rule. The block gets their numbers, and returns what is
  # lost without them.
  def merge(lines)
    places = places_of(lines.flat_map { |line| line["calls"] }.uniq)
    groups = lines.each_with_index.group_by { |line, _| identity(line, line["calls"].map { |call| places.fetch(call) }) }
    groups.map { |(name, site), same| Rule.new(name, site, same.sum { |line, _| line["edges"] }, yield(same.map(&:last))) }
  end

  # [function, file, line] of each address after a call.
  def places_of(calls)
    # The call itself is before the address that it returns to.
    asked = calls.map { |call| format("0x%x\n", call - 1) }.join
    out, = Open3.capture2("addr2line", "-f", "-e", @program, stdin_data: asked)
    answers = out.lines(chomp: true).each_slice(2).map do |function, place|
      file, line = place.split(":")
      [function, File.basename(file), line.to_i]
    end
    calls.zip(answers).to_h
  end

  def identity(line, calls)
    calls = calls.drop_while { |_, file,| file == "mark.c" }
    calls = calls.take(calls.find_index { |function,| !HELPERS.include?(function) } + 1)
    statements = calls.reverse.map { |_, file, at| self.class.statement([file, at]) }
    name = line["name"].empty? ? "" : " [#{line["name"]}]"
    ["#{line["type"]} #{calls.last[0].delete_prefix("rcore_")}: #{statements.join(" > ")}#{name}", calls.first[1, 2]]
  end
end
