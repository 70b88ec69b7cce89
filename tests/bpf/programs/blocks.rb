# SPDX-License-Identifier: MIT
#
#	blocks.rb SEED ROUNDS
#
# Starts threads that wait in methods, which measure how long: elapsed time minus CPU time. Each thread has a context of its own. Two
# more threads wait forever. Prints its process id, works when it reads a line, and writes the times to truth.json:
# {method => [nanoseconds at least, at most, calls]}, and "work", the time that all of it took.
require "json"
require_relative "state"

RANDOM = Random.new(Integer(ARGV[0]))
ROUNDS = Integer(ARGV[1])
CHILDREN = 10
LOCK = Thread::Mutex.new
HELD = Queue.new
TURNS = Queue.new
READER, WRITER = IO.pipe
NOTES = Hash.new { |notes, name| notes[name] = [0, 0, 0] }
# The first wait is long, so that rcore sees it.
NAPS = Hash.new { |naps, name| naps[name] = Array.new(ROUNDS) { |i| i.zero? ? 0.5 : 0.001 + RANDOM.rand * 0.01 } }
KEPT = Thread::Mutex.new
KEEPING = Queue.new
%w[nap lock pipe queue hold write push ends child].each { |name| NAPS[name] }

MONOTONIC = Process::CLOCK_MONOTONIC
PROCESSOR = Process::CLOCK_THREAD_CPUTIME_ID

def time(clock)
  Process.clock_gettime(clock, :nanosecond)
end

# A thread is off its processor for at least the time between inside_begins and inside_ends, and at most that between
# outside_begins and outside_ends, wherever it loses its processor.
def inside_begins
  [time(PROCESSOR), time(MONOTONIC)].reverse
end

def inside_ends
  [time(MONOTONIC), time(PROCESSOR)]
end

def outside_begins
  [time(MONOTONIC), time(PROCESSOR)]
end

def outside_ends
  [time(PROCESSOR), time(MONOTONIC)].reverse
end

def passed(from, to)
  passed, used = to.zip(from).map { |now, before| now - before }
  passed - used
end

def measure(name)
  from = outside_begins
  least = yield
  most = passed(from, outside_ends)
  NOTES[name] = NOTES[name].zip([least, most, 1]).map(&:sum)
end

def nap(seconds)
  from = inside_begins
  sleep(seconds)
  passed(from, inside_ends)
end

def lock
  from = inside_begins
  LOCK.synchronize { passed(from, inside_ends) }
end

def pipe
  from = inside_begins
  READER.read(1)
  passed(from, inside_ends)
end

def queue
  from = inside_begins
  TURNS.pop
  passed(from, inside_ends)
end

# Waits as long as the thread "keep" sleeps.
def late
  from = inside_begins
  KEPT.synchronize { passed(from, inside_ends) }
end

def ends(thread)
  from = inside_begins
  thread.join
  passed(from, inside_ends)
end

def child(pid)
  from = inside_begins
  Process.wait(pid)
  passed(from, inside_ends)
end

def for_ever
  Queue.new.pop
end

# Locks before the other thread does.
def hold(seconds)
  LOCK.synchronize { HELD << true and sleep(seconds) }
end

def start(name)
  Thread.new do
    Ruby::Profiler::State.new(request_id: name).apply!
    Thread.current.report_on_exception = true
    yield
  end
end

2.times { start("for_ever") { for_ever } }
sleep(0.01) until Thread.list.count { |thread| thread.status == "sleep" } >= 2
puts $$
$stdout.flush
$stdin.gets
begun = time(MONOTONIC)
threads = [
  start("nap") { NAPS["nap"].each { |seconds| measure("nap") { nap(seconds) } } },
  start("hold") { NAPS["hold"].each { |seconds| hold(seconds) } },
  start("lock") { ROUNDS.times { HELD.pop && measure("lock") { lock } } },
  start("pipe") { ROUNDS.times { measure("pipe") { pipe } } },
  start("write") { NAPS["write"].each { |seconds| sleep(seconds) and WRITER.syswrite("x") } },
  start("queue") { ROUNDS.times { measure("queue") { queue } } },
  start("keep") { KEPT.synchronize { KEEPING << true and sleep(0.7) } },
  start("late") { KEEPING.pop && measure("late") { late } },
  start("ends") { NAPS["ends"].each { |seconds| Thread.new { sleep(seconds) }.then { |thread| measure("ends") { ends(thread) } } } },
  start("child") { NAPS["child"].first(CHILDREN).each { |seconds| spawn("sleep", seconds.to_s).then { |pid| measure("child") { child(pid) } } } },
  start("push") { NAPS["push"].each { |seconds| sleep(seconds) and TURNS << 1 } },
]
threads.each(&:join)
NOTES["work"] = time(MONOTONIC) - begun
File.write("truth.json", JSON.generate(NOTES))
