# SPDX-License-Identifier: MIT
# Fibers that work in turn, each for a user of its own, and one for nobody; each turn calls into the C library.
require_relative "context"

class Turn
  def initialize(id)
    @id = id
  end

  def go(round)
    id = @id
    label = "turn #{id}"
    Process.getpgid(0)
    [round, id, label]
  end
end

FIBERS = [nil, *40..44].map do |id|
  Fiber.new do |round|
    context(user_id: id, name: "user #{id}") if id
    loop { round = Fiber.yield(Turn.new(id).go(round)) }
  end
end

File.write("pid", Process.pid)
File.rename("pid", "ready")
1.step do |round|
  FIBERS.each { |fiber| fiber.resume(round) }
  sleep 0.01
end
