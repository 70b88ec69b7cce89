# SPDX-License-Identifier: MIT
# Runs on: parks fibers, ends some, begins others, and shows that it is alive.
# `stop_here` calls rb_obj_freeze for each number, with the number as self.
PARKED = Array.new(3) { |number| Fiber.new { [number].each { Fiber.yield } }.tap(&:resume) }
SLEEPER = Thread.new { sleep }

def stop_here(round)
  word = "round #{round}"
  [1, 2, 3].each { |number| number.freeze }
  word
end

class Round
  def initialize(number)
    @number = number
  end

  def go
    stop_here(@number)
    PARKED << Fiber.new { Fiber.yield }.tap(&:resume)
    PARKED.delete_at(3).resume if PARKED.size > 6
    fork_once if ARGV[0] == "fork" && @number == 3
    # Some tests run a second one in the same folder.
    File.write("counter.#{Process.pid}", @number.to_s)
    File.rename("counter.#{Process.pid}", "counter")
  end

  def fork_once
    Process.wait(fork { stop_here(100) })
  end
end

File.write("pid", Process.pid.to_s)
1.upto(ARGV[0] == "fork" ? 5 : 100_000) do |number|
  Round.new(number).go
  sleep 0.01
end
