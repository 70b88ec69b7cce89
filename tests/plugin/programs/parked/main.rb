# SPDX-License-Identifier: MIT
# Parked fibers of two threads, a fiber that another one resumed, and values to print.
class Worker
  def initialize(number)
    @number = number
  end

  def park(depth)
    here = "worker #{@number}"
    depth.zero? ? Fiber.yield(here) : park(depth - 1)
  end

  def work(number)
    [number].each { |each| Fiber.new { park(each) }.tap(&:resume) }
  end
end

FIBERS = Array.new(5) { |number| Fiber.new { Worker.new(number).park(number) }.tap(&:resume) }
CREATED = Fiber.new { 1 }
THREAD = Thread.new do
  Thread.current.name = "other \e[31m"
  INNER = Fiber.new { Worker.new(9).park(2) }.tap(&:resume)
  sleep
end
Thread.pass until THREAD.stop?
# It waits in a futex; libc's debug information has that inlined.
LAST = Thread.new do
  OTHER = Fiber.new { Worker.new(8).park(1) }.tap(&:resume)
  Queue.new.pop
end
Thread.pass until LAST.stop?
Fiber.new do
  answer = 42
  begin
    raise ArgumentError, "not #{answer}"
  rescue ArgumentError => error
    ARGV[0] ? sleep : Process.kill(:ABRT, $$) && sleep
    error
  end
end.resume
