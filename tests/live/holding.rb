# SPDX-License-Identifier: MIT
# Threads that wait for others, which wait for others in turn.
require_relative "counting"

LOCK = Mutex.new
READ, WRITE = IO.pipe # The garbage collector closes an end that nothing refers to.

def hold
  LOCK.synchronize { READ.read(1) }
end

def want
  LOCK.synchronize {}
end

def outer(thread)
  thread.join
end

Thread.new { hold }.tap { Thread.pass until LOCK.locked? }
last = Thread.new { want }
middle = Thread.new { last.value }
2.times { Thread.new { outer(middle) } }
# The test kills the program with its children, so these end, too.
child = spawn("sleep", "4321")
Thread.new { Process::wait(child) }
Thread.new { Process::wait }
DETACHED = Array.new(3) { Process::detach(spawn("sleep", "4321")) }
File.write("detached", DETACHED.map(&:pid).join(" "))
File.write("pid", Process.pid)
count_forever
