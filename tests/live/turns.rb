# SPDX-License-Identifier: MIT
#	turns.rb COUNT
#
# Resumes COUNT fibers in turn, forever. Each counts in a local how often. `step` is how often any was resumed, so the
# local of each fiber is known at every moment. A thread that sleeps has as many fibers, which never run again. Each
# step also ends one of SHORT other fibers and begins a new one in its place, which gets its stacks.
require_relative "counting"

COUNT = Integer(ARGV[0])

def fiber(number)
  fiber = Fiber.new do
    turns = 0
    loop do
      turns += 1
      Fiber.yield number
    end
  end
  fiber.resume
  fiber
end

SHORT = 50

def short(slot, born)
  fiber = Fiber.new { |slot, born| Fiber.yield slot, born }
  fiber.resume(slot, born)
  fiber
end

def take_turns(fibers)
  step = 0
  shorts = Array.new(SHORT) { |slot| short(slot, slot - SHORT) }
  file = File.open("counter", "w")
  file.sync = true
  loop do
    fibers[step % COUNT].resume
    shorts[step % SHORT].resume
    shorts[step % SHORT] = short(step % SHORT, step)
    step += 1
    next if step % 100 != 0
    file.rewind
    file.write(step.to_s)
    sleep 0.0005
  end
end

def rest(fibers)
  sleep if fibers
end

Thread.new { rest(Array.new(COUNT) { |number| fiber(number) }) }
File.write("pid", Process.pid)
take_turns(Array.new(COUNT) { |number| fiber(number) })
