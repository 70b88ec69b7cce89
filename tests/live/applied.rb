# SPDX-License-Identifier: MIT
#
# Threads that sleep, each with a context of the gem ruby-profiler if there is one for this Ruby, and with fibers that are
# parked.
require_relative "counting"

THREADS = 20
FIBERS = 10

begin
  require "ruby/profiler"
rescue LoadError
  # It needs Ruby 3.2.
end

def apply(number)
  Ruby::Profiler::State.new(request_id: "request #{number}").apply! if defined?(Ruby::Profiler::State)
end

def park(number)
  apply(number)
  Fiber.yield
end

threads = Array.new(THREADS) do |i|
  Thread.new do
    apply(i)
    fibers = Array.new(FIBERS) { |j| Fiber.new { park("#{i}.#{j}") }.tap(&:resume) }
    sleep
    fibers.clear
  end
end
Thread.pass until threads.all? { |thread| thread.status == "sleep" }
File.write("pid", Process.pid)
# Rarely, so that mostly nothing runs between the copy and the stop.
count_forever(every: 1)
