# SPDX-License-Identifier: MIT
# Makes fibers, and drops them at all stages of their lives, while the collector is at work: a program that is
# stopped at random (programs.rb). What is garbage differs from stop to stop: rcore must show each fiber that
# ObjectSpace still has, and must not report garbage as damage.

KEPT = []

def parked(depth) depth.zero? ? Fiber.yield(1) : [depth].each { |left| parked(left - 1) } end

MADE = [
  -> { Fiber.new { parked(0) }.tap(&:resume) },
  -> { Fiber.new { parked(3) }.tap(&:resume) },
  -> { Fiber.new { 1 }.tap(&:resume) },
  -> { Fiber.new { 1 } },
  -> { Fiber.new { Fiber.new { Fiber.yield(2) }.resume; parked(1) }.tap(&:resume) },
  -> { [1, 2].each.tap(&:next) },
  -> { [1, 2].each_with_index.tap(&:next).tap(&:rewind) },
  -> { Thread.new { Fiber.new { parked(1) }.tap(&:resume) }.value },
].freeze

def keep(fiber)
  KEPT << fiber
  KEPT.delete_at(rand(KEPT.size)) while KEPT.size > 200
end

# Fibers alone fill no heap.
def allocate() rand(2000).times.map { |i| "x" * (i % 90) } end

loop do
  MADE.sample.call.then { |fiber| keep(fiber) if rand(3).zero? }
  allocate if rand(20).zero?
  GC.compact if RUBY_VERSION >= "3.1" && rand(2000).zero?
  GC.start(full_mark: rand(2).zero?, immediate_sweep: rand(2).zero?) if rand(500).zero?
end
