# SPDX-License-Identifier: MIT
# Starts threads that wait for each other in every way that the page draws, and
# parks fibers, some of which are alike.
#
#	stuck.rb FIBERS
class Order
  LOCK = Mutex.new

  def initialize(number)
    @number = number
  end

  def total
    LOCK.synchronize { @number * 2 }
  end
end

def named(name, &body)
  Thread.new(&body).tap { |thread| thread.name = name }
end

# The garbage collector closes an end that nothing refers to.
PIPE = IO.pipe
reader = PIPE.first
held = Queue.new
holder = named("holder") { Order::LOCK.synchronize { held << true and reader.read } }
held.pop
5.times { |i| named("worker #{i}") { Order.new(i).total } }
named("joins") { holder.join }
# Ruby ends the program if all threads wait for each other for ever, but one of these sleeps.
one, two = Array.new(2) { Mutex.new }
both = Queue.new
[[one, two], [two, one]].each_with_index do |(first, second), i|
  named("deadlocked #{i}") do
    first.synchronize do
      both << true
      sleep 0.01 while both.size < 2
      second.synchronize { nil }
    end
  end
end
2.times { Thread.new { Queue.new.pop } }

def park(depth, text)
  depth.zero? ? Fiber.yield : [text].each { |each| park(depth - 1, each) }
end
count = Integer(ARGV[0])
FIBERS = Array.new(count) { |i| Fiber.new { park(1 + (i % 50).zero?.then { |first| first ? i / 50 : 0 }, "<b>#{i}</b>") } }.each(&:resume)

# Until each has come to where it stays. A variable of <main> would be printed for each fiber.
def wait_for(threads)
  sleep 0.01 until threads.all? { |thread| thread.stop? && thread.backtrace.first !~ /sleep/ }
end
wait_for(Thread.list - [Thread.main])
puts "ready"
$stdout.flush
sleep
