# SPDX-License-Identifier: MIT
require_relative "../marker"

# Enters and leaves the VM through C: blocks of cfuncs, comparisons, hooks.
class Size
  include Comparable
  attr_reader :value

  def initialize(value)
    @value = value
  end

  def <=>(other)
    value <=> other.value
  end

  define_method(:twice) { |by = 2| value * by }

  def method_missing(name, *arguments)
    return super unless name == :thrice
    send(:value) * 3
  end

  def respond_to_missing?(name, all = false)
    name == :thrice
  end
end

def pairs
  return enum_for(:pairs) unless block_given?
  yield 1, 2
  yield 3, 4
end

def round
  sizes = [Size.new(3), Size.new(1), Size.new(2)]
  sizes.sort_by { |size| -size.value }
  sizes.min.clamp(sizes[1], sizes[2])
  sizes.each_with_index { |size, index| size.value + index }
  sizes.inject(0) { |sum, size| sum + size.twice }
  sizes.map(&:thrice)
  sizes.first.instance_eval { @value }
  proc { |a, b| a + b }.call(1, 2)
  lambda(&:to_s).call(12)
  { a: 1 }.each_pair { |key, value| [key, value].hash }
  3.times { |index| "%d" % index }
  "a b".gsub(/\w/) { |word| word.upcase }
  pairs { |a, b| a + b }
  numbers = pairs
  numbers.next
  numbers.next
  numbers.size
  sizes.lazy.map(&:value).select(&:odd?).first(1)
  Hash.new { |hash, key| hash[key] = key.to_s }[:x]
end

rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  round
  rounds += 1
end
