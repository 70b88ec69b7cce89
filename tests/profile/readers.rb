# SPDX-License-Identifier: MIT
require "json"

# Reads outputs of `rcore report`, and says how they differ from the sums of what was
# recorded; nil: they do not.
module Readers
  # stacks: {[labels, outermost first] => nanoseconds}
  Sums = Struct.new(:stacks, :whole) do
    def selves = count { |stack| [stack.last || "(no frames)"] }

    def totals = count { |stack| stack.uniq }

    private

    def count
      stacks.each_with_object(Hash.new(0)) { |(stack, value), sums| yield(stack).each { |label| sums[label] += value } }
    end
  end

  module_function

  def differ(found, wanted, tolerance = 0)
    key = (found.keys | wanted.keys).find { |each| (found.fetch(each, 0) - wanted.fetch(each, 0)).abs > tolerance }
    key && "#{key.inspect[0, 200]} has #{found.fetch(key, 0)}, not #{wanted.fetch(key, 0)}"
  end

  def unfold(stack)
    stack == "(no frames)" ? [] : stack.split(";", -1).map { |label| label.gsub("\\x3B", ";") }
  end

  def folded(path, wanted, _)
    lines = File.readlines(path, chomp: true).map { |line| line.match(/\A(.*) (\d+)\z/).captures }
    return "a stack is there twice" if lines.uniq(&:first).size != lines.size
    differ(lines.to_h { |stack, value| [unfold(stack), value.to_i] }, wanted.stacks)
  end

  # Of one group or none: its table is in seconds.
  def text(path, wanted, _)
    rows = File.readlines(path, chomp: true).map { |line| line.match(/\A +(\d+\.\d+) +[\d.]+% +(\d+\.\d+) +[\d.]+% +[\d.]+%  (.*?)(?:  \[C\])?(?:  [^ ]+\.rb:\d+)?\z/)&.captures }.compact
    sums = rows.each_with_object(Hash.new(0)) { |(own, _, label), found| found[label] += own.to_f }
    plain = wanted.stacks.each_with_object(Hash.new(0)) { |(stack, value), found| found[stack.last || "(no frames)"] += value / 1e9 }
    groups = File.read(path).scan(/^\S.*  [\d.]+ s \([\d.]+%\)$/).size
    return differ(sums, plain, 0.0006) if groups.zero?
    (sums.values.sum - wanted.whole / 1e9).abs < 0.001 * sums.size + 0.001 * rows.size ? nil : "#{sums.values.sum} s of #{wanted.whole / 1e9} s"
  end

  def json(path, wanted, measure)
    report = JSON.parse(File.read(path))
    functions, nodes = report.values_at("functions", "nodes")
    found = Hash.new(0)
    report["totals"].each do |total|
      stack, node = [], total["node"]
      while node.positive?
        stack.unshift(functions[nodes[node]["function"]]["label"])
        node = nodes[node]["parent"]
      end
      found[stack] += total[measure.to_s]
    end
    found.delete_if { |_, value| value.zero? }
    return "sums: #{report["sums"]}" unless report["sums"][measure.to_s] == wanted.whole
    differ(found, wanted.stacks)
  end

  ALL = { ".folded" => method(:folded), ".txt" => method(:text), ".json" => method(:json) }.freeze
end
