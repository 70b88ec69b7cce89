# SPDX-License-Identifier: MIT
# Threads that have ended and that nobody has joined: by themselves, killed, and by an exception. The file "truth" has how many
# are alive.
require_relative "counting"

Thread.report_on_exception = false
GC.disable
ENDED = Array.new(30) { Thread.new { 1 } } + Array.new(3) { Thread.new { raise "ends it" } }
KILLED = Array.new(5) { Thread.new { sleep } }
ALIVE = Array.new(4) { Thread.new { sleep } }
# Its fiber lives on, so something is left of this one.
LEFT = Thread.new { Fiber.new { Fiber.yield }.tap(&:resume) }.value
sleep 0.01 until (KILLED + ALIVE).all?(&:stop?)
KILLED.each(&:kill)
sleep 0.01 until (KILLED + ENDED).none?(&:alive?)
File.write("truth", Thread.list.size)
File.write("pid", Process.pid)
count_forever
