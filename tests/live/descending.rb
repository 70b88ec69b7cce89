# SPDX-License-Identifier: MIT
#
# Threads and fibers that wait below hundreds of frames.
require_relative "counting"

DEPTHS = [150, 400].freeze

def descend(depth, &block)
  depth.zero? ? block.call : descend(depth - 1, &block)
end

DEPTHS.each { |depth| Thread.new { descend(depth) { sleep } } }
FIBERS = DEPTHS.map { |depth| Fiber.new { descend(depth) { Fiber.yield } }.tap(&:resume) }
File.write("pid", Process.pid)
descend(1500) { count_forever }
