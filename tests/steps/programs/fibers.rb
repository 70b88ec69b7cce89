# SPDX-License-Identifier: MIT
require_relative "../marker"

# Fibers that are created, resumed, suspended, and end; by return, by an exception, and not at all.
def inner(value)
  Fiber.yield value
  [value].each { |item| Fiber.yield item + 1 }
  value + 2
end

def round
  first = Fiber.new { |value| inner(value) }
  first.resume 1
  second = Fiber.new do
    first.resume
    raise ArgumentError, "ended"
  end
  begin
    second.resume
  rescue ArgumentError
    first.resume
  end
  Fiber.new { Fiber.yield }.resume
end

rounds = 0
while rounds < Steps::ROUNDS
  Steps.mark
  round
  rounds += 1
end
