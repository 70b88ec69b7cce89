# SPDX-License-Identifier: MIT
# Fibers are parked at two places, three times as many at the first. A few others come and go.
#
#	fibers.rb HOW_MANY_AT_THE_SECOND
require "fiber"
def first_place
  Fiber.yield
end
def second_place
  Fiber.yield
end
SECOND = Integer(ARGV[0])
PARKED = [*Array.new(3 * SECOND) { Fiber.new { first_place } }, *Array.new(SECOND) { Fiber.new { second_place } }]
PARKED.each(&:resume)
File.write("pid", $$.to_s)
count = 0
loop do
  Array.new(5) { Fiber.new { Fiber.yield } }.each(&:resume).each(&:resume)
  File.write("counter", (count += 1).to_s)
  sleep 0.001
end
