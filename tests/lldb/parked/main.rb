# SPDX-License-Identifier: MIT
# Fibers that are parked in every way that changes their machine stack; then it sleeps, or aborts.
require_relative "context"

class Task
  def park(depth)
    depth.zero? ? Fiber.yield(:parked) : park(depth - 1)
  end

  def in_block
    [1].each { |item| [item].map { park(2) } }
  end

  def rescued
    begin
      raise "first"
    rescue RuntimeError
      park(1)
    end
  end
end

def started(&block)
  Fiber.new(&block).tap(&:resume)
end

context(request_id: "main", user_id: 1)
FIBERS = [
  started { context(request_id: "first", user_id: 42); Task.new.park(0) },
  started { context(job: :deep, user_id: 43); Task.new.park(30) },
  started { Task.new.in_block },
  started { Task.new.rescued },
  started { [3, 1, 2].sort_by { |number| number == 1 ? Fiber.yield : number } },
  Fiber.new { :never_begun },
  Fiber.new { :has_ended }.tap(&:resume),
]
LETTERS = %w[a b].each
LETTERS.next
BOTH = [FIBERS, LETTERS]

def nested(ready)
  Fiber.new do
    Fiber.new do
      ready << true
      sleep
    end.resume
  end.resume
end

ready = Queue.new
THREADS = [
  Thread.new { nested(ready) },
  Thread.new do
    KEPT = started { Task.new.park(3) }
    ready << true
    sleep
  end,
]
THREADS.size.times { ready.pop }
sleep 0.1 until THREADS.all? { |thread| thread.status == "sleep" }
File.write("pid", Process.pid)
File.rename("pid", "ready")
Process.kill(:ABRT, Process.pid) if ENV["ENDING"] == "abort"
sleep
