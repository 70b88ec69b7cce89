# SPDX-License-Identifier: MIT
# In each of LANES lanes, a fiber is always parked. Half of the lanes keep their fiber. In the others, a fiber ends after
# some tenths of a second and another one follows, as in a server that has a fiber for each request.
#
#	brief.rb LANES
require "fiber"
def lasting
  Fiber.yield
end
def brief
  Fiber.yield
end
def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

LANES = Integer(ARGV[0])
KEPT = Array.new(LANES / 2) { Fiber.new { lasting }.tap(&:resume) }
def follow
  [Fiber.new { brief }.tap(&:resume), now + 0.1 + rand * 0.3]
end
lanes = Array.new(LANES / 2) { follow }
File.write("pid", $$.to_s)
count = 0
loop do
  lanes.map! do |fiber, till|
    next [fiber, till] if till > now
    fiber.resume
    follow
  end
  File.write("counter", (count += 1).to_s)
  sleep 0.003
end
