# SPDX-License-Identifier: MIT
#
# Threads and fibers that wait below hundreds of frames, and one in a method of thousands of lines, with a long name.
require_relative "counting"

DEPTHS = [150, 400].freeze

def descend(depth, &block)
  depth.zero? ? block.call : descend(depth - 1, &block)
end

DEPTHS.each { |depth| Thread.new { descend(depth) { sleep } } }
eval("def long(value)\n#{"  value += 1 if value == 0\n" * 6000}  sleep\nend")
Thread.new { Thread.current.name = "n" * 20_000; long(-1) }
FIBERS = DEPTHS.map { |depth| Fiber.new { descend(depth) { Fiber.yield } }.tap(&:resume) }
File.write("pid", Process.pid)
descend(1500) { count_forever }
