# SPDX-License-Identifier: MIT
#	still.rb [MB [ORDERS]]
#
# Makes ORDERS orders, a String of that many MB, and some memory that is never touched. Then it waits. At each SIGUSR1, it makes
# 1,500 more orders.
require "zlib"
trap("XCPU", "SYSTEM_DEFAULT")
class Order
  def initialize(number)
    @number = number
    @lines = ["line #{number}", :open, { number => 1.5 }]
  end
end
ORDERS = Array.new((ARGV[1] || 20_000).to_i) { |number| Order.new(number) }
$stream = Zlib::Deflate.new(9).tap { |stream| stream << "text" * 10_000 }
$text = "x" * (ARGV[0].to_i * 1_000_000)
$pairs = Hash.new.compare_by_identity
ORDERS.each { |order| $pairs[order] = "order" }
threads = Array.new(3) { |number| Thread.new { mine = "of thread #{number}"; sleep; mine } }
Thread.pass until threads.all?(&:stop?)
ORDERS.shift(5_000)
trap("USR1") do
  1_500.times { |number| ORDERS << Order.new(number) }
  $stdout.puts "more"
  $stdout.flush
end
GC.start(immediate_sweep: false)
$stdout.puts "ready"
$stdout.flush
sleep
