# SPDX-License-Identifier: MIT
# The programs whose cores and processes the benchmarks measure, for Ruby 2.7
# and later.

# Creates so many fibers that are parked in a method, each with a context of the
# gem ruby-profiler if `contexts` is 1. The other arguments count Strings,
# threads that sleep, bytes of address space, threads that work, and orders, of
# 7 objects each.
def populate(fibers:, objects:, threads: 5, reserve: 0, contexts: 0, busy: 0, orders: 0)
  require "ruby/profiler" if contexts > 0
  $orders = Array.new(orders) { |i| Order.new(i, ["item #{i}", "item #{i + 1}", { state: "open #{i}" }], "note #{i}") }
  $objects = Array.new(objects) { |i| "object #{i}" }
  $fibers = Array.new(fibers) { Fiber.new { apply(contexts); [1].each { park(4) } }.tap(&:resume) }
  $threads = Array.new(threads) { Thread.new { sleep } }
  reserve_space(reserve) if reserve > 0
  busy.times { Thread.new { loop { Array.new(100) { |i| "work #{i}" }.sort } } }
  Thread.pass until $threads.all? { |thread| thread.status == "sleep" }
end

class Order
  def initialize(id, items, note)
    @id, @items, @note = id, items, note
  end
end

def apply(contexts)
  $number = $number.to_i + 1
  Ruby::Profiler::State.new(request_id: "request #{$number}", user_id: $number).apply! if contexts > 0
end

def park(depth)
  depth.zero? ? Fiber.yield : park(depth - 1)
end

# Maps pages that nobody touches. They count in the core's size and take no
# space on the disk.
def reserve_space(bytes)
  require "fiddle"
  map = Fiddle::Function.new(Fiddle::Handle::DEFAULT["mmap"],
                             [Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T, Fiddle::TYPE_INT,
                              Fiddle::TYPE_INT, Fiddle::TYPE_INT, Fiddle::TYPE_LONG], Fiddle::TYPE_VOIDP)
  private_anonymous_noreserve = 0x4022
  map.call(nil, bytes, 3, private_anonymous_noreserve, -1, 0)
end

options = ARGV.map { |word| key, value = word.split("="); [key.to_sym, value] }.to_h
ending = options.delete(:ending)
populate(**options.transform_values(&:to_i))
puts "ready"
$stdout.flush
ending == "abort" ? Process.kill(:ABRT, Process.pid) : nil
sleep
