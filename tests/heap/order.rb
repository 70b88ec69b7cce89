# SPDX-License-Identifier: MIT
# Prints "ready", and for each line that it reads makes symbols, moves its objects, and prints it again.
class Kept
  def initialize(number)
    @text = "kept #{number} in a place that changes"
  end
end
garbage = Array.new(100_000) { Object.new }
$kept = Array.new(5_000) { |i| [Kept.new(i), Array.new(i % 3) { Object.new }] }
garbage.clear
$symbols = []
GC.start
loop do
  puts "ready"
  $stdout.flush
  gets or break
  100.times { |i| $symbols << :"symbol #{$symbols.size} #{i}" }
  GC.compact if GC.respond_to?(:compact)
end
