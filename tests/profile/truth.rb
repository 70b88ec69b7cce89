# SPDX-License-Identifier: MIT

# What tests/profile/write printed about the samples that it recorded, and sums
# of them that use nothing of rcore.
class Truth
  Frame = Struct.new(:label, :path, :line, :first_line, :kind)
  Sample = Struct.new(:time, :wall, :cpu, :thread, :fiber, :state, :wait, :labels, :stack)

  attr_reader :samples

  def initialize(lines)
    @samples = lines.map { |line| sample(line.chomp.split("\t", -1)) }
  end

  def only
    copy = dup
    copy.instance_variable_set(:@samples, @samples.select { |sample| yield sample })
    copy
  end

  # {stack of labels, outermost first => nanoseconds}
  def stacks(measure = :wall, group: nil)
    sum { |sample| [[[*(group&.call(sample)), *sample.stack.map(&:label)], sample[measure]]] }
  end

  # {label => nanoseconds in it itself}
  def selves(measure = :wall) = sum { |sample| sample.stack.empty? ? [] : [[sample.stack.last.label, sample[measure]]] }

  # {label => nanoseconds in which it was on the stack}
  def totals(measure = :wall) = sum { |sample| sample.stack.map(&:label).uniq.map { |label| [label, sample[measure]] } }

  def whole(measure = :wall) = @samples.sum { |sample| sample[measure] }

  private

  def sum
    sums = Hash.new(0)
    @samples.each { |sample| yield(sample).each { |key, value| sums[key] += value } }
    sums.select { |_, value| value.positive? }
  end

  def sample(fields)
    time, wall, cpu, thread, fiber, state, wait, labels, *frames = fields
    Sample.new(time.to_i, wall.to_i, cpu.to_i, thread, fiber, state, wait,
               labels.split(",").to_h { |pair| pair.split("=").map { |hex| text(hex) } }, frames.map { |frame| frame(frame.split(" ", -1)) })
  end

  def frame(fields)
    label, path, line, first_line, kind = fields
    Frame.new(text(label), text(path), line.to_i, first_line.to_i, kind)
  end

  NAMED = { "\n" => "\\n", "\t" => "\\t", "\e" => "\\e" }.freeze

  # As rcore prints it.
  def text(hex)
    [hex].pack("H*").force_encoding("UTF-8").each_char.map do |character|
      if !character.valid_encoding? then character.bytes.map { |byte| format("\\x%02X", byte) }.join
      elsif NAMED[character] then NAMED[character]
      elsif character.match?(/[\u200e\u200f\u2028-\u202e]/) then format("\\u{%X}", character.ord)
      else character
      end
    end.join
  end
end
