# SPDX-License-Identifier: MIT
require_relative "ext/weave_ext"

# Stacks too deep to be shown whole: C functions that call themselves, or each other, until the
# stack is full; blocks that C yields to, each within the other.
def deeper(left)
  Weave.note
  return Weave.die if left == 0
  Weave.yield { Weave.note; deeper(left - 1) }
end

# Calls from Ruby to C to Ruby until less than `left` bytes of the stack are left. Ruby itself
# checks for the end of the stack in some of its functions, and would raise an exception.
def fill(left, stack_end = Weave.stack_end)
  Weave.note
  return Weave.overflow(:deeper) if Weave.room(stack_end) < left
  Weave.large { Weave.note; fill(left, stack_end) }
end

def in_fiber
  Weave.note
  Fiber.new { Weave.start; Weave.note; yield }.resume
end

# The thread continues when the other one has noted all of its functions.
def in_thread
  Weave.note
  Thread.new { Weave.start; Weave.note; Thread.pass until Weave.sleepers == 1; yield }
  Weave.sleep
end

SMALL = 64 << 10
Weave.start
Weave.note
case ARGV.first
when "yield" then deeper(3000)
when "native" then Weave.yield { Weave.note; Weave.overflow(:deeper) }
when "smallest" then Weave.yield { Weave.note; Weave.overflow(:smallest) }
when "mutual" then Weave.yield { Weave.note; Weave.overflow(:mutual) }
when "rounds" then fill(1200 << 10)
when "fiber" then in_fiber { Weave.note; fill(SMALL) }
when "thread" then in_thread { Weave.note; fill(SMALL) }
when "fiber_of_thread" then in_thread { Weave.note; in_fiber { Weave.note; fill(SMALL) } }
end
