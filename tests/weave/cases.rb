# SPDX-License-Identifier: MIT
require_relative "steps"

# A fiber that is parked after each of the Steps, threads that wait, and an end
# of the process after all Steps at once or where code of no caller runs.
FIBERS = []
# Tracing discards all compiled code.
Steps::ALL.delete(:tracepoint) if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?

def parked(step)
  Fiber.new do
    Weave.start
    Weave.note
    Steps.public_send(step) { Weave.note; Weave.park }
  end.resume
end

def chain(steps, &last)
  Weave.note
  return last.call if steps.empty?
  Steps.public_send(steps.first) { Weave.note; chain(steps.drop(1), &last) }
end

def finish
  Weave.note
  Weave.die
end

# No block prevents it from being compiled.
class Hot
  def initialize(left)
    @left = left
  end

  def call
    Weave.note
    return Weave.die if @left == 0
    @left -= 1
    Weave.funcall(self, :again)
  end

  def again
    Weave.note
    call
  end
end

# 2.7 yields across all of these.
STEADY = %i[array_each block_call funcall hash_each inject instance_exec_in_c integer_times method_in_c sort_by yield_in_c].freeze

ENDS = {
  "hot" => -> { Weave.note; Hot.new(100).call },
  "chain" => -> { Weave.note; chain(Steps::ALL) { Weave.note; finish } },
  "segv" => -> { Weave.note; Weave.yield { Weave.note; Weave.segv } },
  "fiber" => lambda do
    Weave.note
    Fiber.new { Weave.start; Weave.note; chain(Steps::ALL.last(20)) { Weave.note; finish } }.resume
  end,
  "thread" => lambda do
    Weave.note
    # Four threads sleep once the main thread does, too.
    Thread.new { Weave.start; Weave.note; sleep 0.01 until Weave.sleepers == 4; chain(Steps::ALL.reverse) { Weave.note; finish } }
    Weave.sleep
  end,
  "at_exit" => -> { Weave.note; at_exit { Weave.start; Weave.note; Weave.yield { Weave.note; finish } } },
  "trap" => lambda do
    Weave.note
    trap(:USR1) { Weave.note; Weave.yield { Weave.note; finish } }
    Weave.yield { Weave.note; Process.kill(:USR1, Process.pid); sleep }
  end,
  "free" => -> { Weave.note; Weave.garbage; Weave.yield { Weave.note; GC.start } },
  "finalizer" => lambda do
    Weave.note
    mine = proc { Weave.note; Weave.yield { Weave.note; finish } }
    100.times { ObjectSpace.define_finalizer(Object.new, mine) }
    Weave.yield { Weave.note; GC.start; sleep }
  end,
  "twice" => lambda do
    Weave.note
    Fiber.new { Weave.start; Weave.note; chain(STEADY * 3) { Weave.note; Weave.stop_and_park } }.resume
    Weave.die
  end,
  "init" => lambda do
    Weave.note
    Steps::BODY << -> { Weave.note; finish }
    require_relative "ext/weave_init"
  end,
}

Weave.start
Weave.note
Steps::ALL.each { |step| FIBERS << parked(step) }
FIBERS << Weave.fiber(-> { Weave.note; Weave.yield { Weave.note; Weave.park } })
each_next = Enumerator.new { |out| Weave.start; Weave.note; Weave.yield { Weave.note; out << 1 } }
each_next.next
THREADS = [
  Thread.new { Weave.start; Weave.note; Weave.sleep },
  Thread.new { Weave.start; Weave.note; Weave.yield { Weave.note; Weave.sleep } },
  Thread.new { Weave.start; Weave.note; [1].each { Weave.note; Queue.new.pop } },
  Thread.new { Weave.start; Weave.note; Weave.nogvl { Weave.note; sleep } },
  Thread.new { Weave.start; Weave.note; Fiber.new { Weave.start; Weave.note; Weave.yield { Weave.note; Queue.new.pop } }.resume },
  Weave.thread(-> { Weave.note; Weave.yield { Weave.note; Weave.sleep } }),
]
sleep 0.01 until Weave.sleepers == 3 && THREADS.all?(&:stop?)
GC.start
ENDS.fetch(ARGV.first).call
