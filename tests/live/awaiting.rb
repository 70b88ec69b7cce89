# SPDX-License-Identifier: MIT
# Fibers of the gem async that wait for its own objects. With "later", its
# conditions and tasks wait for objects of the VM, as in its later releases,
# whose queues are those of the VM.
require "async"
require "async/barrier"
require "async/queue"
require "async/semaphore"
require "async/variable"
require_relative "counting"

LATER = ARGV[0] == "later"

if LATER
  # As in async 2.46.
  module Async
    class Condition
      def initialize
        @ready = Thread::Queue.new
      end

      def wait
        @ready.pop
      end
    end

    class Task
      MUTEX, DONE = Thread::Mutex.new, Thread::ConditionVariable.new

      def wait
        MUTEX.synchronize { DONE.wait(MUTEX) }
      end
    end
  end
end

def hold(semaphore)
  semaphore.acquire { sleep }
end

Async do |task|
  semaphore, queue, full = Async::Semaphore.new(3), Async::Queue.new, Async::LimitedQueue.new(2)
  condition, variable = Async::Condition.new, Async::Variable.new
  2.times { task.async { hold(semaphore) } }
  semaphore.async { sleep }
  10.times { task.async { hold(semaphore) } }
  task.async { |own| own.with_timeout(6000) { hold(semaphore) } }
  # Nothing shows who has acquired this one.
  other = Async::Semaphore.new(1)
  task.async { other.acquire && sleep }
  4.times { task.async { other.acquire } }
  task.async { |own| own.with_timeout(7000) { IO.pipe.then { |pipe| pipe[0].read(1) } } }
  7.times { task.async { queue.dequeue } } unless LATER
  6.times { task.async { full.enqueue(1) } } unless LATER
  5.times { task.async { condition.wait } }
  3.times { task.async { variable.wait } }
  sleeper = task.async { sleep 5000 }
  2.times { task.async { sleeper.wait } }
  # Tasks that wait for each other: for ever, and with timeouts.
  circle = Array.new(3) { |number| task.async { sleep 0.01 until circle; circle[(number + 1) % 3].wait } }
  pair = Array.new(2) { |number| task.async { |own| sleep 0.01 until pair; own.with_timeout(5000) { pair[1 - number].wait } } }
  # rcore does not report the time of the block as the timeout of a lock or a sleep.
  lock = Mutex.new
  task.async { lock.synchronize { sleep } }
  task.async { |own| own.with_timeout(8000) { lock.synchronize {} } }
  task.async { |own| own.with_timeout(8001) { sleep 9000 } }
  barrier = Async::Barrier.new
  barrier.async { sleep 4000 }
  task.async { barrier.wait }
  # The program's own fiber, which only the program can resume.
  Fiber.new { Fiber.yield }.tap(&:resume).then { |fiber| task.async { sleep; fiber } }
  task.async do
    File.write("pid", Process.pid)
    count_forever
  end
end
