# SPDX-License-Identifier: MIT
# Starts and ends threads and fibers, and counts in a file that it goes on.
require "fiber"
require_relative "counting"

PARKED = []
LOCK = Mutex.new
QUEUE = Queue.new

def deep(depth, &block)
  depth.zero? ? block.call : deep(depth - 1, &block)
end

def park(number)
  fiber = Fiber.new { deep(number % 7) { [1].each { Fiber.yield } } }
  fiber.resume
  fiber
end

workers = Array.new(4) do |number|
  Thread.new do
    loop do
      Array.new(5) { |each| park(each + number) }.each { |fiber| fiber.resume if fiber.alive? }
      LOCK.synchronize { deep(3) { QUEUE << number } }
      QUEUE.pop
      sleep 0.0005 # or the counter waits for its turn for half a second each time
    end
  end
end

starter = Thread.new do
  loop do
    Array.new(3) { |number| Thread.new { deep(number) { sleep 0.0001 } } }.each(&:join)
    PARKED << park(PARKED.size)
    PARKED.shift if PARKED.size > 50
  end
end

[*workers, starter].each { |thread| thread.report_on_exception = true }
File.write("pid", $$.to_s)
count_forever(every: 0.001)
