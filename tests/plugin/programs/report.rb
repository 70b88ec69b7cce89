# SPDX-License-Identifier: MIT
# What tests/plugin/report.sh looks at through GDB: threads, fibers, a thread that has ended.
def park
  Fiber.yield
end

parked = Array.new(3) { Fiber.new { park }.tap(&:resume) }
created = Fiber.new { park }
left = Thread.new { Fiber.new { park }.tap(&:resume) }.value
Thread.new do
  Thread.current.name = "sleeper \e[31m"
  sleep
end
Thread.new { Queue.new.pop }
Thread.pass until Thread.list.count { |thread| thread.status == "sleep" } == 2

deep = lambda do |depth|
  depth.zero? ? Process.kill(:ABRT, $$) && sleep : deep.call(depth - 1)
end
Fiber.new { deep.call(100) }.resume
[parked, created, left]
