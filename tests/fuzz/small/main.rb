# SPDX-License-Identifier: MIT
#
# A small process with some of everything that the analysis reads: threads that sleep and wait,
# fibers in every state, frames of every kind. It aborts. The flips test changes words of its core.
#: flags=--disable-gems
class Task
  def park(depth)
    depth.zero? ? Fiber.yield : park(depth - 1)
  end

  def self.start
    Fiber.new { new.park(1) }
  end

  define_method(:defined) { [1].each { park(0) } }
end

module Outer
  class Inner < Task
    def park(depth)
      super
    end
    def rescued
      raise "trouble"
    rescue RuntimeError
      park(0)
    ensure
      @done = true
    end
  end

  def self.evaluated
    eval("Task.new.park(0)")
  end
end

singleton = Object.new
def singleton.park
  Task.new.park(0)
end

fibers = [
  Task.start,
  Fiber.new { Task.new.defined },
  Fiber.new { Outer::Inner.new.park(2) },
  Fiber.new { Outer::Inner.new.rescued },
  Fiber.new { Outer.evaluated },
  Fiber.new { singleton.park },
  Fiber.new { 1.times { Task.instance_method(:park).bind(Task.new).call(0) } },
  Fiber.new { 1 }
]
fibers.each(&:resume)
created = Fiber.new { 1 }
numbers = Enumerator.new { |yielder| loop { yielder << 1 } }
numbers.next

mutex = Mutex.new
mutex.lock
threads = [
  Thread.new { Thread.current.name = "sleeper"; sleep },
  Thread.new { mutex.synchronize { 1 } },
  Thread.new { Fiber.new { Queue.new.pop }.resume }
]
Thread.pass until threads.all?(&:stop?)

Fiber.new { Fiber.new { Process.kill(:ABRT, Process.pid); sleep }.resume }.resume
