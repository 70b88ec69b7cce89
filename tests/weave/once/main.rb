# SPDX-License-Identifier: MIT
# C enters the interpreter once in each stack, or never, so no stack shows which function
# runs Ruby code and which ones started the stack.
#: ext notes=main also=gcore variants=main,method,fiber,enumerator,thread
require_relative "../ext/weave_ext"

def method
  Weave.note
  Weave.die
end

def wait_for_thread
  thread = Thread.new { Weave.start; Weave.note; Weave.sleep }
  Thread.pass until Weave.sleepers == 1 && thread.stop?
end

Weave.start
Weave.note
case ARGV.first
when "main" then Weave.die
when "method" then method
when "fiber"
  PARKED = Fiber.new { Weave.start; Weave.note; Weave.park }.tap(&:resume)
  Weave.die
when "enumerator"
  EACH = Enumerator.new { |out| Weave.start; Weave.note; out << 1 }
  EACH.next
  Weave.die
when "thread"
  wait_for_thread
  Weave.die
end
