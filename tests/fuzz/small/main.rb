# SPDX-License-Identifier: MIT
#
# A small process with a bit of everything that the analysis reads, for flips: threads that
# sleep and wait, fibers of every state, frames of every kind. It dies by abort.
#: flags=--disable-gems
require "set"
Pair = Struct.new(:left, :right)

# A value of each type, for what is printed.
class Zoo
  def initialize
    @numbers = [1, 2**70, 2**300, 1.5, 1e100, 3r, 2i, nil, true]
    @texts = ["text", "long" * 20, "\u3042", "\xff", :sym, "dynamic #{1}".to_sym, /a(?<n>b)/i, "ab".match(/(a)(?:b)/)]
    @lists = [[], (1..20).to_a, { a: 1, "b" => [2] }, (1..20).to_h { |i| [i, i] }, 1..2, Pair.new(1, Pair.new(2)), Set[1, 2]]
    @others = [Zoo, Class.new, method(:puts), proc { |x, y = 1| x }, Time.at(0), $stdout, [1].each, Encoding::UTF_8]
    @errors = [RuntimeError.new("trouble"), (nil.foo rescue $!), Mutex.new, Queue.new]
    @self = [self]
  end

  def park
    Fiber.yield
  end
end

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
  Fiber.new { Zoo.new.park },
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
